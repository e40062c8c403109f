#include "rattleback/results/checkpoint.hpp"

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "rattleback/base/fnv.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/scratch.hpp"
#include "rattleback/results/sink_data.hpp"

namespace rattleback {
namespace {

std::uint64_t hash_text(const std::string& text) {
  Fnv1a hash;
  hash.add(text);
  return hash.value;
}

std::uint64_t hash_words(const void* data, std::uint64_t words) {
  const char* bytes = static_cast<const char*>(data);
  Fnv1a hash;
  for (std::uint64_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    hash.add_word(word);
  }
  return hash.value;
}

/// Returns the hash of one array or text. The sum of these hashes does not depend on their order.
std::uint64_t hash_array(const std::string& path, const void* data, std::uint64_t words) {
  return std::rotl(hash_words(data, words), 1) ^ hash_text(path);
}
std::uint64_t hash_attribute(const std::string& name, const std::string& value) {
  return std::rotl(hash_text(value), 1) ^ hash_text(name);
}

constexpr std::string_view part_group = "/part";

}  // namespace

void CheckpointWriter::put(const std::string& path, const std::vector<double>& values) {
  put(path, ResultSink::Type::f64, values.size(), values.data());
}

void CheckpointWriter::put(const std::string& path, const std::vector<std::uint64_t>& values) {
  put(path, ResultSink::Type::u64, values.size(), values.data());
}

void CheckpointWriter::put(const PartContents& contents) {
  for (const auto& [path, numbers] : contents) put(path.empty() ? "/around" : std::string(part_group) + path, numbers);
}

void CheckpointWriter::put(const std::string& path, ResultSink::Type type, std::uint64_t size, const void* data) {
  const Canonical numbers(type, data, size);
  sink_.create(path, type, {size});
  sink_.write(path, {0}, {size}, numbers.data());
  checksum_ += hash_array(path, numbers.data(), size);
}

void CheckpointWriter::text(const std::string& name, const std::string& value) {
  sink_.attribute("/", name, value);
  checksum_ += hash_attribute(name, value);
}

void CheckpointWriter::commit() {
  text("run", sink_.run());
  sink_.attribute("/", "checksum", checksum_);
  sink_.commit();
}

CheckpointReader::CheckpointReader(const std::filesystem::path& file)
    : file_(file), attributes_(file_.attributes("/")) {
  const auto stored = attributes_.find("checksum");
  if (stored == attributes_.end() || !std::holds_alternative<std::uint64_t>(stored->second))
    input_error(file.string(), "is not a checkpoint of rattleback");
  // Checkpoints of older versions have neither a run id nor a record of their files.
  if (!attributes_.contains("run"))
    input_error(file.string(), "was written by another version of rattleback; finish it with version " +
                                   (attributes_.contains("version") ? text("version") : "0.1.0"));
  std::uint64_t checksum = 0;
  for (const auto& [name, value] : attributes_)
    if (const auto* content = std::get_if<std::string>(&value)) checksum += hash_attribute(name, *content);
  for (const auto& [path, entry] : file_.datasets())
    std::visit(
        [&, &path = path](const auto& values) {
          if constexpr (sizeof(values[0]) == 8) checksum += hash_array(path, values.data(), values.size());
        },
        file_.read(path).values);
  if (checksum != std::get<std::uint64_t>(stored->second)) damaged();
}

void CheckpointReader::damaged() const {
  input_error(file_.path().string(), "is damaged (its contents do not match its checksum); run the study again");
}

template <class T>
std::vector<T> CheckpointReader::get(const std::string& path) const {
  if (!file_.datasets().contains(path)) damaged();
  Dataset dataset = file_.read(path);
  auto* values = std::get_if<std::vector<T>>(&dataset.values);
  if (!values) damaged();
  return std::move(*values);
}

std::vector<double> CheckpointReader::numbers(const std::string& path) const { return get<double>(path); }
std::vector<std::uint64_t> CheckpointReader::counts(const std::string& path) const { return get<std::uint64_t>(path); }

PartContents CheckpointReader::part() const {
  PartContents contents;
  for (const auto& [path, entry] : file_.datasets())
    if (path.starts_with(part_group)) contents[path.substr(part_group.size())] = counts(path);
  contents[""] = counts("/around");
  return contents;
}

std::string CheckpointReader::text(const std::string& name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end() || !std::holds_alternative<std::string>(found->second)) damaged();
  return std::get<std::string>(found->second);
}

Leftover check_leftovers(const RunFiles& files, const CheckpointReader& checkpoint) {
  const auto refuse = [&](const std::filesystem::path& file) {
    std::error_code code;
    input_error(
        file.string(),
        std::filesystem::exists(file, code)
            ? "is not what the interrupted run has left (its contents do not match the checkpoint); restore it, "
              "or delete '" +
                  files.checkpoint.string() + "' and run the study again"
            : "is gone, and the interrupted run needs it; restore it, or run the study again");
  };
  const std::string run = checkpoint.run();
  if (checkpoint.has("/values_written") &&
      !ScratchFile::agrees(files.values, run, checkpoint.counts("/values_written")))
    refuse(files.values);
  if (checkpoint.has("/crossings_written") &&
      !ScratchFile::agrees(files.crossings, run, checkpoint.counts("/crossings_written")))
    refuse(files.crossings);
  const PartContents contents = checkpoint.part();
  const PartState part = examine_part(files.part, run, contents);
  if (part == PartState::other) {
    if (examine_part(files.damaged, run, contents) == PartState::other) refuse(files.part);
    return {files.damaged, false};
  }
  return {files.part, part == PartState::whole};
}

}  // namespace rattleback

#include "rattleback/checkpoint.hpp"

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "rattleback/message.hpp"
#include "rattleback/scratch.hpp"

namespace rattleback {
namespace {

constexpr std::uint64_t offset_basis = 14695981039346656037u, prime = 1099511628211u;

std::filesystem::path beside(const std::filesystem::path& file, const char* suffix) {
  std::filesystem::path result = file;
  return result += suffix;
}

std::uint64_t hash_text(const std::string& text) {
  std::uint64_t hash = offset_basis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

/// The contribution of one array; a sum of them does not depend on their order.
std::uint64_t hash_array(const std::string& path, const void* data, std::uint64_t words) {
  return std::rotl(hash_words(data, words), 1) ^ hash_text(path);
}

}  // namespace

RunFiles::RunFiles(const std::filesystem::path& file)
    : result(file),
      part(FileSink::part_of(file)),
      checkpoint(beside(file, ".checkpoint")),
      values(beside(file, ".values")),
      crossings(beside(file, ".crossings")) {}

bool RunFiles::interrupted() const {
  return std::filesystem::exists(checkpoint) &&
         (std::filesystem::exists(part) || std::filesystem::exists(beside(part, ".damaged")));
}

void RunFiles::remove_scratch() const {
  std::error_code code;
  for (const auto& file : {checkpoint, FileSink::part_of(checkpoint), values, crossings})
    std::filesystem::remove(file, code);
}

std::uint64_t hash_words(const void* data, std::uint64_t words) {
  const char* bytes = static_cast<const char*>(data);
  std::uint64_t hash = offset_basis;
  for (std::uint64_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32;  // high bits count too
  }
  return hash;
}

std::uint64_t hash_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return hash_text({std::istreambuf_iterator<char>(stream), {}});
}

void CheckpointWriter::put(const std::string& path, const std::vector<double>& values) {
  put(path, ResultSink::Type::f64, values.size(), values.data());
}

void CheckpointWriter::put(const std::string& path, const std::vector<std::uint64_t>& values) {
  put(path, ResultSink::Type::u64, values.size(), values.data());
}

void CheckpointWriter::put(const std::string& path, ResultSink::Type type, std::uint64_t size, const void* data) {
  sink_.create(path, type, {size});
  sink_.write(path, {0}, {size}, data);
  checksum_ += hash_array(path, data, size);
}

void CheckpointWriter::attribute(const std::string& name, const Attribute& value) { sink_.attribute("/", name, value); }

void CheckpointWriter::commit() {
  sink_.attribute("/", "checksum", checksum_);
  sink_.commit();
}

CheckpointReader::CheckpointReader(const std::filesystem::path& file)
    : file_(file), attributes_(file_.attributes("/")) {
  const auto stored = attributes_.find("checksum");
  if (stored == attributes_.end() || !std::holds_alternative<std::uint64_t>(stored->second))
    input_error(file.string(), "is not a checkpoint of rattleback");
  std::uint64_t checksum = 0;
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

std::string CheckpointReader::text(const std::string& name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end() || !std::holds_alternative<std::string>(found->second)) damaged();
  return std::get<std::string>(found->second);
}

}  // namespace rattleback

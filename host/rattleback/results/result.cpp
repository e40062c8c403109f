#include "rattleback/results/result.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "rattleback/base/json.hpp"
#include "rattleback/catalogue/entry.hpp"
#include "rattleback/results/sink_data.hpp"

namespace rattleback {

const std::array<std::pair<const char*, double Phases::*>, Phases::count> Phases::all{
    {{"read", &Phases::read},
     {"compile", &Phases::compile},
     {"prepare", &Phases::prepare},
     {"integrate", &Phases::integrate},
     {"reduce", &Phases::reduce},
     {"write", &Phases::write},
     {"wait", &Phases::wait}}};

std::vector<std::pair<std::string, double>> Phases::listed() const {
  std::vector<std::pair<std::string, double>> list;
  for (const auto& [name, phase] : all) list.emplace_back(name, this->*phase);
  return list;
}

std::string Phases::text() const {
  nlohmann::ordered_json seconds;
  for (const auto& [phase, spent] : listed()) seconds[phase] = spent;
  return json_text(seconds);
}

Phases& Phases::operator+=(const Phases& other) {
  for (const auto& [name, phase] : all) this->*phase += other.*phase;
  return *this;
}

const Dataset& Result::dataset(const std::string& path) const {
  const auto found = datasets_.find(path);
  if (found != datasets_.end()) return found->second;
  std::string known;
  for (const auto& [name, dataset] : datasets_) known += (known.empty() ? "" : ", ") + name;
  throw Error(Error::Kind::input, "the result has no dataset '" + path + "' (it has " + known + ")");
}

std::vector<std::string> Result::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, dataset] : datasets_) paths.push_back(path);
  return paths;
}

std::span<const double> Result::array(const std::string& path) const {
  const auto* values = std::get_if<std::vector<double>>(&dataset(path).values);
  if (!values) throw Error(Error::Kind::input, "the dataset '" + path + "' does not hold float64 numbers");
  return *values;
}

Result::MatrixMap Result::matrix(const std::string& path) const {
  const Dataset& data = dataset(path);
  if (data.shape.size() != 2) throw Error(Error::Kind::input, "the dataset '" + path + "' is not of shape [N, .]");
  return {array(path).data(), static_cast<Eigen::Index>(data.shape[0]), static_cast<Eigen::Index>(data.shape[1])};
}

std::span<const std::uint32_t> Result::status() const {
  const auto* values = std::get_if<std::vector<std::uint32_t>>(&dataset("/final/status").values);
  if (!values) throw Error(Error::Kind::input, "the dataset '/final/status' does not hold uint32 numbers");
  return *values;
}

std::optional<Attribute> Result::attribute(const std::string& path, const std::string& name) const {
  const auto list = attributes_.find(path);
  if (list == attributes_.end()) return std::nullopt;
  const auto found = list->second.find(name);
  if (found == list->second.end()) return std::nullopt;
  return found->second;
}

std::map<std::string, Attribute> Result::attributes(const std::string& path) const {
  const auto list = attributes_.find(path);
  return list == attributes_.end() ? std::map<std::string, Attribute>() : list->second;
}

namespace {

Summary summary_from(const std::map<std::string, Attribute>& attributes) {
  Summary summary;
  const auto get = [&](const char* name, auto& target) {
    const auto value = attributes.find(name);
    if (value == attributes.end()) return;
    std::visit(
        [&](const auto& v) {
          if constexpr (std::is_convertible_v<decltype(v), std::remove_reference_t<decltype(target)>>)
            target = static_cast<std::remove_reference_t<decltype(target)>>(v);
        },
        value->second);
  };
  get("backend", summary.backend);
  get("device", summary.device);
  get("threads", summary.threads);
  get("wall_seconds", summary.wall_seconds);
  get("trajectory_steps", summary.trajectory_steps);
  get("failed", summary.failed);
  get("left_out", summary.left_out);
  get("iterations", summary.iterations);
  get("fingerprint", summary.fingerprint);
  std::string phases;
  get("phases", phases);
  const Json seconds = parse_json(phases);
  for (const auto& [name, phase] : Phases::all)
    if (seconds.is_object() && seconds.contains(name) && seconds[name].is_number())
      summary.phases.*phase = seconds[name].get<double>();
  return summary;
}

}  // namespace

Summary summary_of(const ResultFile& file) {
  Summary summary = summary_from(file.attributes("/"));
  const auto status = file.datasets().find("/final/status");
  if (status != file.datasets().end() && !status->second.shape.empty()) summary.trajectories = status->second.shape[0];
  return summary;
}

std::map<std::string, std::uint64_t> failures_of(std::span<const std::uint32_t> status) {
  std::map<std::string, std::uint64_t> failures;
  for (const StatusInfo& info : status_table)
    if (const auto count = std::ranges::count_if(status, [&](std::uint32_t bits) { return (bits & info.bit) != 0; }))
      failures[info.name] = static_cast<std::uint64_t>(count);
  return failures;
}

std::map<std::string, std::uint64_t> failures_of(const ResultFile& file) {
  const auto entry = file.datasets().find("/final/status");
  if (entry == file.datasets().end() || entry->second.type != ResultSink::Type::u32 || entry->second.shape.size() != 1)
    return {};
  constexpr std::uint64_t block = std::uint64_t{1} << 20;
  std::map<std::string, std::uint64_t> failures;
  std::vector<std::uint32_t> status;
  for (std::uint64_t first = 0, size = entry->second.shape[0]; first < size; first += block) {
    status.resize(std::min(block, size - first));
    file.read("/final/status", {first}, {status.size()}, status.data());
    for (const auto& [name, count] : failures_of(status)) failures[name] += count;
  }
  return failures;
}

Summary summary_of(const Result& result) {
  Summary summary = summary_from(result.attributes("/"));
  if (result.has("/final/status")) summary.trajectories = result.status().size();
  const std::string group = "/observables/", name = "/missing";
  for (const std::string& path : result.paths()) {
    if (!path.starts_with(group) || !path.ends_with(name)) continue;
    const auto* counts = std::get_if<std::vector<std::uint64_t>>(&result.dataset(path).values);
    if (counts == nullptr) continue;  // another program wrote it
    std::uint64_t total = 0;
    for (const std::uint64_t count : *counts) total += count;
    if (total > 0) summary.missing[path.substr(group.size(), path.size() - group.size() - name.size())] = total;
  }
  return summary;
}

Result Result::load(const std::filesystem::path& file) {
  const ResultFile stored(file);
  Result result;
  result.attributes_["/"] = stored.attributes("/");
  for (const auto& [path, entry] : stored.datasets()) {
    result.datasets_[path] = stored.read(path);
    if (auto attributes = stored.attributes(path); !attributes.empty())
      result.attributes_[path] = std::move(attributes);
  }
  result.summary = summary_of(result);
  return result;
}

namespace {

ResultSink::Type type_of(const Dataset& dataset) { return static_cast<ResultSink::Type>(dataset.values.index()); }

}  // namespace

std::uint64_t block_of_fingerprint(const std::map<std::string, Attribute>& attributes) {
  const auto stored = attributes.find("fingerprint_block");
  if (stored == attributes.end())
    return attributes.contains("fingerprint") ? fingerprint_without_blocks : fingerprint_block;
  const auto* const bytes = std::get_if<std::uint64_t>(&stored->second);
  return bytes != nullptr && *bytes >= 4096 ? *bytes : fingerprint_block;
}

std::string Result::fingerprint() const {
  Fingerprint fingerprint(block_of_fingerprint(attributes("/")));
  for (const auto& [path, dataset] : datasets_) {
    fingerprint.begin(path, name_of(type_of(dataset)), dataset.shape);
    std::visit(
        [&fingerprint](const auto& values) { fingerprint.add(values.data(), values.size() * sizeof(values[0])); },
        dataset.values);
  }
  return fingerprint.digits();
}

void Result::save(const std::filesystem::path& file) const {
  const auto sink = make_file_sink(file);
  for (const auto& [path, dataset] : datasets_) {
    sink->create(path, type_of(dataset), dataset.shape);
    std::visit([&sink, &path = path, &shape = dataset.shape](
                   const auto& values) { sink->write(path, Shape(shape.size(), 0), shape, values.data()); },
               dataset.values);
  }
  for (const auto& [path, list] : attributes_)
    for (const auto& [name, value] : list) sink->attribute(path, name, value);
  sink->commit();
}

namespace {

void add_range(MemorySink::Ranges& ranges, std::uint64_t first, std::uint64_t last) {
  auto next = ranges.upper_bound(first);
  if (next != ranges.begin() && std::prev(next)->second >= first) --next;
  while (next != ranges.end() && next->first <= last) {
    first = std::min(first, next->first);
    last = std::max(last, next->second);
    next = ranges.erase(next);
  }
  ranges.emplace_hint(next, first, last);
}

}  // namespace

MemorySink::Ranges MemorySink::written(const std::string& path) const {
  const auto found = written_.find(path);
  return found == written_.end() ? Ranges{} : found->second;
}

void MemorySink::create(const std::string& path, Type type, const Shape& shape) {
  std::uint64_t size = 1;
  for (const std::uint64_t n : shape) size *= n;
  Dataset& dataset = result_.datasets_[path];
  dataset.shape = shape;
  switch (type) {
    case Type::f64:
      dataset.values = std::vector<double>(size);
      break;
    case Type::u32:
      dataset.values = std::vector<std::uint32_t>(size);
      break;
    case Type::u64:
      dataset.values = std::vector<std::uint64_t>(size);
      break;
  }
}

void MemorySink::write(const std::string& path, const Shape& offset, const Shape& count, const void* numbers) {
  Dataset& dataset = result_.datasets_.at(path);
  Ranges& ranges = written_[path];
  std::visit(
      [&](auto& values) {
        using Number = std::remove_reference_t<decltype(values[0])>;
        const Canonical canonical(std::is_same_v<Number, double> ? Type::f64 : Type::u64, numbers, elements_of(count));
        const auto* source = static_cast<const Number*>(canonical.data());
        for_each_run(dataset.shape, offset, count,
                     [&](std::uint64_t first, std::uint64_t position, std::uint64_t length) {
                       std::copy_n(source + position, length, values.begin() + static_cast<std::ptrdiff_t>(first));
                       add_range(ranges, first, first + length);
                     });
      },
      dataset.values);
}

void MemorySink::attribute(const std::string& path, const std::string& name, const Attribute& value) {
  result_.attributes_[path][name] = value;
}

}  // namespace rattleback

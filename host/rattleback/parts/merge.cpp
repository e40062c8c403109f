#include "rattleback/parts/merge.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "rattleback/base/fingerprint.hpp"
#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/json.hpp"
#include "rattleback/base/mark.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/ensemble_statistics.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/engine/returns.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/engine/tree_files.hpp"
#include "rattleback/parts/seal.hpp"
#include "rattleback/results/compressed.hpp"
#include "rattleback/results/result_file.hpp"
#include "rattleback/results/run_files.hpp"
#include "rattleback/study/ensemble.hpp"

namespace rattleback {
namespace {

/// Numbers of a dataset in memory at a time.
constexpr std::uint64_t block_numbers = std::uint64_t{1} << 19;

/// A dataset with a row or a column for each trajectory or crossing.
struct Joined {
  ResultSink::Type type;
  Shape shape;
  std::size_t dimension;  ///< along which parts follow each other
  std::vector<VirtualBlock> blocks;
  std::uint64_t written = 0;  ///< extent in that dimension
};

/// Returns the dimension along which a dataset of parts is joined; nothing for a dataset that is no part of the result.
std::optional<std::size_t> joined_dimension(const std::string& path) {
  if (path == "/time" || path.starts_with(std::string(reduction_group) + "/")) return std::nullopt;
  return is_series(path) ? 1 : 0;
}

class Merge {
 public:
  Merge(const PartsFolder& folder, const MergeOptions& options)
      : folder_(folder),
        options_(options),
        problem_(Problem::parse(folder.study(), folder.path().string())),
        ensemble_(problem_, {0, 0}),
        plan_(make_plan(problem_, ensemble_)) {}

  Summary operator()() {
    require_all();
    const std::filesystem::path result = check_output(folder_.result(), problem_.study.inputs());
    if (!options_.linked) check_space(problem_, result);
    const RunFiles files(result);
    if (files.interrupted())
      input_error(files.checkpoint.string(),
                  fmt::format("holds an interrupted run into this result; delete this file, or "
                              "finish it with 'rattleback resume {}'",
                              result.string()));
    for (std::uint64_t k = 1; k <= parts(); ++k) examine(k);
    if (summary_.left_out == ensemble_.size())
      input_error(folder_.path().string(),
                  fmt::format("ensemble.where holds for none of {} points; correct it, or the axes", ensemble_.size()));
    FileSink sink(result, new_run());
    const unsigned threads = worker_count(options_.threads);
    sink.compress(static_cast<unsigned>(problem_.study.output.compression.value_or(0)), threads);
    EnsembleStatistics statistics(problem_, ensemble_, {0, ensemble_.size()}, plan_, times_, threads, files.values,
                                  sink.run());
    const struct Clean {
      const RunFiles& files;
      ~Clean() { files.remove_scratch(); }
    } clean{files};
    for (const auto& [path, joined] : datasets_) {
      if (options_.linked) {
        sink.create_virtual(path, joined.type, joined.shape, joined.blocks);
      } else {
        sink.create(path, joined.type, joined.shape);
      }
    }
    sink.create("/time", ResultSink::Type::f64, {times_.size()});
    sink.write("/time", {0}, {times_.size()}, times_.data());
    statistics.create(sink);
    sink.reserve();
    for (std::uint64_t k = 1; k <= parts(); ++k) {
      const ResultFile part(folder_.part_file(k), true);
      stop_if_requested();
      folder_.note_merge();
      if (!options_.linked)
        for (auto& [path, joined] : datasets_) copy(part, path, joined, sink);
      statistics.append_part(part);
    }
    statistics.write(sink, options_.warn);
    for (const Study::Section& section : problem_.study.sections)
      if (section.returns) write_returns(section, sink);
    summary_.missing = statistics.missing();
    write_attributes(sink);
    sink.commit();
    if (options_.warn && !sink.doubt().empty()) options_.warn(sink.doubt());
    return summary_;
  }

 private:
  [[nodiscard]] std::uint64_t parts() const { return folder_.cut().parts(); }

  void require_all() const {
    std::vector<std::string> missing;
    for (std::uint64_t k = 1; k <= parts(); ++k)
      if (!folder_.finished(k)) missing.push_back(std::to_string(k));
    if (missing.empty()) return;
    const std::size_t count = missing.size();
    constexpr std::size_t most = 10;
    if (count > most) missing.resize(most);
    input_error(
        folder_.path().string(),
        fmt::format("{} of {} parts {} missing ({}{}); compute {} with a worker, 'rattleback status {}' shows more",
                    count, parts(), count == 1 ? "is" : "are", join(missing), count > most ? ", .." : "",
                    count == 1 ? "it" : "them", folder_.result().string()));
  }

  /// Checks a part, and adds its datasets and attributes to those of the result.
  void examine(std::uint64_t number) {
    stop_if_requested();
    folder_.note_merge();
    const std::filesystem::path file = folder_.part_file(number);
    const auto refuse = [&](const std::string& why) {
      input_error(file.string(), why + "; delete it, and compute the part again with a worker");
    };
    if (const std::string fault = fault_of_seal(file, options_.linked); !fault.empty()) refuse(fault);
    const ResultFile part(file, !options_.linked);
    const auto attributes = part.attributes("/");
    const auto number_of = [&](const char* name) {
      const auto found = attributes.find(name);
      const auto* value = found == attributes.end() ? nullptr : std::get_if<std::uint64_t>(&found->second);
      return value ? *value : ~std::uint64_t{0};
    };
    if (part.text("study") != folder_.study()) refuse("is a part of another study");
    if (fmt::format("{} ({})", part.text("version"), part.text("git")) != folder_.version())
      refuse(fmt::format("was computed by rattleback {} ({}), the others by {}", part.text("version"), part.text("git"),
                         folder_.version()));
    const Range range = folder_.cut().range(number);
    const Summary summary = summary_of(part);
    if (number_of("first_trajectory") != range.first || summary.trajectories != range.count() ||
        number_of("ensemble_size") != ensemble_.size())
      refuse(fmt::format("has other trajectories than part {} of {}", number, parts()));
    if (number == 1) {
      const Dataset time = part.read("/time");
      if (const auto* times = std::get_if<std::vector<double>>(&time.values)) times_ = *times;
      for (const char* name : {"study", "coordinates", "version", "git"})
        if (const std::string value = part.text(name); !value.empty()) attributes_[name] = value;
      status_attributes_ = part.attributes("/final/status");
    }
    for (const auto& [path, entry] : part.datasets()) {
      const auto dimension = joined_dimension(path);
      if (!dimension) continue;
      Joined& joined = datasets_.try_emplace(path, Joined{entry.type, entry.shape, *dimension, {}}).first->second;
      if (joined.blocks.empty()) joined.shape.at(*dimension) = 0;
      Shape offset(entry.shape.size(), 0);
      offset.at(*dimension) = joined.shape.at(*dimension);
      joined.blocks.push_back({(folder_.path().filename() / file.filename()).string(), entry.shape, offset});
      joined.shape.at(*dimension) += entry.shape.at(*dimension);
    }
    summary_.trajectories += summary.trajectories;
    summary_.failed += summary.failed;
    summary_.left_out += summary.left_out;
    summary_.iterations += summary.iterations;
    summary_.trajectory_steps += summary.trajectory_steps;
    summary_.wall_seconds += summary.wall_seconds;
    summary_.phases += summary.phases;
    summary_.threads = std::max(summary_.threads, summary.threads);
    for (const char* name : {"backend", "device", "driver", "selftest"})
      if (const std::string value = part.text(name); !value.empty()) words_[name].insert(value);
    const auto kernels = parse_json(part.text("kernels"));
    if (kernels.is_array())
      for (const auto& kernel : kernels)
        if (std::ranges::find(kernels_, kernel) == kernels_.end()) kernels_.push_back(kernel);
  }

  /// Writes the statistics of the return times of a section, which the parts have in order.
  void write_returns(const Study::Section& section, ResultSink& sink) const {
    const std::string group = "/sections/" + section.name + "/", path = group + "return_time";
    NumberStatistics returns(group + "returns/", *section.returns, functions_of(best_isa()));
    for (std::uint64_t k = 1; k <= parts(); ++k) {
      const ResultFile part(folder_.part_file(k), true);
      const std::uint64_t extent = part.datasets().at(path).shape.at(0);
      std::vector<double> times;
      for (std::uint64_t first = 0; first < extent; first += times.size()) {
        times.resize(std::min<std::uint64_t>(block_numbers, extent - first));
        part.read(path, {first}, {times.size()}, times.data());
        returns.add(times);
      }
    }
    returns.write(sink);
  }

  /// Copies a dataset of a part behind those of the parts before.
  void copy(const ResultFile& part, const std::string& path, Joined& joined, ResultSink& sink) const {
    const auto entry = part.datasets().find(path);
    if (entry == part.datasets().end()) return;
    const Shape& shape = entry->second.shape;
    // Blocks are of rows, or of columns within one row of samples.
    const std::uint64_t outer = joined.dimension == 0 ? 1 : shape[0], extent = shape[joined.dimension];
    std::uint64_t width = 1;
    for (std::size_t d = joined.dimension + 1; d < shape.size(); ++d) width *= shape[d];
    const std::uint64_t most = std::max<std::uint64_t>(1, block_numbers / std::max<std::uint64_t>(width, 1));
    std::vector<double> numbers(std::min(most, extent) * width);
    for (std::uint64_t i = 0; i < outer; ++i)
      for (std::uint64_t first = 0; first < extent; first += most) {
        stop_if_requested();
        Shape from(shape.size(), 0), count = shape;
        if (joined.dimension == 1) {
          from[0] = i;
          count[0] = 1;
        }
        from[joined.dimension] = first;
        count[joined.dimension] = std::min(most, extent - first);
        part.read(path, from, count, numbers.data());
        from[joined.dimension] += joined.written;
        sink.write(path, from, count, numbers.data());
      }
    joined.written += extent;
  }

  void write_attributes(ResultSink& sink) {
    for (const auto& [name, values] : words_) {
      std::string all;
      for (const std::string& value : values) all += (all.empty() ? "" : ", ") + value;
      attributes_[name] = all;
    }
    summary_.backend = std::get<std::string>(attributes_["backend"]);
    summary_.device = std::get<std::string>(attributes_["device"]);
    attributes_["kernels"] = json_text(kernels_);
    attributes_["threads"] = std::uint64_t{summary_.threads};
    attributes_["wall_seconds"] = summary_.wall_seconds;
    attributes_["phases"] = summary_.phases.text();
    attributes_["trajectory_steps"] = summary_.trajectory_steps;
    attributes_["failed"] = summary_.failed;
    if (problem_.study.ensemble.condition) attributes_["left_out"] = summary_.left_out;
    attributes_["iterations"] = summary_.iterations;
    attributes_["parts"] = parts();
    // A linked result does not read the data in the parts.
    if (!options_.linked) {
      attributes_["fingerprint"] = summary_.fingerprint = sink.fingerprint();
      attributes_["fingerprint_block"] = fingerprint_block;
    }
    if (!options_.job.empty()) attributes_["job"] = options_.job;
    for (const auto& [name, value] : attributes_) sink.attribute("/", name, value);
    for (const auto& [name, value] : status_attributes_) sink.attribute("/final/status", name, value);
  }

  void stop_if_requested() const {
    if (options_.stop.stop_requested()) throw Error(Error::Kind::runtime, "interrupted; the parts are as they were");
  }

  FloatingPointScope environment_;
  const PartsFolder& folder_;
  const MergeOptions& options_;
  Problem problem_;
  Ensemble ensemble_;
  Plan plan_;
  std::vector<double> times_;
  std::map<std::string, Joined> datasets_;
  std::map<std::string, Attribute> attributes_, status_attributes_;
  std::map<std::string, std::set<std::string>> words_;
  Json kernels_ = Json::array();
  Summary summary_;
};

}  // namespace

Summary merge(const PartsFolder& folder, const MergeOptions& options) {
  folder.require_this_version();
  return Merge(folder, options)();
}

}  // namespace rattleback

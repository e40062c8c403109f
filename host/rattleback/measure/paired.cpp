#include "rattleback/measure/paired.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/measure/initial_states.hpp"
#include "rattleback/real/elementary.hpp"
#include "rattleback/study/reader.hpp"
#include "rattleback/study/statistics.hpp"

namespace rattleback {
namespace {

constexpr const char* advice = "set `values = true` in its [[observable]] and run the study again";
/// Trajectories in memory at a time, in whole chunks.
constexpr std::uint64_t block_size = std::uint64_t{512} * chunk_size;

/// One of the two results, with its study as it is written, and its sample times.
struct Side {
  explicit Side(const ResultFile& result) : file(result) {
    study = read_study(std::get<std::string>(file.attributes("/").at("study")), name(), {});
    const auto time = file.datasets().find("/time");
    if (time == file.datasets().end() || time->second.type != ResultSink::Type::f64 || time->second.shape.size() != 1)
      input_error(name(), "has no sample times (/time); give a result of `rattleback run`");
    times = std::get<std::vector<double>>(file.read("/time").values);
    if (times.empty()) input_error(name(), "has no sample times (/time is empty); give a result of `rattleback run`");
  }

  [[nodiscard]] std::string name() const { return file.path().string(); }
  [[nodiscard]] static std::string path_of(const std::string& observable) {
    return "/observables/" + observable + "/values";
  }
  [[nodiscard]] const Observable* find(const std::string& observable) const {
    const auto found = std::ranges::find(study.observables, observable, &Observable::name);
    return found == study.observables.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool has_values(const std::string& observable) const {
    return find(observable) != nullptr && file.datasets().contains(path_of(observable));
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Observable& observable : study.observables) names.push_back(observable.name);
    return names;
  }

  const ResultFile& file;
  Study study;
  std::vector<double> times;
};

/// The values of one observable of a result, and the references of its errors, by blocks of trajectories.
class Series {
 public:
  Series(const Side& side, const std::string& observable, std::uint64_t trajectories)
      : side_(side), path_(Side::path_of(observable)), reference_(side.find(observable)->reference) {
    const ResultFile::Entry& entry = side.file.datasets().at(path_);
    if (entry.type != ResultSink::Type::f64 || entry.shape != Shape{side.times.size(), trajectories})
      input_error(side.name(), fmt::format("dataset '{}' is not of float64 with a row per sample and a column per "
                                           "trajectory; run the study again",
                                           path_));
    if (reference_.kind == ErrorReference::Kind::standard)
      input_error(side.name(),
                  fmt::format("its study names no reference of {}; run the study again", quote(observable)));
  }

  /// Begins a block of trajectories.
  void begin(std::uint64_t first, std::uint64_t count) {
    first_ = first;
    values.resize(count);
    references.assign(count, reference_.number);
    if (reference_ == ErrorReference::initial()) read(0, references);
  }
  void read(std::uint64_t sample) { read(sample, values); }
  [[nodiscard]] const ErrorReference& reference() const { return reference_; }

  std::vector<double> values, references;  ///< of the block

 private:
  void read(std::uint64_t sample, std::vector<double>& into) const {
    side_.file.read(path_, {sample, first_}, {1, into.size()}, into.data());
  }

  const Side& side_;
  std::string path_;
  ErrorReference reference_;
  std::uint64_t first_ = 0;
};

/// The reduction of one sample: x of both results over the pairs, and the differences of x and of (x - r)^2.
struct Trees {
  ChunkTree<Moments> first, second, mean, mse;
};

/// Adds the chunk that begins with trajectory `begin` of the block.
void add_chunk(Trees& trees, PairedSample& sample, const Series& first, const Series& second, std::uint64_t begin) {
  using Lanes = std::array<double, chunk_size>;
  static const IsaFunctions& functions = functions_of(best_isa());
  Lanes a, b, a_reference{}, b_reference{}, mean, mse;
  for (Lanes* lanes : {&a, &b, &mean, &mse}) lanes->fill(nan);
  const std::uint64_t count = std::min<std::uint64_t>(chunk_size, first.values.size() - begin);
  for (std::uint64_t lane = 0; lane < count; ++lane) {
    const double x = first.values[begin + lane], y = second.values[begin + lane];
    sample.failed_first += std::isnan(x);
    sample.failed_second += std::isnan(y);
    sample.missing_first += std::isinf(x);
    sample.missing_second += std::isinf(y);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    ++sample.pairs;
    a[lane] = x;
    b[lane] = y;
    a_reference[lane] = first.references[begin + lane];
    b_reference[lane] = second.references[begin + lane];
    mean[lane] = x - y;
    const double x_error = x - a_reference[lane], y_error = y - b_reference[lane];
    mse[lane] = (x_error - y_error) * (x_error + y_error);
  }
  constexpr Lanes zeros{};
  trees.first.push(functions.reduce(a.data(), a_reference.data()));
  trees.second.push(functions.reduce(b.data(), b_reference.data()));
  trees.mean.push(functions.reduce(mean.data(), zeros.data()));
  trees.mse.push(functions.reduce(mse.data(), zeros.data()));
}

ValueWithError estimate(const ChunkTree<Moments>& tree, const char* statistic) {
  const Moments moments = tree.result();
  return {statistic_of(moments, statistic), error_of(moments, statistic)};
}

/// Returns the mean of differences; NaN when some differences of the pairs are not finite.
ValueWithError difference(const ChunkTree<Moments>& tree, std::uint64_t pairs) {
  if (tree.result().count != static_cast<double>(pairs)) return {};
  return estimate(tree, "mean");
}

/// A sample of each result, at the same time.
struct Common {
  std::uint64_t first, second;
};

std::string in_words(const Side& side) {
  return fmt::format("{}: {} samples from {} to {}", side.name(), side.times.size(), side.times.front(),
                     side.times.back());
}

/// Returns the samples at times that both results have, in the order of the first result.
std::vector<Common> common_samples(const Side& first, const Side& second) {
  const auto ordered = [](const std::vector<double>& times) {
    std::vector<std::uint64_t> order(times.size());
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::ranges::stable_sort(order, {}, [&](std::uint64_t i) { return times[i]; });
    return order;
  };
  const std::vector<double>&a = first.times, &b = second.times;
  double span = 0.0, largest = 0.0;
  for (const auto* times : {&a, &b}) {
    span = std::max(span, std::abs(times->back() - times->front()));
    largest = std::max({largest, std::abs(times->back()), std::abs(times->front())});
  }
  const double tolerance = std::max(1e-9 * span, 4.0 * std::numeric_limits<double>::epsilon() * largest);
  const std::vector<std::uint64_t> of_a = ordered(a), of_b = ordered(b);
  std::vector<Common> common;
  for (auto i = of_a.begin(), j = of_b.begin(); i != of_a.end() && j != of_b.end();) {
    if (std::abs(a[*i] - b[*j]) <= tolerance) {
      common.push_back({*i++, *j++});
    } else if (a[*i] < b[*j]) {
      ++i;
    } else {
      ++j;
    }
  }
  std::ranges::sort(common, {}, &Common::first);
  const bool start_only = common.size() == 1 && common[0].first == 0 && common[0].second == 0;
  if (common.empty() || (start_only && a.size() > 1))
    input_error(second.name(),
                fmt::format("has no sample time{} in common with {} ({}; {}); choose time.sample_every or "
                            "time.samples so that both have the same times",
                            start_only ? " but the first" : "", first.name(), in_words(first), in_words(second)));
  return common;
}

/// Returns the observables to compare: the wanted ones, or all with values in both results.
std::vector<std::string> choose(const Side& first, const Side& second, std::span<const std::string> wanted,
                                std::vector<std::string>& left_out) {
  for (const std::string& name : wanted)
    for (const Side* side : {&first, &second}) {
      if (side->find(name) == nullptr) {
        const std::vector<std::string> known = side->names();
        input_error(side->name(), fmt::format("has no observable {} (it has: {}){}", quote(name),
                                              known.empty() ? "none" : join(known), did_you_mean(name, known)));
      }
      if (!side->has_values(name))
        input_error(side->name(), fmt::format("has no values of observable {}; {}", quote(name), advice));
    }
  std::vector<std::string> names;
  for (const std::string& name : wanted)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  if (!wanted.empty()) return names;
  std::vector<std::string> of_side[2];
  for (const Side* side : {&first, &second}) {
    std::vector<std::string>& found = of_side[side == &second];
    found = side->names();
    std::erase_if(found, [&](const std::string& name) { return !side->has_values(name); });
    if (found.empty())
      input_error(side->name(), fmt::format("has no values of observables, which pairs are made of; {}", advice));
  }
  const auto has = [](const std::vector<std::string>& some, const std::string& name) {
    return std::ranges::find(some, name) != some.end();
  };
  for (const std::string& name : of_side[0]) (has(of_side[1], name) ? names : left_out).push_back(name);
  for (const std::string& name : of_side[1])
    if (!has(of_side[0], name)) left_out.push_back(name);
  if (names.empty())
    input_error(second.name(), fmt::format("has values of other observables than {} ({}; {}); {}", first.name(),
                                           join(of_side[1]), join(of_side[0]), advice));
  return names;
}

PairedObservable compare(const Side& first, const Side& second, const std::string& name,
                         const std::vector<Common>& common, std::uint64_t trajectories) {
  Series a(first, name, trajectories), b(second, name, trajectories);
  PairedObservable result{
      name, a.reference(), b.reference(), first.find(name)->formula == second.find(name)->formula, {}};
  result.samples.resize(common.size());
  std::vector<Trees> trees(common.size());
  for (std::uint64_t begin = 0; begin < trajectories; begin += block_size) {
    const std::uint64_t count = std::min(block_size, trajectories - begin);
    a.begin(begin, count);
    b.begin(begin, count);
    for (std::size_t s = 0; s < common.size(); ++s) {
      a.read(common[s].first);
      b.read(common[s].second);
      for (std::uint64_t k = 0; k < count; k += chunk_size) add_chunk(trees[s], result.samples[s], a, b, k);
    }
  }
  for (std::size_t s = 0; s < common.size(); ++s) {
    PairedSample& sample = result.samples[s];
    sample.failed_first -= summary_of(first.file).left_out;
    sample.failed_second -= summary_of(second.file).left_out;
    sample.time = first.times[common[s].first];
    sample.mean = {estimate(trees[s].first, "mean"), estimate(trees[s].second, "mean"),
                   difference(trees[s].mean, sample.pairs)};
    sample.mse = {estimate(trees[s].first, "mse"), estimate(trees[s].second, "mse"),
                  difference(trees[s].mse, sample.pairs)};
  }
  return result;
}

}  // namespace

double PairedStatistic::unpaired_error() const { return hypot(first.error, second.error); }

PairedReport paired_differences(const ResultFile& first, const ResultFile& second,
                                std::span<const std::string> observables) {
  const FloatingPointScope environment;
  if (std::error_code code; std::filesystem::equivalent(first.path(), second.path(), code))
    input_error(second.path().string(), "is given twice (all differences would be 0); give two results");
  const Side a(first), b(second);
  PairedReport report;
  const std::vector<std::string> names = choose(a, b, observables, report.left_out);
  check_same_start(first, a.study, second, b.study);
  const std::vector<Common> common = common_samples(a, b);
  report.trajectories = first.datasets().at("/final/status").shape[0] - summary_of(first).left_out;
  report.first_samples = a.times.size();
  report.second_samples = b.times.size();
  for (const std::string& name : names)
    report.observables.push_back(compare(a, b, name, common, first.datasets().at("/final/status").shape[0]));
  return report;
}

}  // namespace rattleback

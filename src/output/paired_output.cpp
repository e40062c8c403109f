#include "output/paired_output.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"

namespace rattleback::program {
namespace {

using Row = std::vector<std::string>;

/// How much larger the error is without pairing.
double gain_of(const PairedStatistic& statistic) { return statistic.unpaired_error() / statistic.difference.error; }

std::string to_text(const ErrorReference& reference) {
  return reference == ErrorReference::initial() ? "initial" : fmt::format("{}", reference.number);
}

/// Aligns cells to the right.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], width[i]);
    text += '\n';
  }
  return text;
}

std::string table_of(const PairedObservable& observable, PairedStatistic PairedSample::* member) {
  std::vector<Row> rows{{"time", "A", "B", "A - B", "gain", "pairs", "failed A", "failed B"}};
  const bool missing = std::ranges::any_of(
      observable.samples, [](const PairedSample& s) { return s.missing_first + s.missing_second > 0; });
  if (missing) rows[0].insert(rows[0].end(), {"missing A", "missing B"});
  for (const PairedSample& sample : observable.samples) {
    const PairedStatistic& statistic = sample.*member;
    const auto form = [](ValueWithError x) { return with_error(x.value, x.error); };
    const double gain = gain_of(statistic);
    Row& row =
        rows.emplace_back(Row{fmt::format("{:.10g}", sample.time), form(statistic.first), form(statistic.second),
                              form(statistic.difference), std::isfinite(gain) ? fmt::format("{:.3g}", gain) : "-"});
    row.push_back(fmt::format("{}", sample.pairs));
    row.push_back(fmt::format("{}", sample.failed_first));
    row.push_back(fmt::format("{}", sample.failed_second));
    if (!missing) continue;
    row.push_back(fmt::format("{}", sample.missing_first));
    row.push_back(fmt::format("{}", sample.missing_second));
  }
  return table(rows);
}

Json json_of(ValueWithError x) { return {{"value", x.value}, {"error", x.error}}; }

Json json_of(const PairedStatistic& statistic) {
  return {{"first", json_of(statistic.first)},
          {"second", json_of(statistic.second)},
          {"difference", json_of(statistic.difference)},
          {"unpaired_error", statistic.unpaired_error()},
          {"gain", gain_of(statistic)}};
}

Json json_of(const ErrorReference& reference) {
  return reference == ErrorReference::initial() ? Json("initial") : Json(reference.number);
}

Json json_of(const PairedSample& sample) {
  return {{"time", sample.time},
          {"pairs", sample.pairs},
          {"failed", {{"first", sample.failed_first}, {"second", sample.failed_second}}},
          {"missing", {{"first", sample.missing_first}, {"second", sample.missing_second}}},
          {"mean", json_of(sample.mean)},
          {"mse", json_of(sample.mse)}};
}

}  // namespace

std::string to_text(const PairedReport& report, const std::string& first, const std::string& second) {
  const std::size_t common = report.observables.front().samples.size();
  std::string text = fmt::format("A: {}\nB: {}\n{} trajectories, {} samples in common", printable(first),
                                 printable(second), report.trajectories, common);
  if (common < report.first_samples || common < report.second_samples)
    text += fmt::format(" (of {} in A and {} in B)", report.first_samples, report.second_samples);
  text += '\n';
  if (!report.left_out.empty())
    text += fmt::format("left out, as one result alone has the values: {}\n", printable(join(report.left_out)));
  for (const PairedObservable& observable : report.observables) {
    const std::string a = to_text(observable.first_reference), b = to_text(observable.second_reference);
    text += fmt::format("\n{}, mean\n{}", printable(observable.name), table_of(observable, &PairedSample::mean));
    text += fmt::format("\n{}, mse against {}\n{}", printable(observable.name),
                        a == b ? a : fmt::format("{} in A, {} in B", a, b), table_of(observable, &PairedSample::mse));
  }
  return text;
}

Json to_json(const PairedReport& report, const std::string& first, const std::string& second) {
  Json json{{"first", first},
            {"second", second},
            {"trajectories", report.trajectories},
            {"samples",
             {{"first", report.first_samples},
              {"second", report.second_samples},
              {"common", report.observables.front().samples.size()}}},
            {"left_out", report.left_out},
            {"observables", Json::array()}};
  for (const PairedObservable& observable : report.observables) {
    Json samples = Json::array();
    for (const PairedSample& sample : observable.samples) samples.push_back(json_of(sample));
    json["observables"].push_back(
        {{"name", observable.name},
         {"reference",
          {{"first", json_of(observable.first_reference)}, {"second", json_of(observable.second_reference)}}},
         {"samples", std::move(samples)}});
  }
  return json;
}

}  // namespace rattleback::program

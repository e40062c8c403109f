#include "citing/report_page.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "citing/page.hpp"
#include "output/plot_tool.hpp"
#include "rattleback/about/citations.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/json/json.hpp"
#include "rattleback/result/result.hpp"
#include "rattleback/statistics/with_error.hpp"
#include "rattleback/temporary/folder.hpp"

namespace rattleback::program {
namespace {

namespace fs = std::filesystem;

/// A statistic of an observable at the sample times.
struct Series {
  std::string observable, statistic;
  std::vector<double> values, errors;  ///< errors are empty for a statistic without
};

/// Returns a text of a JSON object; empty where there is none.
std::string word(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

class Section {
 public:
  Section(const std::string& file, const ReportOptions& options) : name_(file), options_(options), file_(file) {
    attributes_ = file_.attributes("/");
    citations_ = Bibliography::instance().of_study(text("study"), file);
    summary_ = summary_of(file_);
    if (file_.datasets().contains("/time")) time_ = numbers("/time");
    read_series();
  }

  [[nodiscard]] std::string title() const { return citations_.name.empty() ? name_ : citations_.name; }
  [[nodiscard]] const StudyCitations& citations() const { return citations_; }
  [[nodiscard]] std::string text(const char* key) const {
    const auto found = attributes_.find(key);
    const auto* value = found == attributes_.end() ? nullptr : std::get_if<std::string>(&found->second);
    return value ? *value : std::string();
  }
  /// Returns the fingerprint of the data as they are.
  [[nodiscard]] const std::string& fingerprint() {
    if (fingerprint_.empty()) fingerprint_ = file_.fingerprint();
    return fingerprint_;
  }

  void write(Page& page, const std::string& anchor) {
    page.heading(2, title(), anchor);
    page.paragraph(fs::path(name_).filename().string(), "quiet");
    write_study(page);
    write_fingerprint(page);
    write_failures(page);
    write_statistics(page);
    write_fits(page);
    write_figures(page);
    page.heading(3, "Provenance");
    write_provenance(page);
    page.folded("The study, with all defaults", text("study"));
  }

 private:
  [[nodiscard]] std::vector<double> numbers(const std::string& path) const {
    const Dataset data = file_.read(path);
    std::vector<double> values;
    std::visit([&values](const auto& v) { values.assign(v.begin(), v.end()); }, data.values);
    return values;
  }

  void read_series() {
    const std::string group = "/observables/";
    for (const auto& [path, entry] : file_.datasets()) {
      if (!path.starts_with(group) || entry.type != ResultSink::Type::f64 || entry.shape != Shape{time_.size()})
        continue;
      const std::string rest = path.substr(group.size());
      const std::size_t slash = rest.rfind('/');
      if (slash == std::string::npos) continue;
      const std::string statistic = rest.substr(slash + 1);
      if (statistic.ends_with("_error") || statistic == "effective_number" || statistic == "histogram_edges") continue;
      Series series{rest.substr(0, slash), statistic, numbers(path), {}};
      if (file_.datasets().contains(path + "_error")) series.errors = numbers(path + "_error");
      series_.push_back(std::move(series));
    }
  }

  void write_study(Page& page) const {
    std::vector<std::pair<std::string, std::string>> rows{{"system", citations_.system}, {"method", citations_.method}};
    if (!citations_.own_system.empty()) rows.emplace_back("source of the system", citations_.own_system);
    rows.emplace_back("trajectories", fmt::format("{}", summary_.trajectories));
    if (!time_.empty())
      rows.emplace_back("time", fmt::format("{} to {}, {} samples", time_.front(), time_.back(), time_.size()));
    rows.emplace_back("trajectory-steps", fmt::format("{}", summary_.trajectory_steps));
    rows.emplace_back("failed", fmt::format("{}", summary_.failed));
    page.facts(rows);
  }

  void write_fingerprint(Page& page) {
    page.heading(3, "Fingerprint");
    page.code(fingerprint());
    if (summary_.fingerprint.empty())
      page.paragraph("The file stores no fingerprint. This one was computed for the report.", "quiet");
    else if (summary_.fingerprint == fingerprint())
      page.paragraph("The data give the fingerprint that the run stored.", "quiet");
    else
      page.paragraph(fmt::format("The run stored another fingerprint, {}. The data have changed since then.",
                                 summary_.fingerprint),
                     "alarm");
  }

  void write_failures(Page& page) const {
    page.heading(3, "Failures");
    std::map<std::uint32_t, std::vector<std::uint64_t>> by_bit;
    const auto entry = file_.datasets().find("/final/status");
    if (entry != file_.datasets().end() && entry->second.type == ResultSink::Type::u32) {
      const Dataset data = file_.read("/final/status");
      const auto& status = std::get<std::vector<std::uint32_t>>(data.values);
      for (std::uint64_t k = 0; k < status.size(); ++k)
        for (std::uint32_t rest = status[k]; rest != 0; rest &= rest - 1) by_bit[rest & -rest].push_back(k);
    }
    if (by_bit.empty()) {
      page.paragraph("No trajectory failed.");
    } else {
      const auto meanings = file_.attributes("/final/status");
      std::vector<std::vector<std::string>> rows;
      for (auto& [bit, which] : by_bit) {
        const auto found = meanings.find(fmt::format("bit {}", bit));
        const auto* meaning = found == meanings.end() ? nullptr : std::get_if<std::string>(&found->second);
        const std::size_t count = which.size();
        if (count > 10) which.resize(10);
        rows.push_back({meaning ? *meaning : fmt::format("bit {}", bit), fmt::format("{}", count),
                        fmt::format("{}{}", fmt::join(which, ", "), count > 10 ? ", .." : "")});
      }
      page.table({"reason", "trajectories", "which"}, rows);
      page.paragraph("A failed trajectory stays at its last good state and counts in no statistic from there on.",
                     "quiet");
    }
    for (const auto& [path, dataset] : file_.datasets()) {
      if (!path.starts_with("/observables/") || !path.ends_with("/missing")) continue;
      const std::vector<double> counts = numbers(path);
      double most = 0;
      for (const double count : counts) most = std::max(most, count);
      if (most > 0)
        page.paragraph(fmt::format("{}: up to {} good trajectories have a value that is not finite.",
                                   path.substr(13, path.size() - 13 - 8), most));
    }
  }

  /// Returns indices of samples: the first, the last, and some between, evenly.
  [[nodiscard]] std::vector<std::size_t> chosen() const {
    std::vector<std::size_t> indices;
    const std::size_t count = std::min(options_.rows, time_.size());
    for (std::size_t i = 0; i < count; ++i)
      indices.push_back(count == 1 ? time_.size() - 1 : i * (time_.size() - 1) / (count - 1));
    return indices;
  }

  void write_statistics(Page& page) const {
    page.heading(3, "Statistics");
    if (series_.empty()) return page.paragraph("The study asks for no statistics.");
    page.paragraph("3.81(19)e-05 is 3.81e-05 with the standard error 0.19e-05.", "quiet");
    for (std::size_t first = 0; first < series_.size();) {
      std::size_t last = first;
      while (last < series_.size() && series_[last].observable == series_[first].observable) ++last;
      std::vector<std::string> head{"t"};
      for (std::size_t i = first; i < last; ++i) head.push_back(series_[first].observable + " " + series_[i].statistic);
      std::vector<std::vector<std::string>> rows;
      for (const std::size_t k : chosen()) {
        auto& row = rows.emplace_back();
        row.push_back(fmt::format("{:.6g}", time_[k]));
        for (std::size_t i = first; i < last; ++i)
          row.push_back(series_[i].errors.size() == time_.size()
                            ? with_error(series_[i].values[k], series_[i].errors[k])
                            : fmt::format("{:.6g}", series_[i].values[k]));
      }
      page.table(head, rows);
      first = last;
    }
  }

  void write_fits(Page& page) const {
    std::vector<std::vector<std::string>> rows;
    const std::string group = "/fits/";
    for (const auto& [path, entry] : file_.datasets()) {
      if (!path.starts_with(group) || !path.ends_with("_error") || entry.shape != Shape{1}) continue;
      const std::string value = path.substr(0, path.size() - 6);
      const auto found = file_.datasets().find(value);
      if (found == file_.datasets().end() || found->second.shape != Shape{1}) continue;
      const std::size_t slash = value.rfind('/');
      const auto told = file_.attributes(value.substr(0, slash) + "/count");
      const auto of = [&told](const char* key) {
        const auto attribute = told.find(key);
        if (attribute == told.end()) return std::string();
        if (const auto* number = std::get_if<double>(&attribute->second)) return fmt::format("{:g}", *number);
        const auto* words = std::get_if<std::string>(&attribute->second);
        return words ? *words : std::string();
      };
      rows.push_back({value.substr(group.size(), slash - group.size()), of("observable") + " " + of("statistic"),
                      of("model"), of("from") + " to " + of("to"), value.substr(slash + 1),
                      with_error(numbers(value)[0], numbers(path)[0])});
    }
    if (rows.empty()) return;
    page.heading(3, "Fits");
    page.table({"fit", "of", "model", "t", "parameter", "value"}, rows);
  }

  /// Returns whether a series makes a figure: at least two finite values that are not all the same.
  static bool drawable(const Series& series) {
    double low = INFINITY, high = -INFINITY;
    for (const double x : series.values)
      if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
    return low < high;
  }

  /// Returns the scale on which a series is drawn.
  [[nodiscard]] const char* scale_of(const Series& series) const {
    double low = INFINITY, high = 0;
    for (std::size_t k = 0; k < series.values.size(); ++k)
      if (time_[k] > 0 && std::isfinite(series.values[k]))
        low = std::min(low, series.values[k]), high = std::max(high, series.values[k]);
    return low > 0 && high > 100 * low ? "--loglog" : "--linear";
  }

  void write_figures(Page& page) const {
    std::vector<const Series*> drawn;
    std::size_t omitted = 0;
    for (const Series& series : series_)
      if (drawable(series)) {
        if (drawn.size() < options_.figures)
          drawn.push_back(&series);
        else
          ++omitted;
      }
    if (drawn.empty()) return;
    page.heading(3, "Figures");
    const TemporaryFolder folder;
    for (const Series* series : drawn) {
      const std::string figure = folder.file("figure.svg");
      // Options with their values in one word: a value may begin with '-'.
      const int failed =
          run_plot_tool({"time", name_.starts_with('-') ? "./" + name_ : name_, "--observable=" + series->observable,
                         "--statistic=" + series->statistic, scale_of(*series), "-o", figure},
                        true);
      if (failed != 0)
        throw Error(failed == 2 ? Error::Kind::input : Error::Kind::runtime,
                    fmt::format("{}: {} of {} cannot be drawn (the plotting tool ended with exit code {}); --figures 0 "
                                "makes a report without figures",
                                name_, series->statistic, series->observable, failed));
      std::ifstream stream(figure, std::ios::binary);
      page.figure(std::string{std::istreambuf_iterator<char>(stream), {}},
                  fmt::format("{} of {} against time{}", series->statistic, series->observable,
                              series->errors.empty() ? "" : "; the band is the standard error"));
    }
    if (omitted > 0)
      page.paragraph(fmt::format("{} more statistics have no figure here; 'rattleback plot' draws them.", omitted),
                     "quiet");
  }

  void write_provenance(Page& page) const {
    std::vector<std::pair<std::string, std::string>> rows;
    const auto add = [&rows](const char* name, const std::string& value) {
      if (!value.empty()) rows.emplace_back(name, value);
    };
    add("rattleback", text("git").empty() ? text("version") : fmt::format("{} ({})", text("version"), text("git")));
    add("backend", text("backend"));
    add("device", text("device"));
    add("driver", text("driver"));
    add("selftest of the device", text("selftest"));
    add("threads", summary_.threads > 0 ? fmt::format("{}", summary_.threads) : "");
    add("seconds of integration", fmt::format("{:.3g}", summary_.wall_seconds));
    add("solver iterations", fmt::format("{}", summary_.iterations));
    if (const auto parts = attributes_.find("parts"); parts != attributes_.end())
      if (const auto* count = std::get_if<std::uint64_t>(&parts->second)) add("parts", fmt::format("{}", *count));
    add("job", text("job"));
    page.facts(rows);
    const Json kernels = parse_json(text("kernels"));
    std::vector<std::vector<std::string>> table;
    if (kernels.is_array())
      for (const auto& kernel : kernels)
        if (kernel.is_object())
          table.push_back({word(kernel, "kernel"), word(kernel, "compiler"), word(kernel, "key").substr(0, 16)});
    if (!table.empty()) page.table({"kernel", "compiler", "key begins"}, table);
  }

  std::string name_;
  ReportOptions options_;
  ResultFile file_;
  std::map<std::string, Attribute> attributes_;
  StudyCitations citations_;
  Summary summary_;
  std::string fingerprint_;
  std::vector<double> time_;
  std::vector<Series> series_;
};

/// Tells which results have the same data.
void write_overview(Page& page, std::vector<Section>& sections) {
  std::vector<std::pair<std::string, std::string>> links;
  for (std::size_t i = 0; i < sections.size(); ++i)
    links.emplace_back(sections[i].title(), fmt::format("result-{}", i + 1));
  links.emplace_back("References", "references");
  page.contents(links);
  for (std::size_t i = 0; i < sections.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (sections[i].fingerprint() == sections[j].fingerprint())
        page.paragraph(fmt::format("Results {} and {} have the same data, to the last bit.", j + 1, i + 1));
}

void write_references(Page& page, const std::vector<Section>& sections) {
  std::vector<Listed> all;
  for (const Section& section : sections)
    for (Listed& listed : references_of(section.citations())) {
      const auto found = std::ranges::find(all, listed.reference, &Listed::reference);
      if (found == all.end()) {
        all.push_back(std::move(listed));
        continue;
      }
      for (const std::string& use : listed.uses)
        if (std::ranges::find(found->uses, use) == found->uses.end()) found->uses.push_back(use);
    }
  page.heading(2, "References", "references");
  std::vector<std::pair<std::string, std::string>> items;
  for (const Listed& listed : all)
    items.emplace_back(fmt::format("{} [{}]", to_text(*listed.reference), fmt::join(listed.uses, "; ")),
                       listed.reference->doi.empty() ? "" : "https://doi.org/" + listed.reference->doi);
  page.list(items);
  const Section& first = sections.front();
  page.folded("BibTeX", bibtex_of(all, {first.text("version"), first.text("git"), ""}));
}

}  // namespace

std::string report_page(const std::vector<std::string>& results, const ReportOptions& options) {
  std::vector<Section> sections;
  for (const std::string& result : results) sections.emplace_back(result, options);
  Page page;
  const std::string title =
      sections.size() == 1 ? "Report on " + sections[0].title() : fmt::format("Report on {} results", sections.size());
  page.heading(1, title);
  page.paragraph(fmt::format("Written by rattleback {}. The page needs no other file and no network.", version()),
                 "quiet");
  write_overview(page, sections);
  for (std::size_t i = 0; i < sections.size(); ++i) sections[i].write(page, fmt::format("result-{}", i + 1));
  write_references(page, sections);
  return page.html(title);
}

}  // namespace rattleback::program

#include "output/diff_output.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"

namespace rattleback::program {
namespace {

using Status = DatasetDiff::Status;

const char* to_string(Status status) {
  switch (status) {
    case Status::identical:
      return "identical";
    case Status::values:
      return "values";
    case Status::shape:
      return "shape";
    case Status::type:
      return "type";
    case Status::only_first:
      return "only_first";
    case Status::only_second:
      return "only_second";
  }
  return "";
}

const char* to_string(ResultSink::Type type) {
  switch (type) {
    case ResultSink::Type::f64:
      return "float64";
    case ResultSink::Type::u32:
      return "uint32";
    case ResultSink::Type::u64:
      return "uint64";
  }
  return "";
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string to_string(const std::variant<double, std::uint64_t>& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:.17g}", *number);
  return fmt::format("{}", std::get<std::uint64_t>(value));
}

bool is_float(const DatasetDiff& dataset) { return dataset.first && dataset.first->type == ResultSink::Type::f64; }

std::string place_of(const FirstDifference& at) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (at.sample) add(fmt::format("sample {}", *at.sample));
  if (at.time) text += fmt::format(" (t = {})", *at.time);
  if (at.trajectory) add(fmt::format("trajectory {}", *at.trajectory));
  if (at.crossing) add(fmt::format("crossing {}", *at.crossing));
  if (text.empty() || at.index.size() > 1) add(to_string(at.index));
  return text;
}

std::string verdict(const DatasetDiff& d, const std::string& first, const std::string& second) {
  switch (d.status) {
    case Status::identical:
      return "identical";
    case Status::shape:
      return fmt::format("shapes differ: {} and {}", to_string(d.first->shape), to_string(d.second->shape));
    case Status::type:
      return fmt::format("types differ: {} and {}", to_string(d.first->type), to_string(d.second->type));
    case Status::only_first:
      return fmt::format("only in {}", first);
    case Status::only_second:
      return fmt::format("only in {}", second);
    case Status::values:
      break;
  }
  std::string text = fmt::format("{} of {} values differ", d.differing, d.values);
  if (d.nan < d.differing)
    text += is_float(d) ? fmt::format(", by up to {} ulp and {:.3g}", d.ulps, d.absolute)
                        : fmt::format(", by up to {}", d.ulps);
  if (d.nan > 0) text += fmt::format(", {} with a NaN", d.nan);
  return text +
         fmt::format("; first at {}: {} and {}", place_of(*d.at), to_string(d.at->first), to_string(d.at->second));
}

}  // namespace

std::string to_text(const DiffReport& report, const std::string& first_name, const std::string& second_name) {
  const std::string first = printable(first_name), second = printable(second_name);
  std::string text;
  if (!report.study.empty()) text += fmt::format("note: the studies of {} and {} differ\n", first, second);
  for (const StudyDiff& key : report.study)
    text += fmt::format("  {}: {} and {}\n", printable(key.key), printable(key.first.value_or("absent")),
                        printable(key.second.value_or("absent")));
  std::size_t width = 0;
  std::uint64_t values = 0;
  for (const DatasetDiff& dataset : report.datasets) {
    width = std::max(width, printable(dataset.path).size());
    values += dataset.values;
  }
  for (const DatasetDiff& dataset : report.datasets)
    text += fmt::format("{:<{}}  {}\n", printable(dataset.path), width, verdict(dataset, first, second));
  if (report.identical())
    return text + fmt::format("{} and {} are identical: {} datasets, {} values\n", first, second,
                              report.datasets.size(), values);
  return text + fmt::format("{} and {} differ in {} of {} datasets\n", first, second, report.differing(),
                            report.datasets.size());
}

Json to_json(const DiffReport& report, const std::string& first, const std::string& second) {
  Json json{{"first", first}, {"second", second}, {"identical", report.identical()}};
  json["study"] = Json::array();
  for (const StudyDiff& key : report.study) {
    Json entry{{"key", key.key}, {"first", nullptr}, {"second", nullptr}};
    if (key.first) entry["first"] = *key.first;
    if (key.second) entry["second"] = *key.second;
    json["study"].push_back(entry);
  }
  json["datasets"] = Json::array();
  for (const DatasetDiff& d : report.datasets) {
    Json entry{{"path", d.path}, {"status", to_string(d.status)}};
    for (const auto& [side, held] : {std::pair{"first", &d.first}, {"second", &d.second}})
      if (*held && d.status != Status::identical && d.status != Status::values)
        entry[side] = {{"type", to_string((*held)->type)}, {"shape", (*held)->shape}};
    if (d.status == Status::identical || d.status == Status::values) entry["values"] = d.values;
    if (d.at) {
      entry["differing"] = d.differing;
      entry["nan"] = d.nan;
      if (is_float(d)) entry["ulps"] = d.ulps;
      entry["absolute"] = d.absolute;
      Json at{{"index", d.at->index}};
      if (d.at->sample) at["sample"] = *d.at->sample;
      if (d.at->time) at["time"] = *d.at->time;
      if (d.at->trajectory) at["trajectory"] = *d.at->trajectory;
      if (d.at->crossing) at["crossing"] = *d.at->crossing;
      std::visit([&at](auto number) { at["first"] = number; }, d.at->first);
      std::visit([&at](auto number) { at["second"] = number; }, d.at->second);
      entry["at"] = at;
    }
    json["datasets"].push_back(entry);
  }
  return json;
}

}  // namespace rattleback::program

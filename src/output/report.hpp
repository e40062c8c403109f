#pragma once
// What `order` and `bench` leave behind: a file in a format chosen by its extension, and a plot.

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/result/result.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback::program {

/// A file that appears under its name when it is complete; only a file that such a report wrote before is replaced. The place
/// is tried at once, so that a bad one is found before any work.
class ReportFile {
 public:
  struct Content {
    nlohmann::ordered_json json;
    std::string csv;
    std::function<void(ResultSink&)> hdf5;
  };

  /// Nothing is written where `file` is empty. Throws Error(input) when the extension is none of `extensions`, the place
  /// cannot be written, something else is there, or it is one of the `inputs`. Symbolic links are followed.
  ReportFile(std::filesystem::path file, const std::vector<std::string>& extensions,
             const std::vector<std::filesystem::path>& inputs);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Throws Error(runtime) when writing fails.
  void write(const Content& content);

 private:
  std::filesystem::path file_, place_, part_;
  std::unique_ptr<ResultSink> sink_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_;
};

/// A plot to be drawn by the plotting tool from a JSON object.
class Plot {
 public:
  /// Throws Error(input) unless `file` is empty (no plot), or ends in .png, .svg or .pdf and is not there, or is a figure
  /// that was drawn so.
  Plot(std::string mode, std::string file);
  /// Throws Error(runtime) when the tool fails.
  void draw(const nlohmann::ordered_json& json) const;

 private:
  std::string mode_, file_;
};

/// The beginning of the object that a command prints; it is the mark by which a file is known as written by this program.
[[nodiscard]] nlohmann::ordered_json report_json(std::string_view command);
[[nodiscard]] nlohmann::ordered_json json_of(const MethodOption& value);
/// Name, kind, default, range or choices and text of each option.
[[nodiscard]] nlohmann::ordered_json json_of(std::span<const OptionInfo> options);
/// The options of a complete study's method, by name.
[[nodiscard]] nlohmann::ordered_json json_of(const Study::Method& method);
/// Adds a study's method, its number of stages where it has stages, and all its options.
void put_method(nlohmann::ordered_json& json, const Study& study);

/// A number for a CSV cell: all digits, empty for NaN.
[[nodiscard]] std::string csv_number(double x);

}  // namespace rattleback::program

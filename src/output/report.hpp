#pragma once
// `order`, `bench` and `report` write a report file, in a format chosen by the extension, and a plot.

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
#include "rattleback/results/result.hpp"
#include "rattleback/study/describe.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback::program {

/// A report file. The file gets its name when complete, and replaces only a file of the same command. The
/// constructor opens the file, so that a bad place is found before any work.
class ReportFile {
 public:
  struct Content {
    nlohmann::ordered_json json;
    std::string csv;
    std::function<void(ResultSink&)> hdf5;
    std::string html = {};  ///< after the first two lines
  };

  /// With an empty `file` nothing is written. Throws Error(input) when the extension is not one of `extensions`, the
  /// place cannot be written, another file is there, or the file is one of `inputs`. Symbolic links are followed.
  /// `command` names the kind of the report, as report_json does.
  ReportFile(std::string command, std::filesystem::path file, const std::vector<std::string>& extensions,
             const std::vector<std::filesystem::path>& inputs);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Throws Error(runtime) when writing fails.
  void write(const Content& content);

 private:
  std::string command_;
  std::filesystem::path file_, place_, part_;
  std::unique_ptr<ResultSink> sink_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_;
};

/// A plot. The plotting tool draws the plot from a JSON object.
class Plot {
 public:
  /// Throws Error(input) unless `file` is empty (no plot), or ends in .png, .svg or .pdf and is new or an earlier
  /// figure of the plotting tool.
  Plot(std::string mode, std::string file);
  /// Throws Error(runtime) when the tool fails.
  void draw(const nlohmann::ordered_json& json) const;

 private:
  std::string mode_, file_;
};

/// Returns the beginning of the JSON object of a command. This beginning identifies a file as written by this program.
[[nodiscard]] nlohmann::ordered_json report_json(std::string_view command);
/// Returns the options of a complete study's method, by name.
[[nodiscard]] nlohmann::ordered_json json_of(const Study::Method& method);
/// Adds a study's method, all its options, and the number of stages if the method has stages.
void put_method(nlohmann::ordered_json& json, const Study& study);

/// Returns a number for a CSV cell with all digits; empty for NaN.
[[nodiscard]] std::string csv_number(double x);

}  // namespace rattleback::program

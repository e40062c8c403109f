#include "output/report.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

#include "output/plot_tool.hpp"
#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/results/run_files.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback::program {
namespace {

void check_extension(const std::filesystem::path& file, const std::vector<std::string>& extensions) {
  if (std::ranges::find(extensions, file.extension().string()) == extensions.end())
    input_error(file.string(),
                fmt::format("the extension says nothing about the format; use one of {}", join(extensions)));
}

/// The first bytes of a file that this program or the plotting tool has written, and bytes that come later in the file.
struct Mark {
  std::string_view extension, start, further;
};
constexpr std::string_view csv_start = "# rattleback ", json_start = "{\n  \"rattleback\": \"",
                           html_start = "<!DOCTYPE html>\n<!-- rattleback report -->\n";
constexpr Mark marks[] = {{".csv", csv_start, ""},
                          {".json", json_start, ""},
                          {".html", html_start, ""},
                          {".png", "\x89PNG\r\n", {"Software\0rattleback", 19}},
                          {".svg", "<?xml", "<dc:title>rattleback</dc:title>"},
                          {".pdf", "%PDF-", "/Creator (rattleback)"}};

/// Returns the beginning of a table as CSV.
std::string csv_head(std::string_view command) { return fmt::format("{}{}, {}\n", csv_start, version(), command); }

/// Returns why the file must stay: this program or the plotting tool has not written it, in the format of its extension, or
/// it is of another command. Returns "" for a file that `command` may replace, and for figures.
std::string foreign(const std::filesystem::path& file, std::string_view command) {
  std::ifstream stream(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  const Mark& mark = *std::ranges::find(marks, file.extension().string(), &Mark::extension);
  if (!content.starts_with(mark.start) || content.find(mark.further) == std::string::npos) return not_ours;
  const std::string_view head = std::string_view(content).substr(0, 200);
  const bool same = mark.extension == ".csv" ? head.substr(0, head.find('\n')).ends_with(fmt::format(", {}", command))
                    : mark.extension == ".json"
                        ? head.find(fmt::format("\n  \"command\": \"{}\"", command)) != std::string_view::npos
                        : true;
  return same ? "" : fmt::format("the existing file was not written by 'rattleback {}', and would be lost", command);
}

}  // namespace

ReportFile::ReportFile(std::string command, std::filesystem::path file, const std::vector<std::string>& extensions,
                       const std::vector<std::filesystem::path>& inputs)
    : command_(std::move(command)), file_(std::move(file)), stream_(nullptr, std::fclose) {
  if (file_.empty()) return;
  check_extension(file_, extensions);
  if (file_.extension() == ".h5") {
    sink_ = make_file_sink(check_output(file_, inputs, FileKind::order), FileKind::order);
    return;
  }
  place_ = std::filesystem::absolute(
      output_place(file_, inputs, [this](const auto& there) { return foreign(there, command_); }));
  part_ = place_.parent_path() / fmt::format(".rattleback-{}.part", getpid());
  stream_.reset(std::fopen(part_.c_str(), "wx"));
  if (!stream_)
    input_error(file_.string(),
                fmt::format("cannot be written ({}); choose another place with -o", std::strerror(errno)));
}

ReportFile::~ReportFile() {
  if (!stream_) return;
  std::error_code code;
  std::filesystem::remove(part_, code);
}

void ReportFile::write(const Content& content) {
  if (sink_) {
    content.hdf5(*sink_);
    sink_->commit();
  }
  if (!stream_) return;
  const std::string extension = file_.extension();
  const std::string text = extension == ".json"   ? json_text(content.json, 2) + "\n"
                           : extension == ".html" ? fmt::format("{}{}", html_start, content.html)
                                                  : csv_head(command_) + content.csv;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream_.get()) == text.size() &&
                       std::fflush(stream_.get()) == 0 && std::rename(part_.c_str(), place_.c_str()) == 0;
  if (!written)
    throw Error(Error::Kind::runtime, fmt::format("{}: cannot be written ({}); the file that was there before is "
                                                  "untouched",
                                                  file_.string(), std::strerror(errno)));
  stream_.reset();
}

Plot::Plot(std::string mode, std::string file) : mode_(std::move(mode)), file_(std::move(file)) {
  if (file_.empty()) return;
  check_extension(file_, {".png", ".svg", ".pdf"});
  (void)output_place(file_, {}, [](const auto& there) { return foreign(there, "plot"); });
}

void Plot::draw(const nlohmann::ordered_json& json) const {
  if (file_.empty()) return;
  std::string name = (std::filesystem::temp_directory_path() / "rattleback-plot-XXXXXX.json").string();
  const int descriptor = mkstemps(name.data(), 5);
  const std::string text = json_text(json);
  const bool written = descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == ssize_t(text.size());
  if (descriptor >= 0) close(descriptor);
  const int failed = written ? run_plot_tool({mode_, name, "-o", file_}) : 0;
  std::error_code code;
  std::filesystem::remove(name, code);
  if (!written) throw Error(Error::Kind::runtime, name + ": cannot be written; set TMPDIR to another place");
  if (failed != 0)
    throw Error(Error::Kind::runtime,
                fmt::format("{}: cannot be drawn (the plotting tool ended with exit code {})", file_, failed));
}

nlohmann::ordered_json report_json(std::string_view command) {
  return {{"rattleback", version()}, {"command", command}};
}

nlohmann::ordered_json json_of(const Study::Method& method) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : method.options) json[name] = json_of(value);
  return json;
}

void put_method(nlohmann::ordered_json& json, const Study& study) {
  json["method"] = study.method.name;
  if (const auto stages = study.method.stages()) json["stages"] = *stages;
  json["options"] = json_of(study.method);
}

std::string csv_number(double x) { return std::isnan(x) ? "" : fmt::format("{:.17g}", x); }

}  // namespace rattleback::program

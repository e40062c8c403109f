#include "output/terminal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <latch>
#include <limits>
#include <string_view>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output/output.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/reader.hpp"
#include "rattleback/study/with_error.hpp"

namespace rattleback::program {

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
  struct sigaction present{};
  sigaction(SIGHUP, nullptr, &present);
  if (present.sa_handler == SIG_IGN) sigdelset(&signals_, SIGHUP);  // nohup ignores SIGHUP
  std::signal(SIGXFSZ, SIG_IGN);                                    // a write beyond the limit fails with a message
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // The constructor waits for the thread: a process that forks while a thread starts can leave a lock closed in the child.
  std::latch started(1);
  const auto wait = [this, &started](const std::stop_token& end) {
    started.count_down();
    while (true) {
      if (sigwaitinfo(&signals_, nullptr) <= 0) continue;
      if (end.stop_requested()) return;  // the destructor sent this signal
      if (source_.stop_requested()) {
        constexpr std::string_view words =
            "rattleback: ended at once by a second interrupt; 'rattleback resume' goes on from the last checkpoint, if "
            "there is one\n";
        (void)!write(STDERR_FILENO, words.data(), words.size());  // other threads may hold the lock of the stream
        _exit(exit_runtime);
      }
      source_.request_stop();
    }
  };
  try {
    waiter_ = std::jthread(wait);
  } catch (const std::system_error& why) {
    throw too_many_threads(1, why);
  }
  started.wait();
  Kernels::instance().set_stop([token = token()] { return token.stop_requested(); });
}

Interrupt::~Interrupt() {
  Kernels::instance().set_stop({});
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), SIGTERM);
}

ProgressDisplay::ProgressDisplay() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressDisplay::~ProgressDisplay() {
  if (drawn_) print_stderr("\n");
}

void ProgressDisplay::operator()(const Progress& p) {
  before_ = std::min(before_, p.trajectory_steps);
  const double done = static_cast<double>(p.trajectory_steps), total = static_cast<double>(p.total);
  const double share = p.total > 0 ? done / total : 1.0;
  const double rate = p.seconds > 0 ? (done - static_cast<double>(before_)) / p.seconds : 0.0;
  const double left = rate > 0 ? (total - done) / rate : 0.0;
  const std::string text =
      fmt::format("{:5.1f} %  {:.3g} trajectory-steps/s  {:.0f} s left", 100.0 * share, rate, left);
  if (terminal_) {
    constexpr int width = 30;
    const int full = static_cast<int>(share * width);
    print_stderr("\r[{:=<{}}{: <{}}] {}   ", "", full, "", width - full, text);
    drawn_ = true;
  } else if (p.seconds >= next_line_) {
    print_stderr("{}\n", text);
    next_line_ = p.seconds + 10.0;
  }
}

namespace {

/// Returns the last value of the datasets of one dimension below a group: [name][dataset].
nlohmann::ordered_json last_values(const ResultFile& result, std::string_view prefix) {
  nlohmann::ordered_json last = nlohmann::ordered_json::object();
  for (const auto& [path, entry] : result.datasets()) {
    if (!path.starts_with(prefix) || entry.shape.size() != 1) continue;
    const std::string_view rest = std::string_view(path).substr(prefix.size());
    const std::size_t slash = rest.rfind('/');
    const std::string dataset(rest.substr(slash + 1));
    nlohmann::ordered_json& value = last[std::string(rest.substr(0, slash))][dataset];
    if (entry.type == ResultSink::Type::u64) {
      std::uint64_t number = 0;
      result.read(path, {entry.shape[0] - 1}, {1}, &number);
      value = number;
    } else if (dataset != "histogram_edges") {
      double number = 0;
      result.read(path, {entry.shape[0] - 1}, {1}, &number);
      value = number;
    }
  }
  return last;
}

/// Prints the values of one observable or fit with their errors, one per line.
void print_values(std::string_view name, const nlohmann::ordered_json& values) {
  for (const auto& [dataset, value] : values.items()) {
    if (!value.is_number_float() || dataset.ends_with("_error") || dataset == "effective_number" ||
        dataset == "covariance" || dataset.starts_with("concentration_by_"))
      continue;
    const auto error = values.find(dataset + "_error");
    const double number = value.get<double>();
    print_stdout("  {} {}: {}\n", name, dataset,
                 error == values.end() ? fmt::format("{:.17g}", number) : with_error(number, error->get<double>()));
  }
}

/// Returns a share as a percentage.
std::string percent(std::uint64_t part, std::uint64_t all) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(all);
  return share < 0.01 ? "less than 0.01 %" : fmt::format("{:.3g} %", share);
}

/// Prints how many trajectories each stop has ended, and when. Returns how many they are together.
std::uint64_t print_stops(const nlohmann::ordered_json& stops, std::uint64_t trajectories) {
  std::uint64_t all = 0;
  for (const auto& [name, values] : stops.items()) {
    const auto count = values.at("count").get<std::uint64_t>();
    const auto with = [&values = values](const char* key) {
      const auto number = [&values](const std::string& at) {
        const auto found = values.find(at);
        return found != values.end() && found->is_number() ? found->get<double>() : std::nan("");
      };
      return with_error(number(key), number(std::string(key) + "_error"));
    };
    all += count;
    print_stdout("  stop {}: of {} trajectories ({}){}\n", name, count, percent(count, trajectories),
                 count == 0 ? "" : fmt::format("; share {}; mean time {}", with("fraction"), with("time_mean")));
  }
  return all;
}

/// Returns the fates by name: count and share of the trajectories that have not failed; those without a fate are "none".
nlohmann::ordered_json fates_of(const ResultFile& result) {
  nlohmann::ordered_json fates = nlohmann::ordered_json::object();
  if (!result.datasets().contains("/fates/count")) return fates;
  const auto counts = std::get<std::vector<std::uint64_t>>(result.read("/fates/count").values);
  const auto shares = std::get<std::vector<double>>(result.read("/fates/fraction").values),
             errors = std::get<std::vector<double>>(result.read("/fates/fraction_error").values);
  const auto names = result.attributes("/fates/count");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string name = i == 0 ? "none" : std::get<std::string>(names.at(fmt::format("fate {}", i)));
    fates[name] = {{"count", counts[i]}, {"fraction", shares[i]}, {"fraction_error", errors[i]}};
  }
  return fates;
}

/// "boundary_dimension" in words.
std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

void print_fates(const nlohmann::ordered_json& fates, const nlohmann::ordered_json& maps) {
  for (const auto& [name, values] : fates.items())
    print_stdout("  fate {}: of {} trajectories; share {}\n", name, values.at("count").get<std::uint64_t>(),
                 with_error(values.at("fraction").get<double>(), values.at("fraction_error").get<double>()));
  for (const auto& [name, values] : maps.items()) {
    std::string text;
    for (const auto& [what, value] : values.items())
      if (what.ends_with("dimension") || what.ends_with("exponent") || what.ends_with("entropy"))
        text += fmt::format("{} {} {:.4g}", text.empty() ? "" : ",", words_of(what), value.get<double>());
    print_stdout("  map {}:{}\n", name, text);
  }
}

/// Prints how many trajectories the numbers are of.
void print_counts(std::string_view name, const nlohmann::ordered_json& values, std::uint64_t trajectories,
                  std::uint64_t stopped) {
  const auto count = values.at("count").get<std::uint64_t>();
  const std::uint64_t missing = values.value("missing", std::uint64_t{0});
  std::string text = fmt::format("  {}: of {} trajectories", name, count);
  const std::uint64_t absent = trajectories - count - missing, ended = std::min(stopped, absent);
  if (const std::uint64_t failed = absent - ended; failed > 0)
    text += fmt::format("; {} failed ({}) and are excluded", failed, percent(failed, trajectories));
  if (ended > 0) text += fmt::format("; {} were stopped ({})", ended, percent(ended, trajectories));
  if (const auto effective = values.find("effective_number"); effective != values.end() && effective->is_number())
    text += fmt::format("; effective number {:.3g}", effective->get<double>());
  print_stdout("{}\n", text);
}

}  // namespace

std::string in_brackets(const std::map<std::string, std::uint64_t>& failures) {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [name, count] : failures) sorted.emplace_back(count, name);
  std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<std::uint64_t, std::string>::first);
  std::string words;
  for (auto& [count, name] : sorted) {
    std::ranges::replace(name, '-', ' ');
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, name);
  }
  return words.empty() ? "" : fmt::format(" ({})", words);
}

void say_remedies(const std::map<std::string, std::uint64_t>& failures) {
  for (const StatusInfo& info : status_table)
    if (info.remedy != nullptr && failures.contains(info.name))
      say(fmt::format("{}: {}; {}", info.name, info.text, info.remedy));
}

void RunArguments::add_to(CLI::App& command) {
  backend.add_to(command);
  command.add_flag("--quiet", quiet, "no progress, no summary");
  command.add_flag("--json", json, "summary as one JSON object on stdout");
}

int execute(const RunArguments& arguments, const Interrupt& interrupt, const std::filesystem::path& result,
            const std::function<Summary(Session&)>& work) {
  RunOptions options = arguments.backend.options();
  options.tile = arguments.tile;
  options.stop = interrupt.token();
  const auto start = std::chrono::steady_clock::now();
  Summary summary;
  {
    ProgressDisplay display;
    options.warn = [](const std::string& text) { say(text); };
    if (!arguments.quiet) options.progress = [&display](const Progress& progress) { display(progress); };
    Session session(options);
    summary = work(session);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report(summary, result, seconds, arguments.quiet, arguments.json);
}

int report(const Summary& summary, const std::filesystem::path& result, double seconds, bool quiet, bool as_json) {
  const std::uint64_t taken = summary.trajectories - summary.left_out;
  const double rate = static_cast<double>(summary.trajectory_steps) / std::max(summary.wall_seconds, 1e-9);

  std::map<std::string, std::uint64_t> failures;
  if (as_json || !quiet || summary.failed > 0) {
    const ResultFile file(result);
    if (summary.failed > 0) failures = failures_of(file);
    const std::string name =
        read_study(std::get<std::string>(file.attributes("/").at("study")), result.string(), {}).name;
    const nlohmann::ordered_json statistics = last_values(file, "/observables/"), fits = last_values(file, "/fits/");
    nlohmann::ordered_json stops = last_values(file, "/stops/"), maps = last_values(file, "/maps/");
    const nlohmann::ordered_json fates = fates_of(file);
    for (auto& [map, values] : maps.items())
      for (const char* key : {"row", "column"}) values.erase(key);
    for (const char* key : {"survival", "survival_error"}) stops.erase(key);
    nlohmann::ordered_json averages = last_values(file, "/averages/");
    for (auto& [average, values] : averages.items())
      for (const char* key : {"value", "digits", "histogram", "histogram_outside", "histogram_edges"})
        values.erase(key);
    if (as_json) {
      nlohmann::ordered_json json;
      json["study"] = name;
      json["result"] = result.string();
      json["backend"] = summary.backend;
      json["device"] = summary.device;
      json["threads"] = summary.threads;
      json["trajectories"] = summary.trajectories;
      json["trajectory_steps"] = summary.trajectory_steps;
      json["iterations"] = summary.iterations;
      json["left_out"] = summary.left_out;
      json["failed"] = summary.failed;
      json["failures"] = failures;
      json["missing"] = summary.missing;
      json["wall_seconds"] = summary.wall_seconds;
      for (const auto& [phase, spent] : summary.phases.listed()) json["phases"][phase] = spent;
      json["total_seconds"] = seconds;
      json["trajectory_steps_per_second"] = rate;
      json["observables"] = statistics;
      json["fits"] = fits;
      if (!averages.empty()) json["averages"] = averages;
      if (!stops.empty()) json["stops"] = stops;
      if (!fates.empty()) json["fates"] = fates;
      if (!maps.empty()) json["maps"] = maps;
      if (!summary.fingerprint.empty()) json["fingerprint"] = summary.fingerprint;
      print_stdout_json(json);
    } else if (!quiet) {
      print_stdout("{}: {} trajectories{}, {} trajectory-steps in {:.3g} s ({:.3g} per second) on {}, {} threads\n",
                   name, taken, summary.left_out > 0 ? fmt::format(" of {} points", summary.trajectories) : "",
                   summary.trajectory_steps, summary.wall_seconds, rate, summary.device, summary.threads);
      const std::uint64_t stopped = print_stops(stops, taken);
      print_fates(fates, maps);
      for (const auto& [observable, values] : statistics.items()) {
        print_values(observable, values);
        print_counts(observable, values, taken, stopped);
      }
      for (const auto& [kind, tables] : {std::pair{"average ", &std::as_const(averages)}, {"fit ", &fits}})
        for (const auto& [table, values] : tables->items()) {
          print_values(kind + table, values);
          print_counts(kind + table, values, taken, stopped);
        }
      if (!summary.fingerprint.empty()) print_stdout("fingerprint: {}\n", summary.fingerprint);
      print_stdout("result: {}\n", result.string());
    }
  }
  if (summary.failed == 0) return exit_done;
  print_stderr(
      "rattleback: {} of {} trajectories failed{} and are frozen at their last good state; see /final/status\n",
      summary.failed, taken, in_brackets(failures));
  say_remedies(failures);
  return exit_failed_trajectories;
}

}  // namespace rattleback::program

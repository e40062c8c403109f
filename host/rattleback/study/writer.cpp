// Study::to_toml writes the keys in the order of the documentation.

#include <fmt/format.h>

#include <cmath>

#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/formulas/model.hpp"
#include "rattleback/study/formulas_text.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {
namespace {

/// Returns the shortest decimal that reads back as the same double, in the form of a TOML float.
std::string toml_of(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_of(std::uint64_t value) { return fmt::format("{}", value); }

std::string toml_of(const std::string& text) { return basic_string(text); }

std::string toml_of(std::int64_t value) { return fmt::format("{}", value); }

std::string_view toml_of_flag(bool flag) { return flag ? "true" : "false"; }

std::string toml_of(const Value& value) {
  return std::visit([](const auto& content) { return toml_of(content); }, value.content);
}

std::string toml_of(const Study::Checkpoint& checkpoint) {
  if (checkpoint.steps > 0) return toml_of(checkpoint.steps);
  if (checkpoint.seconds == 0) return "\"off\"";
  const double minutes = checkpoint.seconds / 60;
  return std::trunc(minutes) == minutes ? fmt::format("\"{}min\"", minutes)
                                        : fmt::format("\"{}s\"", checkpoint.seconds);
}

template <class T>
std::string toml_of(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? ", " : "") + toml_of(value);
  return text + "]";
}

std::string toml_of(const std::vector<std::vector<double>>& rows) {
  std::string text = "[";
  for (const auto& row : rows) text += (text.size() > 1 ? ", " : "") + toml_of(row);
  return text + "]";
}

std::string toml_of(const Axis& axis) {
  const auto distribution = [&](std::string_view random) {
    return axis.points == Axis::Points::random ? random : name_of(axis.points);
  };
  std::string text = fmt::format("{{ name = {}", toml_of(axis.name));
  switch (axis.kind) {
    case Axis::Kind::range:
      text += fmt::format(", from = {}, to = {}, count = {}", toml_of(axis.from), toml_of(axis.to), axis.count);
      break;
    case Axis::Kind::values:
      text += fmt::format(", values = {}", toml_of(axis.values));
      break;
    case Axis::Kind::uniform:
      text += fmt::format(", distribution = \"{}\", from = {}, to = {}, seed = {}", distribution("uniform"),
                          toml_of(axis.from), toml_of(axis.to), axis.seed);
      break;
    case Axis::Kind::normal:
      text += fmt::format(", distribution = \"{}\", mean = {}, std = {}, seed = {}", distribution("normal"),
                          toml_of(axis.mean), toml_of(axis.std), axis.seed);
      break;
  }
  if (axis.draws) text += fmt::format(", draws = {}", *axis.draws);
  return text + " }";
}

class Writer {
 public:
  void table(std::string_view header) { text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", header); }
  void line(std::string_view key, std::string_view value) { text_ += fmt::format("{} = {}\n", key, value); }
  void lines(std::string_view text) { text_ += text; }
  template <class T>
  void given(std::string_view key, const std::vector<T>& values) {
    if (!values.empty()) line(key, toml_of(values));
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

void write_system(Writer& out, const Study::System& system) {
  out.table("[system]");
  out.line("name", toml_of(system.name));
  if (!system.variant.empty()) out.line("variant", toml_of(system.variant));
  out.lines(system.formulas_text);
  if (!system.file.empty()) {
    out.line("file", toml_of(system.file.string()));
    out.line("type", toml_of(system.type));
    out.line("digest", toml_of(system.digest));
  }
  if (system.parameters.empty()) return;
  std::string parameters;
  const auto add = [&](const std::string& name, const Value& value) {
    parameters += fmt::format("{} {} = {}", parameters.empty() ? "" : ",", name, toml_of(value));
  };
  if (system.formulas != nullptr) {
    // Formulas keep the order of their parameters, in which their code is written.
    for (const auto& parameter : system.formulas->parameters)
      if (const auto found = system.parameters.find(parameter.name); found != system.parameters.end())
        add(parameter.name, found->second);
  } else {
    for (const auto& [name, value] : system.parameters) add(name, value);
  }
  out.line("parameters", fmt::format("{{{} }}", parameters));
}

void write_method(Writer& out, const Study::Method& method) {
  out.table("[method]");
  out.line("name", toml_of(method.name));
  // The options keep the order of the method.
  if (const MethodEntry* entry = Catalogue::instance().method(method.name))
    for (const OptionInfo& option : entry->options)
      if (const auto found = method.options.find(option.name); found != method.options.end())
        out.line(found->first, rattleback::to_toml(found->second));
  const bool as_always = method.guess == Study::Method{}.guess;
  out.line("solver", fmt::format("{{ tolerance = {}, max_iterations = {}{} }}", toml_of(method.tolerance),
                                 method.max_iterations, as_always ? "" : ", guess = " + toml_of(method.guess)));
}

void write_time(Writer& out, const Study::Time& time) {
  out.table("[time]");
  out.line("start", toml_of(time.start));
  out.line("step", toml_of(time.step));
  if (time.end) out.line("end", toml_of(*time.end));
  if (!time.end && time.steps) out.line("steps", toml_of(*time.steps));
  const bool by_steps = time.sample_every.value_or(0) != 0;
  if (by_steps) out.line("sample_every", toml_of(*time.sample_every));
  if (!by_steps && time.samples) out.line("samples", toml_of(*time.samples));
}

void write_ensemble(Writer& out, const Study& study) {
  const Study::Ensemble& ensemble = study.ensemble;
  out.table("[ensemble]");
  if (!ensemble.axes.empty()) {
    std::string axes;
    for (const Axis& axis : ensemble.axes) axes += fmt::format("  {},\n", toml_of(axis));
    out.line("axes", fmt::format("[\n{}]", axes));
  }
  if (ensemble.draws) out.line("draws", toml_of(*ensemble.draws));
  if (ensemble.randomisations) out.line("randomisations", toml_of(*ensemble.randomisations));
  if (ensemble.listed()) {
    const std::filesystem::path file =
        ensemble.states ? std::filesystem::path(ensemble.states->file_name()) : ensemble.file;
    out.line("file", toml_of(std::filesystem::absolute(study.directory / file).lexically_normal().string()));
  }
  if (!ensemble.group.empty()) out.line("group", toml_of(ensemble.group));
  out.line("project", toml_of_flag(ensemble.project));
  if (!ensemble.frame.empty()) out.line("frame", toml_of(ensemble.frame));
  out.given("group_by", ensemble.group_by);
  out.given("unused", ensemble.unused);
  if (ensemble.q.empty() && ensemble.v.empty() && ensemble.p.empty() && ensemble.lambda.empty()) return;
  out.table("[ensemble.initial]");
  out.given("q", ensemble.q);
  out.given("v", ensemble.v);
  out.given("p", ensemble.p);
  out.given("lambda", ensemble.lambda);
}

}  // namespace

std::string_view name_of(Axis::Points points) {
  return points == Axis::Points::sobol ? "sobol" : points == Axis::Points::lattice ? "lattice" : "random";
}

std::string to_toml(const MethodOption& value) {
  return std::visit(
      [](const auto& x) {
        if constexpr (std::is_same_v<decltype(x), const bool&>) {
          return std::string(toml_of_flag(x));
        } else {
          return toml_of(x);
        }
      },
      value.content);
}

std::string Study::to_toml() const {
  Writer out;
  out.table("[study]");
  out.line("name", toml_of(name));
  write_system(out, system);
  write_method(out, method);
  write_time(out, time);
  write_ensemble(out, *this);
  for (const Observable& observable : observables) {
    out.table("[[observable]]");
    out.line("name", toml_of(observable.name));
    if (!observable.formula.empty()) out.line("formula", toml_of(observable.formula));
    out.line("statistics", toml_of(observable.statistics));
    out.given("quantiles", observable.quantiles);
    if (const auto& h = observable.histogram)
      out.line("histogram",
               fmt::format("{{ from = {}, to = {}, bins = {} }}", toml_of(h->from), toml_of(h->to), h->bins));
    out.given("correlation", observable.correlation);
    out.line("reference",
             observable.reference == ErrorReference::initial() ? "\"initial\"" : toml_of(observable.reference.number));
    if (observable.values) out.line("values", toml_of_flag(true));
  }
  for (const Section& section : sections) {
    out.table("[[section]]");
    out.line("name", toml_of(section.name));
    out.line("surface", toml_of(section.surface));
    out.line("direction", section.direction == 0 ? "\"both\"" : section.direction > 0 ? "\"+\"" : "\"-\"");
  }
  for (const Fit& fit : fits) {
    out.table("[[fit]]");
    out.line("name", toml_of(fit.name));
    out.line("observable", toml_of(fit.observable));
    out.line("statistic", toml_of(fit.statistic));
    out.line("model", toml_of(std::string(fit_models[static_cast<int>(fit.model)])));
    if (fit.from) out.line("from", toml_of(*fit.from));
    if (fit.to) out.line("to", toml_of(*fit.to));
  }
  out.table("[output]");
  out.line("trajectories", output.all_trajectories ? "\"all\"" : toml_of(output.trajectories));
  out.line("initial_state", toml_of_flag(output.initial_state));
  out.line("final_state", toml_of_flag(output.final_state));
  out.given("covariance", output.covariance);
  out.line("checkpoint", toml_of(output.checkpoint));
  return std::move(out).text();
}

}  // namespace rattleback

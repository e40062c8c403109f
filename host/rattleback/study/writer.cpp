// Study::to_toml writes the keys in the order of their rows.

#include "rattleback/language/model.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/tables.hpp"

namespace rattleback {
namespace {

class Writer {
 public:
  void header(std::string_view header) { text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", header); }
  void line(std::string_view key, std::string_view value) { text_ += fmt::format("{} = {}\n", key, value); }
  void lines(std::string_view text) { text_ += text; }
  template <class Object>
  void rows(std::span<const Field<Object>> fields, const Object& object) {
    write_fields(fields, object, [this](const char* key, const std::string& value) { line(key, value); });
  }
  template <class Object>
  void tables(std::string_view name, std::span<const Field<Object>> fields, const std::vector<Object>& objects) {
    for (const Object& object : objects) {
      header(name);
      rows(fields, object);
    }
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

/// Formulas keep the order of their parameters, in which their code is written.
void write_parameters(Writer& out, const Study::System& system) {
  std::string text;
  const auto add = [&](const std::string& name, const Value& value) {
    text += fmt::format("{} {} = {}", text.empty() ? "" : ",", name, toml_of(value));
  };
  for (const auto& parameter : system.formulas->parameters)
    if (const auto found = system.parameters.find(parameter.name); found != system.parameters.end())
      add(parameter.name, found->second);
  if (!text.empty()) out.line("parameters", fmt::format("{{{} }}", text));
}

void write_system(Writer& out, const Study::System& system) {
  out.header("[system]");
  if (system.formulas == nullptr) return out.rows<Study::System>(system_fields, system);
  out.line("name", toml_of(system.name));
  out.lines(system.formulas_text);
  write_parameters(out, system);
}

void write_method(Writer& out, const Study::Method& method) {
  out.header("[method]");
  out.line("name", toml_of(method.name));
  // The options keep the order of the method.
  if (const MethodEntry* entry = Catalogue::instance().method(method.name))
    for (const OptionInfo& option : entry->options)
      if (const auto found = method.options.find(option.name); found != method.options.end())
        out.line(found->first, rattleback::to_toml(found->second));
  out.line("solver", inline_table<Study::Method>(solver_fields, method));
}

void write_time(Writer& out, Study::Time time) {
  out.header("[time]");
  if (time.end) time.steps.reset();
  if (time.sample_every.value_or(0) != 0)
    time.samples.reset();
  else
    time.sample_every.reset();
  out.rows<Study::Time>(time_fields, time);
}

void write_ensemble(Writer& out, const Study& study) {
  Study::Ensemble ensemble = study.ensemble;
  out.header("[ensemble]");
  if (ensemble.states) ensemble.file = ensemble.states->file_name();
  if (ensemble.listed()) ensemble.file = std::filesystem::absolute(study.directory / ensemble.file).lexically_normal();
  const bool initial = !(ensemble.q.empty() && ensemble.v.empty() && ensemble.p.empty() && ensemble.lambda.empty());
  out.rows<Study::Ensemble>(ensemble_fields, ensemble);
  if (!initial) return;
  out.header("[ensemble.initial]");
  out.rows<Study::Ensemble>(initial_fields, ensemble);
}

}  // namespace

std::string to_toml(const MethodOption& value) {
  return std::visit([](const auto& x) { return Grammar<std::decay_t<decltype(x)>>::write(FieldInfo{}, x); },
                    value.content);
}

std::string Study::to_toml() const {
  Writer out;
  out.header("[study]");
  out.rows<Study>(study_fields, *this);
  write_system(out, system);
  write_method(out, method);
  write_time(out, time);
  write_ensemble(out, *this);
  out.tables<Observable>("[[observable]]", observable_fields, observables);
  out.tables<Section>("[[section]]", section_fields, sections);
  out.tables<Stop>("[[stop]]", stop_fields, stops);
  out.tables<Fate>("[[fate]]", fate_fields, fates);
  out.tables<Map>("[[map]]", map_fields, maps);
  out.tables<Average>("[[average]]", average_fields, averages);
  out.tables<Fit>("[[fit]]", fit_fields, fits);
  if (lyapunov.exponents || lyapunov.transient || lyapunov.metric != Lyapunov().metric) {
    out.header("[lyapunov]");
    out.rows<Lyapunov>(lyapunov_fields, lyapunov);
  }
  if (!derivatives.by.empty()) {
    out.header("[derivatives]");
    out.rows<Derivatives>(derivative_fields, derivatives);
  }
  out.header("[output]");
  out.rows<Output>(output_fields, output);
  return std::move(out).text();
}

}  // namespace rattleback

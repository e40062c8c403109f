#include "rattleback/study/fields.hpp"

#include <algorithm>
#include <cmath>

#include "rattleback/study/formulas_text.hpp"
#include "rattleback/study/machine_fields.hpp"
#include "rattleback/study/schema.hpp"
#include "rattleback/study/tables.hpp"

namespace rattleback {
namespace {

template <class Object>
void check_all(std::span<const Field<Object>> fields, const Object& object, const std::string& path,
               const Study& study) {
  for (const Field<Object>& field : fields) field.check_value(field, object, path_of(path, field.key), study);
}

}  // namespace

std::string path_of(std::string_view table, std::string_view key) {
  return table.empty() ? std::string(key) : fmt::format("{}.{}", table, key);
}

std::string FieldInfo::range() const {
  const bool below = std::isfinite(minimum), over = std::isfinite(maximum);
  const auto bound = [](double number) {
    std::string text = fmt::format("{}", number);
    if (const auto zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);  // 1e-6
    return text;
  };
  if (above && over) return fmt::format("above {} and at most {}", bound(minimum), bound(maximum));
  if (below && over) return fmt::format("in {} to {}", bound(minimum), bound(maximum));
  return below ? "at least " + bound(minimum) : "";
}

void FieldInfo::check(double number, const std::string& path, const std::string& where) const {
  if (!std::isfinite(minimum) && !std::isfinite(maximum)) return;
  if ((above ? number > minimum : number >= minimum) && number <= maximum) return;
  input_error(where, std::isfinite(maximum)
                         ? fmt::format("{} = {} is out of range; it must be {}", path, number, range())
                         : fmt::format("{} must be {}", path, range()));
}

void FieldInfo::check(const std::string& choice, const std::string& path, const std::string& where) const {
  const std::vector<std::string> known(choices.begin(), choices.end());
  if (std::ranges::find(known, choice) != known.end()) return;
  input_error(
      where, fmt::format("unknown {} {} (known: {}){}", path, quote(choice), join(known), did_you_mean(choice, known)));
}

/// Returns the tables of a study that have a key, for one that stands elsewhere: the end of a message, or nothing.
std::string home_of(std::string_view key) {
  std::vector<std::string> homes;
  for (const TableInfo& table : study_tables()) {
    const std::string_view path = table.path;
    if (path.empty() || std::ranges::find(table.fields, key, &FieldInfo::key) == table.fields.end()) continue;
    homes.push_back(path.ends_with("[]") ? fmt::format("[[{}]]", path.substr(0, path.size() - 2))
                                         : fmt::format("[{}]", path));
  }
  return homes.empty() || homes.size() > 3 ? "" : "; it is a key of " + join(homes);
}

void check_known(const toml::table& table, std::string_view path, std::span<const FieldInfo* const> rows) {
  for (const auto& [key, node] : table) {
    if (std::ranges::any_of(rows, [&key = key](const FieldInfo* row) { return row->key == key.str(); })) continue;
    std::vector<std::string> names;
    for (const FieldInfo* row : rows) names.emplace_back(row->key);
    const toml::source_region& source = key.source().path ? key.source() : node.source();
    const std::string home = home_of(key.str());
    input_error(place_of(source), fmt::format("unknown key {} {} (known: {}){}", quote(key.str()),
                                              path.empty() ? "at the top level" : fmt::format("in [{}]", path),
                                              join(names), home.empty() ? did_you_mean(key.str(), names) : home));
  }
}

void check_keys(const toml::table& table, std::string_view path, std::span<const FieldInfo* const> rows) {
  check_known(table, path, rows);
  for (const FieldInfo* row : rows) {
    if (const toml::node* node = table.get(row->key); node != nullptr && table.contains(row->excludes))
      input_error(place_of(node->source()),
                  fmt::format("{} and {} are both given (one follows from the other); leave one out",
                              path_of(path, row->excludes), path_of(path, row->key)));
    if (row->required() && !table.contains(row->key)) {
      std::string text = without_links(row->text);
      std::erase(text, '`');
      input_error(place_of(table.source()), path.empty()
                                                ? fmt::format("[{}] is missing", row->key)
                                                : fmt::format("{} is missing ({})", path_of(path, row->key), text));
    }
  }
}

const std::vector<TableInfo>& study_tables() {
  const auto rows = [](const auto& fields) { return std::vector<FieldInfo>(std::begin(fields), std::end(fields)); };
  static const std::vector<TableInfo> tables{{"", rows(root_fields)},
                                             {"study", rows(study_fields)},
                                             {"system", rows(system_fields)},
                                             {"body[]", rows(body_fields)},
                                             {"joint[]", rows(joint_fields)},
                                             {"method", rows(method_fields)},
                                             {"method.solver", rows(solver_fields)},
                                             {"time", rows(time_fields)},
                                             {"ensemble", rows(ensemble_fields)},
                                             {"ensemble.axes[]", rows(axis_fields)},
                                             {"ensemble.initial", rows(initial_fields)},
                                             {"observable[]", rows(observable_fields)},
                                             {"observable[].histogram", rows(histogram_fields)},
                                             {"section[]", rows(section_fields)},
                                             {"stop[]", rows(stop_fields)},
                                             {"fate[]", rows(fate_fields)},
                                             {"map[]", rows(map_fields)},
                                             {"average[]", rows(average_fields)},
                                             {"fit[]", rows(fit_fields)},
                                             {"lyapunov", rows(lyapunov_fields)},
                                             {"derivatives", rows(derivative_fields)},
                                             {"output", rows(output_fields)}};
  return tables;
}

void check_fields(const Study& study) {
  check_all<Study::Method>(solver_fields, study.method, "method.solver", study);
  Study::Time time = study.time;  // 0 steps, where nobody gave them, say that the step varies
  if (!study.places.contains("time.steps") && time.steps == 0) time.steps.reset();
  if (!study.places.contains("time.sample_every") && time.sample_every == 0) time.sample_every.reset();
  check_all<Study::Time>(time_fields, time, "time", study);
  check_all<Study::Ensemble>(ensemble_fields, study.ensemble, "ensemble", study);
  check_all<Study::Lyapunov>(lyapunov_fields, study.lyapunov, "lyapunov", study);
  check_all<Study::Output>(output_fields, study.output, "output", study);
}

}  // namespace rattleback

#include "rattleback/study/fields.hpp"

#include <algorithm>
#include <cmath>

#include "rattleback/study/formulas_text.hpp"
#include "rattleback/study/schema.hpp"
#include "rattleback/study/tables.hpp"

namespace rattleback {
namespace {

/// Adds a table, and those inside of it.
void add_tables(const std::string& path, const std::vector<FieldInfo>& rows, std::vector<TableInfo>& tables) {
  tables.push_back({path, rows});
  for (const FieldInfo& row : rows)
    if (row.table != nullptr) add_tables(path_of(path, row.key) + (row.list ? "[]" : ""), row.table(), tables);
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

bool FieldInfo::limits() const { return std::isfinite(minimum) || std::isfinite(maximum) || !choices.empty(); }

void FieldInfo::check(double number, const std::string& path, const std::string& where) const {
  if (!limits() || ((above ? number > minimum : number >= minimum) && number <= maximum)) return;
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

/// Returns the tables of a study that have a key, for one that stands elsewhere: the end of a message, or nothing. Tables inside of
/// others are named where those themselves do not have the key.
std::string home_of(std::string_view key) {
  std::vector<std::string> homes, inner;
  for (const TableInfo& table : study_tables()) {
    const std::string_view path = table.path;
    if (path.empty() || std::ranges::find(table.fields, key, &FieldInfo::key) == table.fields.end()) continue;
    if (const auto inside = path.find("[]."); inside != std::string_view::npos)
      inner.push_back(fmt::format("{} in [[{}]]", path.substr(inside + 3), path.substr(0, inside)));
    else
      homes.push_back(path.ends_with("[]") ? fmt::format("[[{}]]", path.substr(0, path.size() - 2))
                                           : fmt::format("[{}]", path));
  }
  if (homes.empty()) homes = std::move(inner);
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
  static const std::vector<TableInfo> tables = [] {
    std::vector<TableInfo> all;
    add_tables("", {std::begin(root_fields), std::end(root_fields)}, all);
    return all;
  }();
  return tables;
}

void check_fields(const Study& study) { check_rows<Study>(root_fields, study, "", study); }

}  // namespace rattleback

// The keys mass and inertia of a system, by velocity or by body.

#include <fmt/format.h>

#include <algorithm>

#include "rattleback/base/message.hpp"
#include "rattleback/language/table_reader.hpp"

namespace rattleback {
namespace {

/// Velocities that have one mass or one tensor.
struct Part {
  std::string name;  ///< of a body, or of a coordinate of R^n
  int first = 0, count = 0;
};

std::vector<std::string> names_of(const std::vector<Part>& parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(part.name);
  return names;
}

}  // namespace

std::vector<FormulaText> TableReader::matrix(const toml::node& node, const std::string& key, int size) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::vector<FormulaText>(at(size), formula(node, key));
  const auto length = [&](const toml::node& of, std::size_t given, const std::string& what) {
    if (given != at(size))
      input_error(place(of), fmt::format("{} has {} {}, and {} {} needed", what, given, entries(given), size,
                                         size == 1 ? "is" : "are"));
  };
  if (array->empty() || !array->get(0)->is_array()) {
    std::vector<FormulaText> diagonal = formulas(node, key);
    length(node, diagonal.size(), key);
    return diagonal;
  }
  length(node, array->size(), key);
  std::vector<FormulaText> rows;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const std::string row_key = fmt::format("{}[{}]", key, i);
    if (!array->get(i)->is_array()) wrong_type(*array->get(i), row_key, "a row, like the first");
    const std::vector<FormulaText> row = formulas(*array->get(i), row_key);
    length(*array->get(i), row.size(), row_key);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

void TableReader::read_mass(const BodyNames& bodies) {
  const int n = system_.n();
  const toml::node *inertia = table_.get("inertia"), *mass = table_.get("mass");
  if (inertia == nullptr && (mass == nullptr || !mass->is_table())) {
    if (mass != nullptr) system_.mass = matrix(*mass, "system.mass", n);
    return;
  }
  std::vector<Part> turning, moving;
  std::vector<int> moves;  // velocities that no rotation has
  bool in_space = true;    // all bodies turn in space
  {
    int first = 0, element = 0;
    std::size_t body = 0;
    for (const GroupFactor& factor : system_.group) {
      for (int i = 0; i < factor.moves(); ++i) moves.push_back(first + factor.first_move() + i);
      if (factor.is_body()) {
        turning.push_back({bodies.of(body), first + factor.first_turn(), factor.turns()});
        if (factor.moves() > 0) moving.push_back({bodies.of(body), first + factor.first_move(), factor.moves()});
        in_space = in_space && factor.turns() == 3;
        ++body;
      }
      for (int i = 0; i < factor.size && !factor.is_body(); ++i)
        moving.push_back({system_.coordinates[at(element + i)], first + i, 1});
      first += factor.size;
      element += factor.elements();
    }
  }
  std::vector<FormulaText> entries_of_mass(at(n * n), {"0", "system.mass", system_.where});
  const auto entry = [&](int i, int j) -> FormulaText& { return entries_of_mass[at(i * n + j)]; };
  for (int i = 0; i < n; ++i) entry(i, i).text = "1";
  bool diagonal = true;
  const auto put = [&](const Part& part, const std::vector<FormulaText>& block) {
    const bool rows = block.size() != at(part.count);
    diagonal = diagonal && !rows;
    for (int i = 0; i < part.count; ++i)
      for (int j = rows ? 0 : i; j < (rows ? part.count : i + 1); ++j)
        entry(part.first + i, part.first + j) = block[at(rows ? i * part.count + j : i)];
  };
  const auto read = [&](const toml::node& node, const std::string& key, const std::vector<Part>& parts) {
    if (const toml::table* table = node.as_table()) {
      const std::vector<std::string> names = names_of(parts);
      if (!bodies.given() && parts.front().name.starts_with(unnamed_body))
        input_error(place(node), fmt::format("{} is a table, and the bodies have no names; write an array, or name the "
                                             "bodies in system.bodies",
                                             key));
      check_keys(*table, key, names);
      for (const Part& part : parts) {
        const toml::node* value = table->get(part.name);
        if (value == nullptr)
          input_error(place(node), fmt::format("{}.{} is missing ({} needed)", key, part.name, join(names)));
        put(part, matrix(*value, fmt::format("{}.{}", key, part.name), part.count));
      }
      return;
    }
    const toml::array& array = *node.as_array();
    for (std::size_t i = 0; i < parts.size(); ++i)
      put(parts[i], matrix(*array.get(i), fmt::format("{}[{}]", key, i), parts[i].count));
  };
  if (inertia != nullptr) {
    if (turning.empty()) fail("inertia", "the system has no rotation; mass gives the inertia of coordinates");
    const toml::array* array = inertia->as_array();
    const bool one_for_all =
        turning.size() == 1 || array == nullptr ||
        (in_space && std::ranges::none_of(*array, [](const toml::node& node) { return node.is_array(); }));
    if (one_for_all && !inertia->is_table()) {
      for (const Part& part : turning) put(part, matrix(*inertia, "system.inertia", part.count));
    } else {
      if (array != nullptr && array->size() != turning.size())
        input_error(place(*inertia),
                    fmt::format("system.inertia has {} {}, and {} are needed, one for each body ({})", array->size(),
                                entries(array->size()), turning.size(), join(names_of(turning))));
      read(*inertia, "system.inertia", turning);
    }
  }
  if (mass != nullptr) {
    const toml::array* array = mass->as_array();
    if (moves.empty()) fail("mass", "beside inertia no velocity is left that needs it; leave it out");
    if (mass->is_table() || (array != nullptr && array->size() == moving.size() && moving.size() != moves.size())) {
      read(*mass, "system.mass", moving);
    } else {
      const std::vector<FormulaText> given = matrix(*mass, "system.mass", static_cast<int>(moves.size()));
      if (given.size() != moves.size())
        fail("mass", "it has rows beside inertia; write all of M as rows of mass, or mass as a diagonal");
      for (std::size_t i = 0; i < moves.size(); ++i) entry(moves[i], moves[i]) = given[i];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (!diagonal || i == j) system_.mass.push_back(std::move(entry(i, j)));
}

}  // namespace rattleback

#include "rattleback/study/state_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include "rattleback/base/message.hpp"

namespace rattleback {
namespace {

using Columns = std::vector<std::optional<StateColumn>>;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::uint64_t size_of(const StateNames& names, StatePart part) {
  const int size = part == StatePart::q ? names.elements : part == StatePart::lambda ? names.m : names.n;
  return static_cast<std::uint64_t>(size);
}

/// Returns the number of the state that q[2], q2, q_2 or q(2) means, in either case.
std::optional<StateColumn> by_index(std::string_view name, const StateNames& names) {
  const auto letters = static_cast<std::size_t>(
      std::ranges::find_if(name, [](unsigned char c) { return std::isalpha(c) == 0; }) - name.begin());
  const auto part = state_part(name.substr(0, letters));
  if (!part) return std::nullopt;
  std::string_view digits = name.substr(letters);
  if (digits.empty()) return size_of(names, *part) == 1 ? std::optional(StateColumn{*part, 0}) : std::nullopt;
  if ((digits.starts_with('[') && digits.ends_with(']')) || (digits.starts_with('(') && digits.ends_with(')')))
    digits = digits.substr(1, digits.size() - 2);
  else if (digits.starts_with('_'))
    digits.remove_prefix(1);
  std::uint64_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return StateColumn{*part, index};
}

/// The names that the system gives to numbers of the state.
std::map<std::string, StateColumn> given_names(const StateNames& names) {
  std::map<std::string, StateColumn> result;
  for (std::size_t i = 0; i < names.coordinates.size(); ++i)
    result.try_emplace(names.coordinates[i], StateColumn{StatePart::q, i});
  for (std::size_t i = 0; i < names.velocities.size(); ++i)
    result.try_emplace(names.velocities[i], StateColumn{StatePart::v, i});
  for (std::size_t i = 0; i < names.momenta.size(); ++i)
    result.try_emplace(names.momenta[i], StateColumn{StatePart::p, i});
  for (std::size_t i = 0; i < names.coordinates.size() && !names.on_group; ++i)
    for (const char* separator : {"_", ""}) {
      result.try_emplace(fmt::format("v{}{}", separator, names.coordinates[i]), StateColumn{StatePart::v, i});
      result.try_emplace(fmt::format("p{}{}", separator, names.coordinates[i]), StateColumn{StatePart::p, i});
    }
  return result;
}

std::optional<StateColumn> by_name(std::string_view name, const std::map<std::string, StateColumn>& given) {
  if (const auto found = given.find(std::string(name)); found != given.end()) return found->second;
  std::optional<StateColumn> result;  // in either case, where only one name fits
  for (const auto& [known, column] : given) {
    if (lower(known) != lower(name)) continue;
    if (result && *result != column) return std::nullopt;
    result = column;
  }
  return result;
}

/// Returns whether the columns of each part are 0, 1, .. without gap and repeat.
bool is_whole(const Columns& columns) {
  for (const StatePart part : state_parts) {
    std::vector<std::uint64_t> indices;
    for (const auto& column : columns)
      if (column && column->part == part) indices.push_back(column->index);
    std::ranges::sort(indices);
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (indices[i] != i) return false;
  }
  return true;
}

void check(std::span<const std::string> header, const Columns& columns, const Columns& named, const StateNames& names,
           const std::function<void(std::string)>& fail) {
  std::map<StatePart, std::set<std::uint64_t>> seen;
  std::map<StatePart, std::uint64_t> width;
  std::set<StatePart> with_names;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i]) continue;
    if (!seen[columns[i]->part].insert(columns[i]->index).second)
      fail(fmt::format("column {} appears twice", quote(header[i])));
    ++width[columns[i]->part];
    if (columns[i] == named[i]) with_names.insert(columns[i]->part);
  }
  for (const StatePart part : with_names) {
    const std::vector<std::string>& known = part == StatePart::v && !names.velocities.empty() ? names.velocities
                                            : part == StatePart::p && !names.momenta.empty()  ? names.momenta
                                                                                              : names.coordinates;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size_of(names, part), known.size()); ++i)
      if (!seen[part].contains(i))
        fail(
            fmt::format("has a column for a part of {0} and none for {0}[{1}], which belongs to {2}; name all of them, "
                        "or none, after the state",
                        name_of(part), i, quote(known[i])));
  }
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i] && columns[i]->index >= width[columns[i]->part])
      fail(fmt::format("column {} is out of sequence (indices go from 0 without a gap)", quote(header[i])));
}

}  // namespace

std::string_view name_of(StatePart part) {
  constexpr std::array<std::string_view, 4> names{"q", "v", "p", "lambda"};
  return names[static_cast<std::size_t>(part)];
}

std::optional<StatePart> state_part(std::string_view name) {
  for (const StatePart part : state_parts)
    if (lower(name) == name_of(part)) return part;
  return std::nullopt;
}

std::vector<std::string> StateNames::all() const {
  std::vector<std::string> result;
  for (const StatePart part : state_parts)
    for (std::uint64_t i = 0; i < size_of(*this, part); ++i) result.push_back(fmt::format("{}[{}]", name_of(part), i));
  for (const auto& [name, column] : given_names(*this)) result.push_back(name);
  return result;
}

std::string StateNames::in_words() const {
  std::string words = elements == 1 ? "q[0]" : fmt::format("q[0] .. q[{}]", elements - 1);
  if (!coordinates.empty()) words += " or " + join(coordinates);
  words += n == 1 ? ", and v[0]" : fmt::format(", and v[0] .. v[{}]", n - 1);
  if (!velocities.empty()) return words + " or " + join(velocities);
  if (coordinates.empty() || on_group) return words;
  std::vector<std::string> rates;
  for (const std::string& name : coordinates) rates.push_back("v_" + name);
  return words + " or " + join(rates);
}

std::vector<std::optional<StateColumn>> state_columns(std::span<const std::string> columns, const StateNames& names,
                                                      const std::function<void(std::string)>& fail) {
  const std::map<std::string, StateColumn> given = given_names(names);
  Columns indexed, named, index_first, name_first;
  for (const std::string& column : columns) {
    indexed.push_back(names.ignored.contains(column) ? std::nullopt : by_index(column, names));
    named.push_back(names.used.contains(column) || names.ignored.contains(column) ? std::nullopt
                                                                                  : by_name(column, given));
    index_first.push_back(indexed.back() ? indexed.back() : named.back());
    name_first.push_back(named.back() ? named.back() : indexed.back());
  }
  // A system may call its coordinates q1, q2, which are other numbers by their indices. Columns without a gap decide.
  if (index_first != name_first && is_whole(name_first)) {
    if (is_whole(index_first))
      fail(
          "names columns that are other numbers of the state as coordinates of the system than by their indices; write "
          "q[0], q[1], ..");
    index_first = name_first;
  }
  check(columns, index_first, named, names, fail);
  return index_first;
}

}  // namespace rattleback

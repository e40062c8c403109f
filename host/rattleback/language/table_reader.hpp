#pragma once
// Reads the values of a table [system]: texts, numbers, names and formulas, each with its place.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "rattleback/language/expression.hpp"
#include "rattleback/language/model.hpp"

namespace rattleback {

/// Returns "FILE:LINE", "--set KEY" or "".
[[nodiscard]] std::string place(const toml::source_region& source);
[[nodiscard]] std::string place(const toml::node& node);

/// What the readers of a table share. All functions throw Error(input) where the text is wrong.
class TableReader {
 protected:
  explicit TableReader(const toml::table& table) : table_(table) {}

  [[noreturn]] void fail(std::string_view key, std::string_view why) const;
  [[noreturn]] static void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted);
  static void check_keys(const toml::table& table, std::string_view path, const std::vector<std::string>& known);
  static void check_symbol(const std::string& name, const std::string& where, std::string_view what);

  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] static std::string string(const toml::node& node, std::string_view key);
  /// A number, or an expression in the names that have a value so far.
  [[nodiscard]] double number(const toml::node& node, const std::string& key) const;
  /// Returns the names of an array; "y[1..m]" stands for several.
  [[nodiscard]] std::vector<std::string> names(std::string_view key, std::string_view what) const;

  [[nodiscard]] static FormulaText formula(const toml::node& node, std::string key);
  [[nodiscard]] FormulaText optional_formula(std::string_view key) const;
  /// Returns the formulas of an array; "for i in 1..m: F" stands for m of them.
  [[nodiscard]] std::vector<FormulaText> formulas(const toml::node& node, const std::string& key);
  [[nodiscard]] std::vector<FormulaText> formulas(std::string_view key);
  /// Throws unless there is an entry for each velocity.
  void count(std::string_view key, std::size_t given, int needed) const;
  [[nodiscard]] static std::string_view entries(std::size_t count) { return count == 1 ? "entry" : "entries"; }

  /// Reads a formula for all of `size` velocities, a diagonal or rows: size or size^2 formulas.
  [[nodiscard]] std::vector<FormulaText> matrix(const toml::node& node, const std::string& key, int size);
  /// Reads the keys mass and inertia: the entries of M. The names of the system are known before.
  void read_mass(const BodyNames& bodies);

  void add_known(const std::string& name, double value, const std::string& where, std::string_view what);

  const toml::table& table_;
  SystemFormulas system_;
  std::vector<std::string> known_;  ///< dimensions and parameters
  std::vector<double> values_;

 private:
  /// The value of a bound: a whole number from `least` to 1000.
  [[nodiscard]] int bound(std::string_view text, const std::string& of, const std::string& where,
                          const std::map<std::string, int>& indices, int least) const;
  /// Appends a formula, or those for which "for i in 1..m: F" stands.
  void unfold(const FormulaText& formula, std::vector<FormulaText>& all, std::size_t& passes);
  void check_index(const FormulaText& formula, const std::string& name, std::size_t column) const;
};

}  // namespace rattleback

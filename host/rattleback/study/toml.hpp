#pragma once
// Reads TOML documents with overrides. Messages of conversions name the place.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/message.hpp"
#include "rattleback/formulas/model.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Throws Error(input) when the text is not TOML or nests too deeply, or when an override KEY=VALUE does not fit the
/// document.
[[nodiscard]] toml::table parse_document(std::string_view text, std::string_view origin,
                                         std::span<const std::string> overrides);

/// Returns whether an option on the command line gave the node, not the file.
[[nodiscard]] bool from_option(const toml::node& node);

/// Returns "FILE:LINE", "--set KEY", or "".
[[nodiscard]] std::string place_of(const toml::source_region& source);

[[noreturn]] void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted);

// These functions convert single nodes. `key` is the full key, for messages.

/// Throws for an empty text, because the user can leave the key out.
[[nodiscard]] std::string to_text(const toml::node& node, const std::string& key);
[[nodiscard]] bool to_flag(const toml::node& node, const std::string& key);
[[nodiscard]] std::uint64_t to_count(const toml::node& node, const std::string& key);
[[nodiscard]] Value to_value(const toml::node& node, const std::string& key);
[[nodiscard]] double to_number(const toml::node& node, const std::string& key);

/// A table that has only known keys.
class Section {
 public:
  Section(const toml::table& table, std::string path, const std::vector<std::string>& names);

  [[nodiscard]] std::string path(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  [[nodiscard]] std::string where() const { return place_of(table_.source()); }
  [[nodiscard]] const toml::node* find(std::string_view key) const { return table_.get(key); }

  /// Stores convert(node, full key) in `target` if the key is present.
  template <class Target, class Convert>
  void read(std::string_view key, Target& target, Convert convert) const {
    if (const toml::node* node = find(key)) target = convert(*node, path(key));
  }
  template <class Target, class Convert>
  void require(std::string_view key, Target& target, Convert convert) const {
    if (find(key) == nullptr) input_error(where(), fmt::format("{} is missing", path(key)));
    read(key, target, convert);
  }

  /// Throws when both keys are present.
  void exclude(std::string_view a, std::string_view b) const;

  /// Returns the table of a key; null when the key is absent.
  [[nodiscard]] const toml::table* table(std::string_view key) const;

  /// Returns the converted elements of an array; empty when the key is absent.
  template <class Convert>
  [[nodiscard]] auto elements(std::string_view key, std::string_view wanted, Convert convert) const {
    std::vector<decltype(convert(table_, path_))> result;
    const toml::node* node = find(key);
    if (node == nullptr) return result;
    const toml::array* array = node->as_array();
    if (array == nullptr) wrong_type(*node, path(key), wanted);
    for (std::size_t i = 0; i < array->size(); ++i) {
      result.push_back(convert(*array->get(i), fmt::format("{}[{}]", path(key), i)));
    }
    return result;
  }

 private:
  const toml::table& table_;
  std::string path_;
};

}  // namespace rattleback

#pragma once
// Documents of TOML as studies take them: overrides, and conversions whose messages name the place.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/message.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Throws Error(input) where the text is no TOML or nested too deeply, or where an override KEY=VALUE has no place in it.
[[nodiscard]] toml::table parse_document(std::string_view text, std::string_view origin,
                                         std::span<const std::string> overrides);

/// "FILE:LINE", "--set KEY", or "".
[[nodiscard]] std::string place_of(const toml::source_region& source);

[[noreturn]] void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted);

// Conversion of single nodes; `key` is the full key, for messages.

/// Not the empty text: that says nothing which leaving the key out does not say.
[[nodiscard]] std::string to_text(const toml::node& node, const std::string& key);
[[nodiscard]] bool to_flag(const toml::node& node, const std::string& key);
[[nodiscard]] std::uint64_t to_count(const toml::node& node, const std::string& key);
[[nodiscard]] Value to_value(const toml::node& node, const std::string& key);
[[nodiscard]] double to_number(const toml::node& node, const std::string& key);

/// A table whose keys are all known.
class Section {
 public:
  Section(const toml::table& table, std::string path, const std::vector<std::string>& names);

  [[nodiscard]] std::string path(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  [[nodiscard]] std::string where() const { return place_of(table_.source()); }
  [[nodiscard]] const toml::node* find(std::string_view key) const { return table_.get(key); }

  /// Stores convert(node, full key) in `target` if the key is there.
  template <class Target, class Convert>
  void read(std::string_view key, Target& target, Convert convert) const {
    if (const toml::node* node = find(key)) target = convert(*node, path(key));
  }
  template <class Target, class Convert>
  void require(std::string_view key, Target& target, Convert convert) const {
    if (find(key) == nullptr) input_error(where(), fmt::format("{} is missing", path(key)));
    read(key, target, convert);
  }

  /// Throws when both keys are there.
  void exclude(std::string_view a, std::string_view b) const;

  /// The table of a key; null when the key is absent.
  [[nodiscard]] const toml::table* table(std::string_view key) const;

  /// The converted elements of an array; empty when the key is absent.
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

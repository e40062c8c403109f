#pragma once
// The options of a method are a struct, its settings, with one member for each option. A table of `option`s gives the members their
// names in a study. The checks of a study, the effective study, `describe` and the numbers of the step follow from the struct and the
// table. Host only.
//
//   struct MySettings {
//     int stages = 2;
//     bool compensated = false;
//   };
//   inline constexpr OptionInfo my_options[] = {
//       option<&MySettings::stages>({.name = "stages", .text = "..", .minimum = 2, .maximum = 5, .compiled = true}),
//       option<&MySettings::compensated>({.name = "compensated", .text = ".."})};
//   inline Settlement settle_my_method(const MySettings& settings, const SystemEntry& system) {
//     return Settlement::of(MyNumbers{..});  // MyStep::Numbers
//   }
//   inline constexpr MethodEntry my_method{.., .options = my_options, .settle = by_settings<my_options, settle_my_method>};

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// The value of a matrix option, row by row; no rows where a study gives none.
struct MatrixSetting {
  int rows = 0;
  std::vector<double> numbers;
};

/// What a method makes of its settings: the numbers that its step is constructed with, unless it refuses the settings. It may also
/// take them with a warning.
struct Settlement {
  Settled verdict = Settled::good;
  std::string message;  ///< of a refusal or a warning: what is wrong, why, and what to do instead
  std::array<double, max_method_numbers> numbers{};

  /// The numbers of a step, Step::Numbers; those of a step with fewer are followed by zeros.
  template <class Numbers>
  static Settlement of(const Numbers& numbers) {
    static_assert(is_method_numbers<Numbers>);
    Settlement settlement;
    std::memcpy(settlement.numbers.data(), &numbers, sizeof numbers);
    return settlement;
  }
  static Settlement refused(std::string message) { return {Settled::refused, std::move(message), {}}; }
};

namespace detail {

template <class Pointer>
struct MemberOf;
template <class Settings, class Member>
struct MemberOf<Member Settings::*> {
  using settings = Settings;
  using type = Member;
};

template <class Member>
constexpr OptionKind kind_of_member(bool has_choices) {
  if (has_choices) return OptionKind::choice;
  if constexpr (std::is_same_v<Member, bool>) return OptionKind::flag;
  if constexpr (std::is_same_v<Member, int>) return OptionKind::integer;
  if constexpr (std::is_same_v<Member, double>) return OptionKind::number;
  if constexpr (std::is_same_v<Member, std::vector<double>>) return OptionKind::numbers;
  if constexpr (std::is_same_v<Member, MatrixSetting>) return OptionKind::matrix;
  return OptionKind::choice;  // an enumeration, whose names are missing
}

template <class Member>
Member member_from(const OptionValue& value) {
  if constexpr (std::is_same_v<Member, MatrixSetting>) {
    return {value.rows, {value.numbers.begin(), value.numbers.end()}};
  } else if constexpr (std::is_same_v<Member, std::vector<double>>) {
    return {value.numbers.begin(), value.numbers.end()};
  } else if constexpr (std::is_same_v<Member, bool>) {
    return value.number != 0.0;
  } else if constexpr (std::is_same_v<Member, double>) {
    return value.number;
  } else {
    return static_cast<Member>(static_cast<int>(value.number));
  }
}

}  // namespace detail

/// The option whose value becomes `member`. Its kind follows from the type of the member: bool, int, double, std::vector<double> or
/// MatrixSetting, or with `choices` an enumeration (or an int) in their order. Its default is the initial value of the member; a list
/// has its default in `standard_numbers`. `Settings` is to be named where the member belongs to a base of the settings.
template <auto member, class Settings = typename detail::MemberOf<decltype(member)>::settings>
consteval OptionInfo option(OptionInfo info) {
  using Member = typename detail::MemberOf<decltype(member)>::type;
  info.kind = detail::kind_of_member<Member>(!info.choices.empty());
  if constexpr (std::is_arithmetic_v<Member> || std::is_enum_v<Member>)
    info.standard = static_cast<double>(Settings{}.*member);
  info.assign = [](void* settings, const OptionValue& value) {
    static_cast<Settings*>(settings)->*member = detail::member_from<Member>(value);
  };
  return info;
}

/// The settings that the values of all options, in their order, stand for.
template <class Settings>
Settings read_settings(std::span<const OptionInfo> options, std::span<const OptionValue> values) {
  Settings settings{};
  for (std::size_t i = 0; i < std::min(options.size(), values.size()); ++i) options[i].assign(&settings, values[i]);
  return settings;
}

namespace detail {

template <const auto& options, auto function>
struct BySettings;
template <const auto& options, class Result, class Settings, class... Rest,
          Result (*function)(const Settings&, Rest...)>
struct BySettings<options, function> {
  static Result call(std::span<const OptionValue> values, Rest... rest) {
    return function(read_settings<Settings>(options, values), rest...);
  }
};

}  // namespace detail

/// A function of a method's settings as an entry takes it: a function of the values of its options.
template <const auto& options, auto function>
inline constexpr auto by_settings = &detail::BySettings<options, function>::call;

/// For MethodEntry::symmetric.
inline bool always_symmetric(std::span<const OptionValue>, const SystemEntry&) { return true; }
inline bool symmetric_on_rn(std::span<const OptionValue>, const SystemEntry& system) { return !system.on_group; }

/// The order of a method whose options do not change it (MethodEntry::order_of).
template <int order>
int constant_order(std::span<const OptionValue>, const SystemEntry&) {
  return order;
}

}  // namespace rattleback

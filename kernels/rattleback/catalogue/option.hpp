#pragma once
// Options of methods, which are the keys of [method] in a study besides `name` and `solver`. Like the types of entry.hpp these are plain
// data, because translation units for different instruction sets share them.

#include <span>
#include <type_traits>

namespace rattleback {

enum class OptionKind {
  integer,
  choice,  ///< one of several names
  number,
  flag,
  numbers,  ///< a list of any length
  matrix,   ///< a list of rows of equal length; no default
};

/// The systems that an option is for.
enum class OptionScope {
  all,
  /// The option makes no difference on R^n and is allowed there; all its values agree on the group R^n.
  groups_matter,
  groups_only,     ///< an error on R^n
  rn_only,         ///< an error on groups; all its values agree there
  holonomic_only,  ///< an error without a holonomic constraint; all its values agree there
};

struct OptionValue;

/// An option of a method. `option` (catalogue/settings.hpp) fills in kind, default and assign from a member of the
/// method's settings.
struct OptionInfo {
  const char* name;
  const char* text;
  OptionKind kind = OptionKind::integer;
  double standard = 0.0;  ///< default of one number: 0 or 1 for a flag, the index for a choice
  double minimum = -__builtin_huge_val(),
         maximum = __builtin_huge_val();      ///< bounds of an integer, of a number, and of each number of a list
  std::span<const char* const> choices = {};  ///< names of a choice
  /// C++ types or values that stand for the choices of a compiled option in the step (MethodEntry::step).
  std::span<const char* const> types = {};
  std::span<const double> standard_numbers = {};  ///< default of a list of numbers
  /// The option is an integer or a choice, and every value of it is a kernel of its own, compiled when a study asks for it. The other
  /// options reach the step as numbers.
  bool compiled = false;
  /// Titles of kernels and summaries do not mention the option while it has its default.
  bool unnamed = false;
  OptionScope scope = OptionScope::all;
  void (*assign)(void* settings, const OptionValue& value) = nullptr;  ///< sets the member of the method's settings
};

/// An option that related methods have and this one has not. A study that gives it is refused with the reason.
struct MissingOption {
  const char* name;
  const char* reason;
};

/// The value of an option in a study.
struct OptionValue {
  double number;                    ///< one number: 0 or 1 for a flag, the index for a choice
  std::span<const double> numbers;  ///< a list of numbers; a matrix row by row
  int rows = 0;                     ///< number of rows of a matrix
};

/// The verdict on the values of a method's options.
enum class Settled { good, doubtful, refused };

/// Key of a method's compiled loop: the values of the compiled options (the index for a choice), in the entry's order,
/// then zeros.
inline constexpr int max_compiled_options = 4;
struct PairKey {
  int value[max_compiled_options];
  friend bool operator==(const PairKey&, const PairKey&) = default;
};

/// Largest count of numbers that a step may take from the options of its method.
inline constexpr int max_method_numbers = 328;

/// Whether `Numbers` may be the numbers of a step: a struct of doubles.
template <class Numbers>
inline constexpr bool is_method_numbers =
    std::is_trivially_copyable_v<Numbers> && alignof(Numbers) == alignof(double) &&
    sizeof(Numbers) <= max_method_numbers * sizeof(double);

}  // namespace rattleback

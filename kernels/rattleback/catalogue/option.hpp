#pragma once
// Options of methods: the keys of [method] in a study beyond its name and the solver. Plain data, like entry.hpp.

#include <span>

namespace rattleback {

enum class OptionKind {
  integer,
  choice,  ///< one of several names
  number,
  flag,
  numbers,  ///< a list of any length
  matrix,   ///< a list of rows of any, but the same, length; none unless given
};

/// The systems that an option is for.
enum class OptionScope {
  all,
  groups_matter,  ///< makes no difference on R^n, and may be given there: R^n is the group on which all its values agree
  groups_only,    ///< an error on R^n
};

struct OptionInfo {
  const char* name;
  OptionKind kind;
  const char* text;
  double standard = 0.0;  ///< default of one number: 0 or 1 of a flag, the index of a choice
  double minimum = -__builtin_huge_val(),
         maximum = __builtin_huge_val();          ///< of an integer, a number, and each of several
  std::span<const char* const> choices = {};      ///< of a choice
  std::span<const double> standard_numbers = {};  ///< default of several numbers
  /// An integer or choice with compiled loops of its own for every value. The others reach the step as numbers.
  bool compiled = false;
  OptionScope scope = OptionScope::all;
};

/// What a study sets an option to.
struct OptionValue {
  double number;                    ///< one number: of a flag 0 or 1, of a choice its index
  std::span<const double> numbers;  ///< several; of a matrix row by row
  int rows = 0;                     ///< of a matrix
};

/// What becomes of the values of a method's options.
enum class Settled { good, doubtful, refused };

/// Which of a method's compiled loops: the values of its compiled options (of a choice its index), in their order, then 0.
inline constexpr int max_compiled_options = 4;
struct PairKey {
  int value[max_compiled_options];
  friend bool operator==(const PairKey&, const PairKey&) = default;
};

/// Numbers a step may take from its method's options.
inline constexpr int max_method_numbers = 192;

}  // namespace rattleback

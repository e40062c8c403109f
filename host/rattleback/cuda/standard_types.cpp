// The part of <type_traits>, <concepts>, <cstdint>, <utility> and <algorithm> that kernels may use.

#include "rattleback/cuda/standard.hpp"

namespace rattleback::standard {

// NVRTC has std::move, std::forward and std::initializer_list.
const char types[] = R"text(#ifndef RATTLEBACK_STANDARD_TYPES
#define RATTLEBACK_STANDARD_TYPES

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;

namespace std {

using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using nullptr_t = decltype(nullptr);
using ::int8_t, ::int16_t, ::int32_t, ::uint8_t, ::uint16_t, ::uint32_t;
using int64_t = long;
using uint64_t = unsigned long;
using intptr_t = long;
using uintptr_t = unsigned long;

// --- type_traits

template <class T, T v>
struct integral_constant {
  using value_type = T;
  using type = integral_constant;
  static constexpr T value = v;
  constexpr operator T() const noexcept { return v; }
  constexpr T operator()() const noexcept { return v; }
};
template <bool v>
using bool_constant = integral_constant<bool, v>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = T;
template <class...>
using void_t = void;
template <bool, class A, class B>
struct conditional : type_identity<A> {};
template <class A, class B>
struct conditional<false, A, B> : type_identity<B> {};
template <bool c, class A, class B>
using conditional_t = typename conditional<c, A, B>::type;
template <bool, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> : type_identity<T> {};
template <bool c, class T = void>
using enable_if_t = typename enable_if<c, T>::type;

template <class T>
struct remove_const : type_identity<T> {};
template <class T>
struct remove_const<const T> : type_identity<T> {};
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
struct remove_cv : type_identity<T> {};
template <class T>
struct remove_cv<const T> : type_identity<T> {};
template <class T>
struct remove_cv<volatile T> : type_identity<T> {};
template <class T>
struct remove_cv<const volatile T> : type_identity<T> {};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
struct remove_reference : type_identity<T> {};
template <class T>
struct remove_reference<T&> : type_identity<T> {};
template <class T>
struct remove_reference<T&&> : type_identity<T> {};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T>
struct remove_cvref : type_identity<remove_cvref_t<T>> {};
template <class T>
struct remove_extent : type_identity<T> {};
template <class T>
struct remove_extent<T[]> : type_identity<T> {};
template <class T, size_t n>
struct remove_extent<T[n]> : type_identity<T> {};
template <class T>
using remove_extent_t = typename remove_extent<T>::type;
template <class T>
struct remove_pointer : type_identity<T> {};
template <class T>
struct remove_pointer<T*> : type_identity<T> {};
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T>
inline constexpr bool is_lvalue_reference_v = false;
template <class T>
inline constexpr bool is_lvalue_reference_v<T&> = true;
template <class T>
inline constexpr bool is_rvalue_reference_v = false;
template <class T>
inline constexpr bool is_rvalue_reference_v<T&&> = true;
template <class T>
inline constexpr bool is_reference_v = is_lvalue_reference_v<T> || is_rvalue_reference_v<T>;
template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<const T> = true;
template <class T>
inline constexpr bool is_pointer_v = false;
template <class T>
inline constexpr bool is_pointer_v<T*> = true;
template <class T>
inline constexpr bool is_array_v = false;
template <class T>
inline constexpr bool is_array_v<T[]> = true;
template <class T, size_t n>
inline constexpr bool is_array_v<T[n]> = true;
template <class T, class... Us>
inline constexpr bool is_one_of = (is_same_v<remove_cv_t<T>, Us> || ...);
template <class T>
inline constexpr bool is_void_v = is_one_of<T, void>;
template <class T>
inline constexpr bool is_floating_point_v = is_one_of<T, float, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_one_of<T, bool, char, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t, short, unsigned short,
              int, unsigned, long, unsigned long, long long, unsigned long long>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_signed_v = false;
template <class T>
  requires(is_arithmetic_v<T>)
inline constexpr bool is_signed_v<T> = T(-1) < T(0);
template <class T>
inline constexpr bool is_unsigned_v = is_arithmetic_v<T> && !is_signed_v<T>;
template <class T>
inline constexpr bool is_enum_v = __is_enum(T);
template <class T>
inline constexpr bool is_class_v = __is_class(T);
template <class T>
inline constexpr bool is_empty_v = __is_empty(T);
template <class A, class B>
inline constexpr bool is_base_of_v = __is_base_of(A, B);
template <class A, class B>
inline constexpr bool is_convertible_v = __is_convertible_to(A, B);
template <class T, class... Us>
inline constexpr bool is_constructible_v = __is_constructible(T, Us...);
template <class T>
inline constexpr bool is_default_constructible_v = __is_constructible(T);
template <class A, class B>
inline constexpr bool is_assignable_v = __is_assignable(A, B);
template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T>
inline constexpr bool is_aggregate_v = __is_aggregate(T);

#define RATTLEBACK_TRAIT(name) \
  template <class... Ts>       \
  struct name : bool_constant<name##_v<Ts...>> {};
RATTLEBACK_TRAIT(is_constructible)
#undef RATTLEBACK_TRAIT
#define RATTLEBACK_TRAIT(name) \
  template <class T>           \
  struct name : bool_constant<name##_v<T>> {};
RATTLEBACK_TRAIT(is_void)
RATTLEBACK_TRAIT(is_const)
RATTLEBACK_TRAIT(is_pointer)
RATTLEBACK_TRAIT(is_array)
RATTLEBACK_TRAIT(is_reference)
RATTLEBACK_TRAIT(is_floating_point)
RATTLEBACK_TRAIT(is_integral)
RATTLEBACK_TRAIT(is_arithmetic)
RATTLEBACK_TRAIT(is_signed)
RATTLEBACK_TRAIT(is_unsigned)
RATTLEBACK_TRAIT(is_enum)
RATTLEBACK_TRAIT(is_class)
RATTLEBACK_TRAIT(is_empty)
RATTLEBACK_TRAIT(is_default_constructible)
RATTLEBACK_TRAIT(is_trivially_copyable)
RATTLEBACK_TRAIT(is_aggregate)
#undef RATTLEBACK_TRAIT
#define RATTLEBACK_TRAIT(name) \
  template <class A, class B>  \
  struct name : bool_constant<name##_v<A, B>> {};
RATTLEBACK_TRAIT(is_same)
RATTLEBACK_TRAIT(is_base_of)
RATTLEBACK_TRAIT(is_convertible)
RATTLEBACK_TRAIT(is_assignable)
#undef RATTLEBACK_TRAIT

template <class... Ts>
inline constexpr bool conjunction_v = (bool(Ts::value) && ...);
template <class... Ts>
inline constexpr bool disjunction_v = (bool(Ts::value) || ...);
template <class T>
inline constexpr bool negation_v = !bool(T::value);
template <class... Ts>
struct conjunction : bool_constant<conjunction_v<Ts...>> {};
template <class... Ts>
struct disjunction : bool_constant<disjunction_v<Ts...>> {};
template <class T>
struct negation : bool_constant<negation_v<T>> {};

template <class T>
T&& declval() noexcept;
template <class T>
struct decay {
  using U = remove_reference_t<T>;
  using type = conditional_t<is_array_v<U>, remove_extent_t<U>*, remove_cv_t<U>>;
};
template <class T>
using decay_t = typename decay<T>::type;
template <class T>
struct underlying_type : type_identity<__underlying_type(T)> {};
template <class T>
using underlying_type_t = typename underlying_type<T>::type;
template <class... Ts>
struct common_type;
template <class T>
struct common_type<T> : type_identity<decay_t<T>> {};
template <class A, class B>
struct common_type<A, B> : type_identity<decay_t<decltype(false ? declval<A>() : declval<B>())>> {};
template <class... Ts>
using common_type_t = typename common_type<Ts...>::type;
template <class F, class... Ts>
struct invoke_result : type_identity<decltype(declval<F>()(declval<Ts>()...))> {};
template <class F, class... Ts>
using invoke_result_t = typename invoke_result<F, Ts...>::type;
template <class F, class... Ts>
inline constexpr bool is_invocable_v = requires(F&& f, Ts&&... xs) { static_cast<F&&>(f)(static_cast<Ts&&>(xs)...); };
constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

// --- concepts

template <class A, class B>
concept same_as = is_same_v<A, B> && is_same_v<B, A>;
template <class A, class B>
concept derived_from = is_base_of_v<B, A> && is_convertible_v<const volatile A*, const volatile B*>;
template <class A, class B>
concept convertible_to = is_convertible_v<A, B> && requires { static_cast<B>(declval<A>()); };
template <class T>
concept integral = is_integral_v<T>;
template <class T>
concept signed_integral = integral<T> && is_signed_v<T>;
template <class T>
concept unsigned_integral = integral<T> && !signed_integral<T>;
template <class T>
concept floating_point = is_floating_point_v<T>;
template <class T, class... Us>
concept constructible_from = is_constructible_v<T, Us...>;
template <class T>
concept default_initializable = constructible_from<T> && requires { T{}; };
template <class F, class... Ts>
concept invocable = is_invocable_v<F, Ts...>;
template <class F, class... Ts>
concept predicate = invocable<F, Ts...> && convertible_to<invoke_result_t<F, Ts...>, bool>;

// --- utility, algorithm

template <class T, T... values>
struct integer_sequence {
  using value_type = T;
  static constexpr size_t size() noexcept { return sizeof...(values); }
};
template <size_t... values>
using index_sequence = integer_sequence<size_t, values...>;
namespace sequences {
template <class T, int n, T... values>
struct make : make<T, n - 1, T(n - 1), values...> {};
template <class T, T... values>
struct make<T, 0, values...> : type_identity<integer_sequence<T, values...>> {};
}  // namespace sequences
template <class T, T n>
using make_integer_sequence = typename sequences::make<T, int(n)>::type;
template <size_t n>
using make_index_sequence = make_integer_sequence<size_t, n>;
template <class... Ts>
using index_sequence_for = make_index_sequence<sizeof...(Ts)>;

template <class T>
constexpr void swap(T& a, T& b) {
  T c = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(c);
}
template <class T, class U = T>
constexpr T exchange(T& a, U&& b) {
  T old = static_cast<T&&>(a);
  a = static_cast<U&&>(b);
  return old;
}
template <class T>
constexpr const T& as_const(T& x) noexcept {
  return x;
}
template <class A, class B>
struct pair {
  using first_type = A;
  using second_type = B;
  A first;
  B second;
  friend constexpr bool operator==(const pair& x, const pair& y) { return x.first == y.first && x.second == y.second; }
};
template <class A, class B>
pair(A, B) -> pair<A, B>;

template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T>
constexpr T min(initializer_list<T> list) {
  T r = *list.begin();
  for (const T& x : list) r = x < r ? x : r;
  return r;
}
template <class T>
constexpr T max(initializer_list<T> list) {
  T r = *list.begin();
  for (const T& x : list) r = r < x ? x : r;
  return r;
}
template <class T>
constexpr const T& clamp(const T& x, const type_identity_t<T>& low, const type_identity_t<T>& high) {
  return x < low ? low : high < x ? high : x;
}
template <class I, class T>
constexpr void fill(I first, I last, const T& x) {
  for (; first != last; ++first) *first = x;
}
template <class I, class O>
constexpr O copy(I first, I last, O to) {
  for (; first != last; ++first, ++to) *to = *first;
  return to;
}

}  // namespace std

using std::int64_t, std::uint64_t, std::intptr_t, std::uintptr_t;

#endif
)text";

}  // namespace rattleback::standard

#include "rattleback/kernels/standard.hpp"

namespace rattleback {
namespace {

// What kernels and the headers of users take of it. NVRTC has std::move, std::forward and std::initializer_list, and the functions
// of <cmath> in the global namespace.
constexpr char text[] = R"text(#ifndef RATTLEBACK_STANDARD
#define RATTLEBACK_STANDARD

#define __builtin_fma(a, b, c) ::fma(double(a), double(b), double(c))
#define __builtin_fmaf(a, b, c) ::fmaf(float(a), float(b), float(c))
#define __builtin_sqrt(a) ::sqrt(double(a))
#define __builtin_fabs(a) ::fabs(double(a))
#define __builtin_huge_val() __builtin_bit_cast(double, 0x7ff0000000000000ul)
#define __builtin_nan(payload) __builtin_bit_cast(double, 0x7ff8000000000000ul)
#define __is_same(...) ::std::is_same_v<__VA_ARGS__>

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

// Each row: a trait that takes something off a type, and the types that have it.
#define RATTLEBACK_REMOVE(name, from, ...)       \
  template <class T>                             \
  struct name : type_identity<T> {};             \
  template <class T __VA_ARGS__>                 \
  struct name<from> : type_identity<T> {};       \
  template <class T>                             \
  using name##_t = typename name<T>::type;
RATTLEBACK_REMOVE(remove_const, const T)
RATTLEBACK_REMOVE(remove_volatile, volatile T)
RATTLEBACK_REMOVE(remove_lvalue, T&)
RATTLEBACK_REMOVE(remove_rvalue, T&&)
RATTLEBACK_REMOVE(remove_pointer, T*)
RATTLEBACK_REMOVE(remove_extent, T[n], , size_t n)
#undef RATTLEBACK_REMOVE
template <class T>
using remove_cv_t = remove_volatile_t<remove_const_t<T>>;
template <class T>
using remove_reference_t = remove_rvalue_t<remove_lvalue_t<T>>;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T>
inline constexpr bool is_array_v = !is_same_v<T, remove_extent_t<T>>;
template <class T>
inline constexpr bool is_pointer_v = !is_same_v<T, remove_pointer_t<T>>;
template <class T>
inline constexpr bool is_reference_v = !is_same_v<T, remove_reference_t<T>>;
template <class T>
inline constexpr bool is_const_v = !is_same_v<T, remove_const_t<T>>;
template <class T, class... Us>
inline constexpr bool is_one_of = (is_same_v<remove_cv_t<T>, Us> || ...);
template <class T>
inline constexpr bool is_void_v = is_one_of<T, void>;
template <class T>
inline constexpr bool is_floating_point_v = is_one_of<T, float, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_one_of<T, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
              long long, unsigned long long>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_enum_v = __is_enum(T);
template <class T>
inline constexpr bool is_class_v = __is_class(T);
template <class T>
inline constexpr bool is_empty_v = __is_empty(T);
template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class A, class B>
inline constexpr bool is_base_of_v = __is_base_of(A, B);
template <class A, class B>
inline constexpr bool is_convertible_v = __is_convertible_to(A, B);
template <class T, class... Us>
inline constexpr bool is_constructible_v = __is_constructible(T, Us...);
template <class A, class B>
struct is_same : bool_constant<is_same_v<A, B>> {};

template <class T>
T&& declval() noexcept;
template <class T>
using decay_t = conditional_t<is_array_v<remove_reference_t<T>>, remove_extent_t<remove_reference_t<T>>*, remove_cvref_t<T>>;
template <class F, class... Ts>
using invoke_result_t = decltype(declval<F>()(declval<Ts>()...));
template <class F, class... Ts>
inline constexpr bool is_invocable_v = requires { declval<F>()(declval<Ts>()...); };
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
concept floating_point = is_floating_point_v<T>;
template <class T, class... Us>
concept constructible_from = is_constructible_v<T, Us...>;
template <class T>
concept default_initializable = constructible_from<T> && requires { T{}; };
template <class F, class... Ts>
concept invocable = is_invocable_v<F, Ts...>;
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

// --- bit

template <class To, class From>
  requires(sizeof(To) == sizeof(From))
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

// --- limits

template <class T>
struct numeric_limits {  // of whole numbers
  static constexpr bool is_specialized = true, is_integer = true, is_signed = static_cast<T>(-1) < static_cast<T>(0);
  static constexpr int digits = is_same_v<T, bool> ? 1 : 8 * sizeof(T) - is_signed, radix = 2;
  static constexpr T max() noexcept { return static_cast<T>(0xfffffffffffffffful >> (64 - digits)); }
  static constexpr T min() noexcept { return is_signed ? static_cast<T>(-max() - 1) : static_cast<T>(0); }
  static constexpr T lowest() noexcept { return min(); }
};
#define RATTLEBACK_LIMITS(T, bits, smallest, largest, gap, tiny, infinite, not_a_number)                              \
  template <>                                                                                                         \
  struct numeric_limits<T> {                                                                                          \
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true, is_iec559 = true;              \
    static constexpr bool has_infinity = true, has_quiet_NaN = true;                                                  \
    static constexpr int digits = bits, radix = 2;                                                                    \
    static constexpr T min() noexcept { return smallest; }                                                            \
    static constexpr T lowest() noexcept { return -largest; }                                                         \
    static constexpr T max() noexcept { return largest; }                                                             \
    static constexpr T epsilon() noexcept { return gap; }                                                             \
    static constexpr T denorm_min() noexcept { return tiny; }                                                         \
    static constexpr T infinity() noexcept { return bit_cast<T>(infinite); }                                          \
    static constexpr T quiet_NaN() noexcept { return bit_cast<T>(not_a_number); }                                     \
  };
RATTLEBACK_LIMITS(float, 24, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f, 0x1p-149f, 0x7f800000u, 0x7fc00000u)
RATTLEBACK_LIMITS(double, 53, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1p-52, 0x1p-1074, 0x7ff0000000000000ul,
                  0x7ff8000000000000ul)
#undef RATTLEBACK_LIMITS

// --- array, span, iterator

template <class T, size_t n>
struct array {
  using value_type = T;
  T elements[n > 0 ? n : 1];
  constexpr T* data() noexcept { return elements; }
  constexpr const T* data() const noexcept { return elements; }
  constexpr T* begin() noexcept { return elements; }
  constexpr const T* begin() const noexcept { return elements; }
  constexpr T* end() noexcept { return elements + n; }
  constexpr const T* end() const noexcept { return elements + n; }
  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  constexpr T& front() { return elements[0]; }
  constexpr const T& front() const { return elements[0]; }
  constexpr T& back() { return elements[n - 1]; }
  constexpr const T& back() const { return elements[n - 1]; }
  constexpr void fill(const T& x) {
    for (T& element : *this) element = x;
  }
  static constexpr size_t size() noexcept { return n; }
  static constexpr bool empty() noexcept { return n == 0; }
  friend constexpr bool operator==(const array& a, const array& b) {
    for (size_t i = 0; i < n; ++i)
      if (!(a.elements[i] == b.elements[i])) return false;
    return true;
  }
};
template <class T, class... Ts>
array(T, Ts...) -> array<T, 1 + sizeof...(Ts)>;
template <class T>
struct array<T, 0> {
  using value_type = T;
  constexpr T* data() const noexcept { return nullptr; }
  constexpr T* begin() const noexcept { return nullptr; }
  constexpr T* end() const noexcept { return nullptr; }
  constexpr T& operator[](size_t) const { return *begin(); }
  constexpr void fill(const T&) {}
  static constexpr size_t size() noexcept { return 0; }
  static constexpr bool empty() noexcept { return true; }
  friend constexpr bool operator==(const array&, const array&) { return true; }
};
template <size_t i, class T, size_t n>
constexpr T& get(array<T, n>& a) noexcept {
  return a.elements[i];
}
template <size_t i, class T, size_t n>
constexpr const T& get(const array<T, n>& a) noexcept {
  return a.elements[i];
}
template <class T, size_t n>
constexpr size_t size(const T (&)[n]) noexcept {
  return n;
}
template <class C>
constexpr auto size(const C& c) -> decltype(c.size()) {
  return c.size();
}
template <class C>
constexpr ptrdiff_t ssize(const C& c) {
  return static_cast<ptrdiff_t>(std::size(c));
}
inline constexpr size_t dynamic_extent = size_t(-1);
template <class T, size_t extent = dynamic_extent>
class span {
 public:
  using element_type = T;
  using value_type = remove_cv_t<T>;
  constexpr span() noexcept = default;
  constexpr span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t n>
  constexpr span(T (&a)[n]) noexcept : data_(a), size_(n) {}
  template <class C>
    requires(!is_array_v<remove_cvref_t<C>> && requires(C& c) {
      requires is_convertible_v<decltype(c.data()), T*>;
      c.size();
    })
  constexpr span(C&& c) : data_(c.data()), size_(c.size()) {}
  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr span<T> first(size_t n) const { return {data_, n}; }
  constexpr span<T> last(size_t n) const { return {data_ + (size_ - n), n}; }
  constexpr span<T> subspan(size_t from) const { return {data_ + from, size_ - from}; }
  constexpr span<T> subspan(size_t from, size_t n) const { return {data_ + from, n}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
span(T*, size_t) -> span<T>;
template <class T, size_t n>
span(T (&)[n]) -> span<T>;
template <class C>
span(C&& c) -> span<remove_pointer_t<decltype(c.data())>>;

// --- cmath, numbers

using ::ceil, ::copysign, ::fabs, ::floor, ::fma, ::fmax, ::fmin, ::fmod, ::frexp, ::ldexp, ::modf, ::nearbyint,
    ::remainder, ::rint, ::round, ::sqrt, ::trunc;
// Only host code may call these, so they are not defined: on a GPU they would give other bits than on a CPU.
double acos(double), acosh(double), asin(double), asinh(double), atan(double), atan2(double, double), atanh(double),
    cbrt(double), cos(double), cosh(double), exp(double), exp2(double), expm1(double), hypot(double, double),
    hypot(double, double, double), log(double), log10(double), log1p(double), log2(double), pow(double, double),
    sin(double), sinh(double), tan(double), tanh(double);
constexpr double abs(double x) { return x < 0.0 || bit_cast<unsigned long>(x) >> 63 != 0 ? -x : x; }
constexpr int abs(int x) { return x < 0 ? -x : x; }
constexpr long abs(long x) { return x < 0 ? -x : x; }
constexpr bool isfinite(double x) { return x - x == 0.0; }
constexpr bool isnan(double x) { return x != x; }
constexpr bool isinf(double x) { return x == x && x - x != 0.0; }
constexpr bool signbit(double x) { return bit_cast<unsigned long>(x) >> 63 != 0; }

namespace numbers {
template <class T>
inline constexpr T pi_v = T(3.141592653589793238462643383279502884);
template <class T>
inline constexpr T e_v = T(2.718281828459045235360287471352662498);
inline constexpr double pi = pi_v<double>, inv_pi = 0.318309886183790671537767526745028724, e = e_v<double>,
                        sqrt2 = 1.414213562373095048801688724209698079, sqrt3 = 1.732050807568877293527446341505872367,
                        ln2 = 0.693147180559945309417232121458176568, ln10 = 2.302585092994045684017991454684364208;
}  // namespace numbers

}  // namespace std

using std::int64_t, std::uint64_t, std::intptr_t, std::uintptr_t;

#define M_PI 3.14159265358979323846
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_bit_cast(float, 0x7f800000u)
#define NAN __builtin_bit_cast(float, 0x7fc00000u)

#endif
)text";

constexpr StandardHeader headers[] = {{"algorithm", text}, {"array", text},   {"bit", text},     {"cmath", text},
                                      {"concepts", text},  {"cstddef", text}, {"cstdint", text}, {"iterator", text},
                                      {"limits", text},    {"numbers", text}, {"span", text},    {"type_traits", text},
                                      {"utility", text}};

}  // namespace

std::span<const StandardHeader> standard_headers() { return headers; }

}  // namespace rattleback

#include "rattleback/cuda/standard.hpp"

namespace rattleback {
namespace {

// The functions of <cmath> are in NVRTC's global namespace.
constexpr char text[] = R"text(#ifndef RATTLEBACK_STANDARD
#define RATTLEBACK_STANDARD

#include "rattleback/standard_types"

#define __builtin_fma(a, b, c) ::fma(double(a), double(b), double(c))
#define __builtin_sqrt(a) ::sqrt(double(a))
#define __builtin_fabs(a) ::fabs(double(a))
#define __builtin_huge_val() __builtin_bit_cast(double, 0x7ff0000000000000ul)
#define __builtin_nan(payload) __builtin_bit_cast(double, 0x7ff8000000000000ul)
#define __is_same(...) ::std::is_same_v<__VA_ARGS__>

namespace std {

// --- bit

template <class To, class From>
  requires(sizeof(To) == sizeof(From))
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

// --- limits

template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = false;
};
#define RATTLEBACK_LIMITS(T, lowest_value, largest_value, digit_count)    \
  template <>                                                             \
  struct numeric_limits<T> {                                              \
    static constexpr bool is_specialized = true, is_integer = true;       \
    static constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0); \
    static constexpr int digits = digit_count, radix = 2;                 \
    static constexpr T min() noexcept { return lowest_value; }            \
    static constexpr T lowest() noexcept { return lowest_value; }         \
    static constexpr T max() noexcept { return largest_value; }           \
  };
RATTLEBACK_LIMITS(bool, false, true, 1)
RATTLEBACK_LIMITS(signed char, -128, 127, 7)
RATTLEBACK_LIMITS(unsigned char, 0, 255, 8)
RATTLEBACK_LIMITS(short, -32768, 32767, 15)
RATTLEBACK_LIMITS(unsigned short, 0, 65535, 16)
RATTLEBACK_LIMITS(int, -2147483647 - 1, 2147483647, 31)
RATTLEBACK_LIMITS(unsigned, 0, 0xffffffffu, 32)
RATTLEBACK_LIMITS(long, -0x7fffffffffffffffl - 1, 0x7fffffffffffffffl, 63)
RATTLEBACK_LIMITS(unsigned long, 0, 0xfffffffffffffffful, 64)
RATTLEBACK_LIMITS(long long, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll, 63)
RATTLEBACK_LIMITS(unsigned long long, 0, 0xffffffffffffffffull, 64)
#undef RATTLEBACK_LIMITS
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
template <class T>
struct tuple_size;
template <class T, size_t n>
struct tuple_size<array<T, n>> : integral_constant<size_t, n> {};
template <class A, class B>
struct tuple_size<pair<A, B>> : integral_constant<size_t, 2> {};
template <class T>
inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t i, class T>
struct tuple_element;
template <size_t i, class T, size_t n>
struct tuple_element<i, array<T, n>> : type_identity<T> {};

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
template <class T, size_t n>
constexpr T* data(T (&a)[n]) noexcept {
  return a;
}
template <class C>
constexpr auto data(C& c) -> decltype(c.data()) {
  return c.data();
}
template <class T, size_t n>
constexpr T* begin(T (&a)[n]) noexcept {
  return a;
}
template <class C>
constexpr auto begin(C& c) -> decltype(c.begin()) {
  return c.begin();
}
template <class T, size_t n>
constexpr T* end(T (&a)[n]) noexcept {
  return a + n;
}
template <class C>
constexpr auto end(C& c) -> decltype(c.end()) {
  return c.end();
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

#define M_PI 3.14159265358979323846
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_bit_cast(float, 0x7f800000u)
#define NAN __builtin_bit_cast(float, 0x7fc00000u)

#endif
)text";

constexpr StandardHeader headers[] = {
    {"rattleback/standard_types", standard::types},
    {"algorithm", text},
    {"array", text},
    {"bit", text},
    {"cmath", text},
    {"concepts", text},
    {"cstddef", text},
    {"cstdint", text},
    {"iterator", text},
    {"limits", text},
    {"numbers", text},
    {"span", text},
    {"type_traits", text},
    {"utility", text},
};

}  // namespace

std::span<const StandardHeader> standard_headers() { return headers; }

}  // namespace rattleback

#pragma once
// Truncated series of the tangent map of exp, and the corresponding velocities.
//
// A method of Runge-Kutta-Munthe-Kaas type moves in the chart exp(x) g and replaces the right-trivialised tangent of
// exp,
//
//   xi = dexp_x k,      dexp_x = sum_k ad_x^k/(k+1)!,      dexp_x^-1 = sum_k (B_k/k!) ad_x^k,
//
// by xi = D(x) k, where D is the truncated series of dexp, or the inverse of the truncated series of dexp^-1. In the
// frame of the body, where x is in the algebra at g and the configuration is g exp(x), the velocity is
//
//   eta = Ad_{exp(-x)} D(x) k,
//
// Without truncation eta is the left-trivialised dexp_{-x} k.

#include "rattleback/lie/lie.hpp"

RB_NAMESPACE_BEGIN

/// D(x) as numbers. Since ad_x^3 = -t ad_x with t = angle^2, a series reduces to 1 + a(t) ad_x + c(t)
/// ad_x^2. The numbers are a flag, 1 if D is the inverse of this expression, and the coefficients of the polynomials
/// a and c.
struct TangentSeries {
  static constexpr int terms = 3;
  /// Largest r for which a series may keep the terms up to ad_x^r; one less for the series of dexp.
  static constexpr int largest_cutoff = 2 * terms + 1;
  double inverse = 0.0, a[terms]{}, c[terms]{};

  /// D = (sum_{k <= r} (B_k/k!) ad_x^k)^-1; r = 0 gives the identity. An odd r > 1 gives the same as r - 1.
  static constexpr TangentSeries of_inverse(int cutoff) {
    TangentSeries series;
    constexpr double bernoulli[terms] = {1.0 / 12, 1.0 / 720, 1.0 / 30240};  // |B_2k|/(2k)!
    series.inverse = 1.0;
    if (cutoff > 0) series.a[0] = -0.5;
    for (int k = 0; k < terms && 2 * k + 2 <= cutoff; ++k) series.c[k] = bernoulli[k];
    return series;
  }
  /// D = sum_{k <= r} ad_x^k/(k+1)!.
  static constexpr TangentSeries of_tangent(int cutoff) {
    TangentSeries series;
    double coefficient = 1.0;
    for (int k = 1; k <= cutoff && k <= 2 * terms; ++k) {
      coefficient /= k + 1;
      const int term = (k - 1) / 2;
      (k % 2 == 1 ? series.a : series.c)[term] = term % 2 == 0 ? coefficient : -coefficient;
    }
    return series;
  }

  RB_HD bool inverted() const { return inverse != 0.0; }
  /// The coefficient of ad_x in D.
  RB_HD double first() const { return inverted() ? -a[0] : a[0]; }
  /// a(t), c(t) and their derivatives.
  template <class T>
  RB_HD void evaluate(const T& t, T& a_of_t, T& a_t, T& c_of_t, T& c_t) const {
    polynomial(a, t, a_of_t, a_t);
    polynomial(c, t, c_of_t, c_t);
  }

 private:
  template <class T>
  RB_HD static void polynomial(const double* p, const T& t, T& value, T& derivative) {
    value = T(p[terms - 1]);
    derivative = T(0.0);
    RB_UNROLL
    for (int i = terms - 2; i >= 0; --i) {
      derivative = fma(t, derivative, value);
      value = fma(t, value, T(p[i]));
    }
  }
};

/// The chart exp at x, with the map B = Ad_{exp(-x)} D(x):
///
///   velocity(k)         B k
///   velocity_star(m)    B^T m
///   variation(m, k)     grad_x <m, B(x) k> with m and k fixed
template <class G, class T>
class SeriesChart;

/// Groups with ad_x^3 = -t ad_x, where B = 1 + alpha ad_x + gamma ad_x^2.
template <class G, class T>
  requires std::derived_from<Chart<G, Exp, T>, detail::ExpTangent<G, T>>
class SeriesChart<G, T> : public Chart<G, Exp, T> {
  using Vec = Algebra<G, T>;

 public:
  RB_HD SeriesChart(const Vec& x, const TangentSeries& series) : Chart<G, Exp, T>(x) {
    const T t = this->e_.x;
    T a, a_t, c, c_t;
    series.evaluate(t, a, a_t, c, c_t);
    if (series.inverted()) {
      // (1 + a ad + c ad^2)^-1 = 1 - (a/z) ad + ((a^2 - c + c^2 t)/z) ad^2,   z = (1 - c t)^2 + a^2 t.
      const T u = T(1.0) - c * t, z = fma(u, u, a * a * t), inverse = T(1.0) / z;
      const T z_t = fma(T(-2.0) * u, fma(c_t, t, c), a * fma(T(2.0) * t, a_t, a));
      const T inverse_a = -a * inverse, inverse_c = fma(a, a, fma(c * t, c, -c)) * inverse;
      c_t = (T(2.0) * fma(a, a_t, c * c_t * t) + fma(c, c, -c_t) - inverse_c * z_t) * inverse;
      a_t = -fma(inverse_a, z_t, a_t) * inverse;
      a = inverse_a;
      c = inverse_c;
    }
    // The product with Ad_{exp(-x)} = 1 - E_1 ad + E_2 ad^2.
    const T e1 = this->e_[1], e2 = this->e_[2], e1_t = this->e_.derivative(1), e2_t = this->e_.derivative(2);
    const T w = fma(e1, c, -(e2 * a)), u = T(1.0) - t * c;
    const T w_t = fma(e1_t, c, e1 * c_t) - fma(e2_t, a, e2 * a_t);
    alpha_ = fma(t, w, a - e1);
    alpha_t_ = fma(t, w_t, w) + (a_t - e1_t);
    gamma_ = fma(e2, u, fma(-e1, a, c));
    gamma_t_ = fma(e2_t, u, c_t) - fma(e1_t, a, fma(e1, a_t, e2 * fma(t, c_t, c)));
  }

  RB_HD Vec velocity(const Vec& k) const { return this->series(alpha_, gamma_, k); }
  RB_HD Vec velocity_star(const Vec& m) const { return this->series_star(alpha_, gamma_, m); }
  RB_HD Vec variation(const Vec& m, const Vec& k) const {
    // The gradient of alpha <m, [x, k]> + gamma <m, [x, [x, k]]>. The gradient of t is 2 rotation(x).
    const Vec y = G::ad(this->x_, k), ad_star_m = G::ad_star(this->x_, m);
    const T of_t = fma(gamma_t_, dot(ad_star_m, y), alpha_t_ * dot(m, y));
    return fma(-alpha_, G::ad_star(k, m),
               fma(-gamma_, G::ad_star(y, m) + G::ad_star(k, ad_star_m), (T(2.0) * of_t) * G::rotation(this->x_)));
  }

 private:
  T alpha_, alpha_t_, gamma_, gamma_t_;
};

template <class G, class T>
  requires(G::commutative)
class SeriesChart<G, T> : public Chart<G, Exp, T> {
  using Vec = Algebra<G, T>;

 public:
  RB_HD SeriesChart(const Vec& x, const TangentSeries&) : Chart<G, Exp, T>(x) {}
  RB_HD Vec velocity(const Vec& k) const { return k; }
  RB_HD Vec velocity_star(const Vec& m) const { return m; }
  RB_HD Vec variation(const Vec&, const Vec&) const { return Vec::zero(); }
};

/// SE(3) is SO(3) over the dual numbers.
template <class T>
class SeriesChart<SE3, T> : public Chart<SE3, Exp, T> {
  using Base = Chart<SE3, Exp, T>;
  using Vec = Vector<T, 6>;

 public:
  RB_HD SeriesChart(const Vec& x, const TangentSeries& series) : Base(x), dual_(Base::vector(x), series) {}
  RB_HD Vec velocity(const Vec& k) const { return Base::from_vector(dual_.velocity(Base::vector(k))); }
  RB_HD Vec velocity_star(const Vec& m) const { return Base::from_covector(dual_.velocity_star(Base::covector(m))); }
  RB_HD Vec variation(const Vec& m, const Vec& k) const {
    return Base::from_covector(dual_.variation(Base::covector(m), Base::vector(k)));
  }

 private:
  SeriesChart<SO3, Dual<T, 1>> dual_;
};

template <class... Groups, class T>
class SeriesChart<Product<Groups...>, T> : public Chart<Product<Groups...>, Exp, T> {
  using G = Product<Groups...>;
  using Vec = Algebra<G, T>;

 public:
  RB_HD SeriesChart(const Vec& x, const TangentSeries& series)
      : Chart<G, Exp, T>(x), first_(G::first(x), series), rest_(G::rest(x), series) {}
  RB_HD Vec velocity(const Vec& k) const { return join(first_.velocity(G::first(k)), rest_.velocity(G::rest(k))); }
  RB_HD Vec velocity_star(const Vec& m) const {
    return join(first_.velocity_star(G::first(m)), rest_.velocity_star(G::rest(m)));
  }
  RB_HD Vec variation(const Vec& m, const Vec& k) const {
    return join(first_.variation(G::first(m), G::first(k)), rest_.variation(G::rest(m), G::rest(k)));
  }

 private:
  SeriesChart<typename G::First, T> first_;
  SeriesChart<typename G::Rest, T> rest_;
};

RB_NAMESPACE_END

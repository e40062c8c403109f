#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

enum class ChaoticVariant {
  printed,  ///< Phi = vx + z.vz, as printed: the constraint is integrable, x + |z|^2/2 = const
  contact,  ///< Phi = vx + y.vz: the contact constraint, which is nonholonomic
};

/// Fully chaotic nonholonomic system on R^(2m+1), q = (x; y_1..y_m; z_1..z_m):
///   L = |v|^2/2 - (|q|^2 + z_1^2 z_2^2 + sum_i y_i^2 z_i^2)/2,   m = 2..12.
template <class T, int Pairs, ChaoticVariant Variant>
struct Chaotic {
  static_assert(Pairs >= 2 && Pairs <= 12, "the potential couples two pairs, and 12 pairs have names");

  using scalar = T;
  static constexpr int n = 2 * Pairs + 1, m = 1;
  static constexpr int y = 1, z = 1 + Pairs;  // offsets of the blocks in q
  static constexpr bool is_contact = Variant == ChaoticVariant::contact;

  static constexpr auto name = "chaotic";
  static constexpr auto alias = "chaotic-nonholonomic";
  static constexpr auto variant = is_contact ? "contact" : "printed";
  static constexpr auto summary =
      is_contact ? "chaotic nonholonomic oscillators, contact constraint vx + y.vz = 0 (genuinely nonholonomic)"
                 : "chaotic nonholonomic oscillators, constraint vx + z.vz = 0 as printed (integrable)";
  static constexpr auto configuration = "R^(2m+1): x, y_1..y_m, z_1..z_m";
  static constexpr std::array<const char*, n> coordinates = [] {
    constexpr const char* y_names[] = {"y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8", "y9", "y10", "y11", "y12"};
    constexpr const char* z_names[] = {"z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9", "z10", "z11", "z12"};
    std::array<const char*, n> names{"x"};
    for (int i = 0; i < Pairs; ++i) {
      names[y + i] = y_names[i];
      names[z + i] = z_names[i];
    }
    return names;
  }();
  static constexpr auto source =
      "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
      "systems, section 7.3";
  // Member 0 of the paper's ensemble for m = 3. Further pairs start from y_i = 0.1.
  static constexpr std::array<double, n> default_q = [] {
    constexpr double start[] = {0.6, 0.4, 0.2};
    std::array<double, n> q{1.0};
    for (int i = 0; i < Pairs; ++i) {
      q[y + i] = i < 3 ? start[i] : 0.1;
      q[z + i] = 1.0;
    }
    return q;
  }();
  static constexpr std::array<double, n> default_v{};
  static constexpr std::array<StructureInfo, 1> structure() { return {{{"m", Pairs}}}; }
  static constexpr auto invariants() {
    if constexpr (is_contact) {
      return std::array<ObservableInfo, 0>{};
    } else {
      return std::array<ObservableInfo, 1>{{{"hidden_integral", true, "x + |z|^2/2, the integral of the constraint"}}};
    }
  }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    S u = square_of_product(q[z], q[z + 1]);
    RB_UNROLL
    for (int i = 0; i < Pairs; ++i) u = u + square_of_product(q[y + i], q[z + i]);
    return S(0.5) * (dot(q, q) + u);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    Vector<S, n> f;
    f[0] = -q[0];
    const S zz[2] = {square(q[z]), square(q[z + 1])};  // each square is part of two forces
    RB_UNROLL
    for (int i = 0; i < Pairs; ++i) {
      const S yi = q[y + i], zi = q[z + i];
      S stiffness = fma(yi, yi, S(1.0));
      if (i < 2) stiffness = stiffness + zz[1 - i];
      f[y + i] = -fma(i < 2 ? zz[i] : square(zi), yi, yi);
      f[z + i] = -(zi * stiffness);
    }
    return f;
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    auto mu = Matrix<S, m, n>::zero();
    mu[0][0] = S(1.0);
    RB_UNROLL
    for (int i = 0; i < Pairs; ++i) mu[0][z + i] = is_contact ? q[y + i] : q[z + i];
    return mu;
  }
  RB_HD static constexpr bool constraint_entry(int, int column) { return column < y || column >= z; }

  /// (a b)^2. The difference quotients are those of a^2 b^2, as the potential is printed.
  template <class S>
  RB_HD static S square_of_product(const S& a, const S& b) {
    if constexpr (requires { a.slope(0); }) {
      return square(a) * square(b);
    } else {
      return square(a * b);
    }
  }

  RB_HD auto evaluate_invariants(const Vector<T, n>& q, const Vector<T, n>&) const {
    T s(0.0);
    RB_UNROLL
    for (int i = 0; i < Pairs; ++i) s = fma(q[z + i], q[z + i], s);
    return Vector<T, 1>{fma(T(0.5), s, q[0])};
  }
};

RB_NAMESPACE_END

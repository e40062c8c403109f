#pragma once
// Several tangent vectors of a trajectory, for its Lyapunov exponents (G. Benettin et al., Meccanica 15 (1980) 9) and for what is made
// of them (loop/exponents.hpp). After every step each vector is made orthogonal to those before it, without being given the length 1:
// the lengths are the exponents. So a step has neither root nor logarithm, and the first vector is that of loop/tangent.hpp.

#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/exponents.hpp"
#include "rattleback/loop/tangent.hpp"
#include "rattleback/start/tangent.hpp"

RB_NAMESPACE_BEGIN

/// The vectors are in rows, and are mapped one after the other. The columns of C, the running sums and the growths at the last sample are
/// kept where the layout has rows for them.
///
/// A direction across the constraint has the exponent 0. What round-off puts into it does not fall, but a vector that contracts does,
/// and would end as this direction. So vectors are put back onto the linearised constraint. For the same reason dlambda of a carried
/// multiplier becomes that of the continuous equations: the error of a multiplier alternates or stays.
///
/// Vectors are orthogonal with the Euclidean product of (dq, dp) or, `by_mass`, with that of MassProduct.
template <class T, template <class> class System, template <class, class> class Method, bool by_mass = false>
class TangentFrame {
  using Map = TangentMap<T, System, Method>;
  using State = typename Map::State;
  using Sys = typename Map::Sys;
  using Group = group_of<Sys>;
  using Crew = TeamOfLoop<Method<T, System<T>>, typename Map::Step>;
  static constexpr int size = State::elements + State::dimension;

 public:
  using Team = team_of<typename Map::Step>;
  using Workspace = workspace_of<typename Map::Step>;

  RB_HD TangentFrame(const KernelArguments& a, double* chunk, int lane)
      : a_(a), rows_(a.layout), chunk_(chunk), lane_(lane), map_(a, chunk, lane) {
    const bool restarts = rows_.counted_from >= 0 && a_.sample == a_.transient;
    if (restarts) Crew::sync();
    if (Crew::leads()) {
      if (restarts) restart();
      if (rows_.window >= 0) note_sample();
    }
    if (restarts) Crew::sync();
  }

  /// Maps the vectors at `state` through one step from `time` on, in the lanes of the mask; these have taken `steps` steps before.
  RB_HD_LARGE void step(const State& state, const T& h, const T& time, const T& steps, mask_t<T> good) {
    mask_t<T> failed(false);
    for (int j = 0; j < rows_.tangents; ++j) map_vector(j, state, h, time, good, failed);
    if (!Crew::leads()) return;
    if (rows_.columns >= 0)
      for (int j = 1; j < rows_.tangents; ++j) rescale_column(j, good);
    if (rows_.growth >= 0) {
      GrowthSums<T> sums(rows_, chunk_, lane_);
      const T before = rows_.counted_from < 0 ? steps : steps - load(rows_.counted_from);
      sums.add(tangent_growth<T>(rows_, chunk_, lane_, size, 0), before + T(1.0), good);
      sums.store(rows_, chunk_, lane_);
    }
  }
  RB_HD void store(double*, int) const {}

 private:
  /// The Euclidean product at a state, that of (dq, dp).
  struct Euclidean {
    RB_HD Euclidean(const KernelArguments&, const Sys&, const typename Map::DualState&, const T&) {}
    /// u.d/u.u, or 0 where u is.
    RB_HD T share(const State& u, const State& d) const {
      const T square = dot(u.p, u.p) + dot(u.q, u.q), product = dot(u.p, d.p) + dot(u.q, d.q);
      return select(square > T(0.0), product / square, T(0.0));
    }
  };
  /// The product of the mass matrix at a state.
  struct ByMass {
    MassProduct<Sys> product;
    RB_HD ByMass(const KernelArguments& a, const Sys& system, const typename Map::DualState& x, const T& time)
        : product(at(system, typename Map::D(time)), x.q, x.p, a.in_space) {}
    RB_HD T square(const State& d) const {
      const auto of_d = product.parts(d.q, d.p);
      return product(of_d, of_d);
    }
    RB_HD T share(const State& u, const State& d) const {
      const auto of_u = product.parts(u.q, u.p), dual = product.dual(of_u);
      const T square = product.pairing(dual, of_u);
      return select(square > T(0.0), product.pairing(dual, product.parts(d.q, d.p)) / square, T(0.0));
    }
  };
  using Product = std::conditional_t<by_mass, ByMass, Euclidean>;

  [[nodiscard]] RB_HD int row_of(int j) const { return rows_.tangent + j * rows_.tangent_rows; }
  [[nodiscard]] RB_HD T load(int row) const { return Lanes<T>::load(chunk_ + row * row_size + lane_); }
  /// Writes a number into the lanes of the mask. The first lane of a team calls this.
  RB_HD void store(int row, const T& x, const mask_t<T>& good) const {
    Lanes<T>::store(chunk_ + row * row_size + lane_, select(good, x, load(row)));
  }

  RB_HD void map_vector(int j, const State& state, const T& h, const T& time, const mask_t<T>& good,
                        mask_t<T>& failed) const {
    const State before = load_tangent<T, State>(chunk_, row_of(j), lane_);
    T status;
    auto next = map_(state, before, h, time, status);
    failed = failed | !(status == T(0.0));
    put_onto_constraint(next, time + h);
    State d = Map::tangent_of(next);
    const Product product(a_, map_.system(), next, time + h);
    for (int i = 0; i < j; ++i) {
      const State u = load_tangent<T, State>(chunk_, row_of(i), lane_);
      const T share = product.share(u, d);
      d = minus(d, share, u);
      add_to_columns(i, share, j, good);
    }
    const Rescaling<T> by(max(max_norm(d.q), max_norm(d.p)));
    d = select(good, scaled(by.factor, d), before);
    T square(0.0);
    if constexpr (by_mass) square = product.square(d);
    Crew::sync();
    if (Crew::leads()) {
      if constexpr (by_mass) store(rows_.tangent_square + j * rows_.tangent_rows, square, good);
      const int row = rows_.tangent_exponent + j * rows_.tangent_rows;
      store(row, load(row) + select(failed, T(__builtin_nan("")), by.shift), good);
      store_tangent(chunk_, row_of(j), lane_, d);
      for (int k = j; rows_.columns >= 0 && k < rows_.tangents; ++k)
        store(column_row(rows_, j, k), load(column_row(rows_, j, k)) / by.factor, good);
    }
    Crew::sync();
  }

  /// A vector has been changed by -share times an earlier one: adds to row i of C that share of row j.
  RB_HD void add_to_columns(int i, const T& share, int j, const mask_t<T>& good) const {
    if (rows_.columns < 0 || !Crew::leads()) return;
    for (int k = j; k < rows_.tangents; ++k)
      store(column_row(rows_, i, k), fma(share, load(column_row(rows_, j, k)), load(column_row(rows_, i, k))), good);
  }

  /// d - share u.
  RB_HD static State minus(const State& d, const T& share, const State& u) {
    return state_of<State>(fma(-share, numbers_of(u), numbers_of(d)));
  }

  /// Changes the derivatives of a state at a time as the comment of the class says.
  RB_HD void put_onto_constraint(typename Map::DualState& x, [[maybe_unused]] const T& time) const {
    if constexpr (on_group<Sys>) put_onto_group<Group>(x.q);
    if constexpr (Sys::m > 0) {
      using D = typename Map::D;
      const bool resets = velocity_count<Sys> > 0 && a_.carries_multiplier;
      if (!a_.off_constraint && !resets) return;
      const auto& system = at(map_.system(), D(time));
      constrain_tangent(system, x.q, x.p, a_.in_space, a_.off_constraint, resets, x.lambda);
    }
  }

  /// Brings the numbers of a column into [2^-128, 2^128] and counts the power of two.
  RB_HD void rescale_column(int j, const mask_t<T>& good) const {
    T largest(0.0);
    for (int i = 0; i <= j; ++i) largest = max(largest, abs(load(column_row(rows_, i, j))));
    const Rescaling<T> by(largest);
    for (int i = 0; i <= j; ++i) store(column_row(rows_, i, j), by.factor * load(column_row(rows_, i, j)), good);
    store(column_exponent_row(rows_, j), load(column_exponent_row(rows_, j)) + by.shift, good);
  }

  /// The steps until the last sample.
  [[nodiscard]] RB_HD T steps_of_sample() const {
    if (rows_.steps_per_sample >= 0) return T(static_cast<double>(a_.sample)) * load(rows_.steps_per_sample);
    return T(static_cast<double>(a_.interval_start));
  }

  /// Begins anew with vectors of norm 1 in the lanes that are at the last sample.
  RB_HD void restart() const {
    const T at = steps_of_sample();
    const mask_t<T> there = (load(rows_.steps) == at) & (load(rows_.status) == T(0.0));
    for (int j = 0; j < rows_.tangents; ++j) {
      const State before = load_tangent<T, State>(chunk_, row_of(j), lane_);
      const T factor = T(1.0) / sqrt(tangent_square<T>(rows_, chunk_, lane_, size, j));
      store_tangent(chunk_, row_of(j), lane_, select(there, scaled(factor, before), before));
      const int exponent = rows_.tangent_exponent + j * rows_.tangent_rows;
      store(exponent, T(0.0) * load(exponent), there);  // NaN stays
      if constexpr (by_mass) store(rows_.tangent_square + j * rows_.tangent_rows, T(1.0), there);
      if (rows_.columns < 0) continue;
      for (int i = 0; i <= j; ++i) store(column_row(rows_, i, j), T(i == j ? 1.0 : 0.0), there);
      store(column_exponent_row(rows_, j), T(0.0), there);
    }
    for (int i = 0; rows_.growth >= 0 && i < 3; ++i) store(rows_.growth + i, T(0.0), there);
    store(rows_.counted_from, at, there);
  }

  /// Notes the growths of the lanes that are at the last sample.
  RB_HD void note_sample() const {
    const T at = steps_of_sample();
    const mask_t<T> there = load(rows_.steps) == at;
    for (int j = 0; j < rows_.tangents; ++j)
      store(rows_.window + j, tangent_growth<T>(rows_, chunk_, lane_, size, j), there);
    store(rows_.window + rows_.tangents, at, there);
  }

  const KernelArguments& a_;
  const ChunkLayout& rows_;
  double* chunk_;
  int lane_;
  Map map_;
};

/// What a compiled unit with several tangent vectors carries along with the state, and with their products by the mass matrix.
template <class T, template <class> class System, class Method>
using CarryFrame = TangentFrame<T, System, Method::template of>;
template <class T, template <class> class System, class Method>
using CarryMassFrame = TangentFrame<T, System, Method::template of, true>;

RB_NAMESPACE_END

// The state in which a machine starts: places that its constraints allow, their rank, and velocities.

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/language/read.hpp"
#include "rattleback/language/system_graph.hpp"
#include "rattleback/lie/so3.hpp"
#include "rattleback/study/machine_parts.hpp"

namespace rattleback {
namespace {

using Vectors = std::vector<std::vector<double>>;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The rows of a matrix one after another, as orthonormal directions: D = L Q. A row that the ones before it imply is left out.
class Rows {
 public:
  explicit Rows(const Vectors& rows) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      std::vector<double> rest = rows[k], share(kept.size());
      const double size = std::sqrt(product(rest, rest));
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t i = 0; i < kept.size(); ++i) {
          const double part = product(rest, directions_[i]);
          share[i] += part;
          for (std::size_t j = 0; j < rest.size(); ++j) rest[j] -= part * directions_[i][j];
        }
      const double left = std::sqrt(product(rest, rest));
      if (!(left > smallest * std::max(size, smallest))) continue;
      for (double& x : rest) x /= left;
      share.push_back(left);
      kept.push_back(k);
      directions_.push_back(std::move(rest));
      shares_.push_back(std::move(share));
    }
  }
  /// The smallest x with D x = b in the rows that are kept.
  [[nodiscard]] std::vector<double> solve(const std::vector<double>& b, std::size_t n) const {
    std::vector<double> x(n), y(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      y[i] = b[kept[i]];
      for (std::size_t j = 0; j < i; ++j) y[i] -= shares_[i][j] * y[j];
      y[i] /= shares_[i][i];
      for (std::size_t j = 0; j < n; ++j) x[j] += y[i] * directions_[i][j];
    }
    return x;
  }
  /// Takes out of x what lies in the rows.
  void clear(std::vector<double>& x) const {
    for (const std::vector<double>& one : directions_) {
      const double part = product(x, one);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] -= part * one[j];
    }
  }
  std::vector<std::size_t> kept;

 private:
  static constexpr double smallest = 1e-7;
  Vectors directions_, shares_;
};

class Starter {
 public:
  Starter(Machine& machine, const toml::table& system, bool assemble, bool drop)
      : machine_(machine), assemble_(assemble), drop_(drop), formulas_(read_system_formulas(system, false)) {
    const auto add = [&](std::vector<FormulaText>& all, const std::vector<JointRow>& rows, const char* key) {
      std::vector<FormulaText> own = std::move(all);
      all.clear();
      for (const JointRow& row : rows) all.push_back({row.formula, key, row.joint->where});
      for (const JointRow& row : rows) joints_.push_back(row.joint);
      joints_.resize(joints_.size() + own.size(), nullptr);
      all.insert(all.end(), own.begin(), own.end());
    };
    other_positions_ = formulas_.constraints.size();
    other_velocities_ = formulas_.velocity_constraints.size();
    add(formulas_.constraints, machine.positions, "system.constraints");
    add(formulas_.velocity_constraints, machine.velocities, "system.velocity_constraints");
    positions_ = formulas_.constraints.size();
    for (auto& parameter : formulas_.parameters)  // that of an axis has no value in [system]
      parameter.value = machine_.numbers(Value(parameter.name), parameter.name);
    set_places();
    graph_.emplace(formulas_);
  }

  MachineStart operator()() {
    const std::vector<double> given = formulas_.q;
    size_ = 1.0;
    for (const double x : given) size_ = std::max(size_, std::abs(x));
    check_gaps();
    const Rows rows = put_together();
    check_motion(given);
    judge(rows);
    set_velocities();
    return {formulas_.q, formulas_.v, other_positions_, other_velocities_, dropped_};
  }

 private:
  [[nodiscard]] std::size_t n() const { return static_cast<std::size_t>(formulas_.n()); }
  [[nodiscard]] std::size_t m() const { return joints_.size(); }
  [[nodiscard]] const FormulaText& row(std::size_t k) const {
    return k < positions_ ? formulas_.constraints[k] : formulas_.velocity_constraints[k - positions_];
  }
  [[nodiscard]] std::string named(std::size_t k) const {
    return joints_[k] != nullptr ? fmt::format("joint {}", quote(joints_[k]->name)) : quote(row(k).text);
  }

  void set_places() {
    const bool planar = machine_.planar;
    formulas_.q.clear();
    std::vector<double> centers;
    for (const Part& part : machine_.parts) {
      if (part.body == nullptr) continue;
      const Num3 center = part.at_start(part.start_center);
      auto& moved = planar ? formulas_.q : centers;
      moved.insert(moved.end(), center.begin(), center.begin() + static_cast<std::ptrdiff_t>(machine_.size()));
      if (planar)
        formulas_.q.push_back(part.body->rotation.empty() ? 0.0
                                                          : machine_.numbers(part.body->rotation[0], "body.rotation"));
      else
        for (const Num3& line : part.turn) formulas_.q.insert(formulas_.q.end(), line.begin(), line.end());
    }
    formulas_.q.insert(formulas_.q.end(), centers.begin(), centers.end());
  }

  /// Moves the bodies along dx, in the frames of the bodies.
  void move(const std::vector<double>& dx) {
    double* q = formulas_.q.data();
    std::size_t turned = 0;
    for (std::size_t i = 0; i < machine_.bodies() && !machine_.planar; ++i, q += 9, turned += 3) {
      Vector<double, 9> rotation;
      std::copy_n(q, 9, rotation.entry);
      rotation = SO3::normalise(
          SO3::product(rotation, SO3::expand(Vector<double, 3>{dx[turned], dx[turned + 1], dx[turned + 2]})));
      std::copy_n(rotation.entry, 9, q);
    }
    for (std::size_t i = turned; i < n(); ++i) *q++ += dx[i];
  }

  [[nodiscard]] std::vector<double> gaps() const {
    std::vector<double> g(positions_);
    for (std::size_t k = 0; k < positions_; ++k) g[k] = graph_->default_value(graph_->constraints[k]);
    return g;
  }
  [[nodiscard]] Vectors forms() const {
    Vectors rows(m(), std::vector<double>(n()));
    for (std::size_t k = 0; k < m(); ++k)
      for (std::size_t i = 0; i < n(); ++i) rows[k][i] = graph_->default_value(graph_->forms[k * n() + i]);
    return rows;
  }

  void check_gaps() const {
    if (assemble_) return;
    const std::vector<double> g = gaps();
    for (std::size_t k = 0; k < positions_; ++k)
      if (!(std::abs(g[k]) <= rough * size_ * size_))
        input_error(row(k).where,
                    fmt::format("{} does not fit the places of its bodies at the start (a constraint is {:.3g} there); "
                                "correct position and rotation, or write assemble = true in [system], which moves the "
                                "bodies by the least change that makes all joints fit",
                                named(k), g[k]));
  }
  void check_motion(const std::vector<double>& given) const {
    if (assemble_) return;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!(std::abs(formulas_.q[i] - given[i]) <= 10.0 * rough * size_))
        input_error(formulas_.where,
                    "the joints do not fit the places of the bodies at the start; write assemble = true "
                    "in [system], which moves the bodies by the least change that makes all joints fit");
  }

  /// Moves the bodies until these constraints on positions hold. Returns the values of all.
  std::vector<double> settle(const std::vector<std::size_t>& rows) {
    std::vector<double> g;
    double last = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < 100; ++iteration) {
      g = gaps();
      const Vectors all = forms();
      Vectors some;
      std::vector<double> wanted;
      for (const std::size_t k : rows) {
        some.push_back(all[k]);
        wanted.push_back(-g[k]);
      }
      std::vector<double> dx = Rows(some).solve(wanted, n());
      double most = 0.0;
      for (const double x : dx) most = std::max(most, std::abs(x));
      if (most == 0.0 || !std::isfinite(most) || (most < 1e-10 * size_ && most >= last)) break;
      last = most;
      if (most > 0.5)
        for (double& x : dx) x *= 0.5 / most;
      move(dx);
    }
    return g;
  }
  /// Returns the first constraint on positions that does not hold; none where all do.
  [[nodiscard]] std::optional<std::size_t> open(const std::vector<double>& g, double tolerance) const {
    for (std::size_t k = 0; k < positions_; ++k)
      if (!(std::abs(g[k]) <= tolerance * size_ * size_)) return k;
    return std::nullopt;
  }
  Rows put_together() {
    std::vector<std::size_t> all(positions_);
    for (std::size_t k = 0; k < positions_; ++k) all[k] = k;
    const std::vector<double> g = settle(all);
    if (const auto k = open(g, 1e-11))
      input_error(
          row(*k).where,
          fmt::format("the bodies cannot be put together: {} stays open by {:.3g}; correct the lengths, or start "
                      "nearer to a place where all joints fit",
                      named(*k), g[*k]));
    return Rows(forms());
  }

  /// Finds the constraints that the others imply, at the start and beside it, where a singular place of the machine is left.
  void judge(const Rows& here) {
    const std::vector<double> q = formulas_.q;
    std::vector<double> along(n());
    std::minstd_rand draws(1);
    for (double& x : along) x = (static_cast<double>(draws()) / std::minstd_rand::max() - 0.5) * 0.1;
    here.clear(along);
    move(along);
    std::vector<std::size_t> kept;
    for (const std::size_t k : here.kept)
      if (k < positions_) kept.push_back(k);
    const std::vector<double> g =
        settle(kept);  // what the others imply holds by itself, if it is implied beside the start, too
    const Rows beside(forms());
    formulas_.q = q;
    if (beside.kept.size() != here.kept.size() || open(g, 1e-9)) {
      const std::size_t k = first_left_out(here);
      input_error(
          row(k).where,
          fmt::format(
              "the machine starts in a singular configuration, in which a constraint of {} follows from the others, "
              "although it does not nearby; start in another configuration",
              named(k)));
    }
    if (beside.kept.size() == n()) {
      const std::size_t k = beside.kept.back();
      input_error(row(k).where,
                  fmt::format("the machine cannot move: {} takes the last motion that the others leave ({} independent "
                              "constraints for {} velocities); take a joint that holds less{}",
                              named(k), n(), n(),
                              std::ranges::any_of(joints_, [](const Joint* one) { return one && one->motion; })
                                  ? ", or a motor (effort) in place of a motion"
                                  : ""));
    }
    if (beside.kept.size() == m()) return;
    for (std::size_t k = 0; k < m(); ++k)
      if (joints_[k] == nullptr && !std::ranges::binary_search(beside.kept, k))
        input_error(row(k).where, fmt::format("{} follows from the joints; leave it out", named(k)));
    std::map<std::string, int> extra;
    std::vector<std::string> order;
    for (std::size_t k = 0; k < m(); ++k)
      if (!std::ranges::binary_search(beside.kept, k) && extra[named(k)]++ == 0) order.push_back(named(k));
    if (!drop_) {
      std::vector<std::string> words;
      for (const std::string& name : order) words.push_back(fmt::format("{} has {} too many", name, extra[name]));
      const std::size_t k = first_left_out(beside);
      input_error(row(k).where,
                  fmt::format("the constraints are redundant: {}, which those before imply; take a joint that "
                              "holds less, or write redundant = \"drop\" in [system]",
                              join(words)));
    }
    for (const std::string& name : order) dropped_.push_back(fmt::format("{} of {}", extra[name], name));
    for (std::size_t k = m(); k-- > 0;) {
      if (std::ranges::binary_search(beside.kept, k)) continue;
      const bool position = k < positions_;
      std::vector<JointRow>& rows = position ? machine_.positions : machine_.velocities;
      const std::size_t i = position ? k : k - positions_;
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  [[nodiscard]] std::size_t first_left_out(const Rows& rows) const {
    std::size_t k = 0;
    while (k < rows.kept.size() && rows.kept[k] == k) ++k;
    return k;
  }

  /// The velocities that bodies give, and the smallest others with which all joints move along.
  void set_velocities() {
    std::vector<bool> known(n());
    std::vector<double>& v = formulas_.v;
    v.assign(n(), 0.0);
    const bool planar = machine_.planar;
    const std::size_t k = machine_.bodies();
    for (std::size_t b = 0; b < k; ++b) {
      const Part& part = machine_.parts[b + 1];
      const std::size_t turn = planar ? 3 * b + 2 : 3 * b, place = planar ? 3 * b : 3 * (k + b), turns = planar ? 1 : 3;
      const Body& body = *part.body;
      Num3 spin{};  // in the frame of the body
      if (!body.spin.empty() && body.spin.size() != turns)
        input_error(body.where, fmt::format("body {}: spin has {} numbers, and {} needed", quote(body.name),
                                            body.spin.size(), planar ? "one is" : "3 are"));
      for (std::size_t i = 0; i < body.spin.size(); ++i) {
        spin[planar ? 2 : i] = v[turn + i] = machine_.numbers(body.spin[i], "body.spin");
        known[turn + i] = true;
      }
      if (body.velocity.empty()) continue;
      const Num3 given =
          machine_.start_vector(body.velocity, fmt::format("body {}: velocity", quote(body.name)), body.where);
      if (body.spin.empty() && !body.center.empty())
        input_error(body.where,
                    fmt::format("body {}: velocity is that of its origin, and its centre is elsewhere; give its "
                                "spin, too",
                                quote(body.name)));
      const Num3 beside = cross(spin, part.start_center);
      for (std::size_t i = 0; i < machine_.size(); ++i) {
        v[place + i] = given[i] + dot(part.turn[i], beside);
        known[place + i] = true;
      }
    }
    Vectors rows = forms();
    std::vector<double> wanted(m());
    for (std::size_t j = 0; j < m(); ++j) {
      const int node = j < positions_ ? graph_->algebra().derivative(graph_->constraints[j], graph_->t())
                                      : graph_->offset[j - positions_];
      wanted[j] = -graph_->default_value(node) - product(rows[j], v);
    }
    Vectors free = rows;
    for (std::vector<double>& one : free)
      for (std::size_t i = 0; i < n(); ++i)
        if (known[i]) one[i] = 0.0;
    const auto correct = [&](const Vectors& by) {
      const std::vector<double> dv = Rows(by).solve(wanted, n());
      for (std::size_t j = 0; j < m(); ++j) wanted[j] -= product(rows[j], dv);
      for (std::size_t i = 0; i < n(); ++i) v[i] += dv[i];
    };
    for (int pass = 0; pass < 2; ++pass) correct(free);
    double speed = 1.0;
    for (const double x : v) speed = std::max(speed, std::abs(x));
    for (std::size_t j = 0; j < m(); ++j)
      if (!assemble_ && !(std::abs(wanted[j]) <= rough * speed * size_))
        input_error(row(j).where,
                    fmt::format("{} does not fit the velocities of its bodies at the start (a constraint grows "
                                "at the rate {:.3g}); leave out velocity or spin of a body, which then "
                                "follows from its joints",
                                named(j), -wanted[j]));
    for (int pass = 0; pass < 2; ++pass) correct(rows);
  }

  static constexpr double rough = 1e-3;  ///< what numbers of a few digits may be off
  Machine& machine_;
  bool assemble_, drop_;
  SystemFormulas formulas_;
  std::optional<SystemGraph> graph_;
  std::vector<const Joint*> joints_;  ///< of each row; null for the study's own
  std::vector<std::string> dropped_;
  std::size_t positions_ = 0, other_positions_ = 0, other_velocities_ = 0;
  double size_ = 1.0;
};

}  // namespace

MachineStart start_of(Machine& machine, const toml::table& system, bool assemble, bool drop) {
  return Starter(machine, system, assemble, drop)();
}

}  // namespace rattleback

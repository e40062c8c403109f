#include "rattleback/study/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/fnv.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/language/model.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/results/run_files.hpp"
#include "rattleback/study/formulas.hpp"
#include "rattleback/study/grid.hpp"
#include "rattleback/study/groups.hpp"
#include "rattleback/study/parts.hpp"
#include "rattleback/study/point_file.hpp"
#include "rattleback/study/reader.hpp"

namespace rattleback {
namespace {

/// Returns the study of a result, as it stands there; empty when the file is not a result.
std::optional<Study> study_of(const std::filesystem::path& file) {
  try {
    const auto attributes = ResultFile(file).attributes("/");
    const auto study = attributes.find("study");
    if (study != attributes.end()) return read_study(std::get<std::string>(study->second), file.string(), {});
  } catch (const Error&) {  // the file has other datasets than a result
  }
  return std::nullopt;
}

/// Throws Error(input) when a result is of another version of the header: two systems would be taken for one.
void require_same_header(const Study::System& system, const Study::System& stored, const std::string& file,
                         const std::string& where) {
  if (system.file.empty() || system.file != stored.file || system.type != stored.type || system.digest == stored.digest)
    return;
  input_error(
      where, fmt::format(
                 "{} is a result of another version of {} (digest {}.. for {}..); restore the header, what it includes "
                 "and the macros of RATTLEBACK_CXXFLAGS, or give another system another file or type",
                 quote(file, most_of_a_path), quote(system.file.string(), most_of_a_path), stored.digest.substr(0, 12),
                 system.digest.substr(0, 12)));
}

/// Returns whether final states of `before` are states of the same method for the same system. Those of some methods leave the
/// constraints by the error of the method, and the next step takes them as they are. A moving constraint must be where it was.
bool continues(const Problem& before, const Problem& problem) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const auto text = [](const Study& whole) {
    Study part;
    part.system = whole.system;
    part.method = whole.method;
    return part.to_toml();
  };
  const double start = problem.study.time.start, end = *before.study.time.end;
  return (!problem.system->driven || std::abs(start - end) <= 4 * epsilon * std::max(std::abs(start), std::abs(end))) &&
         text(before.study) == text(problem.study);
}

/// Returns whether a run goes on along the orbits of `before`: steps follow the same density from the time at which the earlier ones
/// ended.
bool follows(const Problem& before, const Problem& problem) {
  const Study::Time &earlier = before.study.time, &time = problem.study.time;
  return time.by_density() && earlier.by_density() && time.density == earlier.density &&
         time.step.content == earlier.step.content && time.start == *earlier.end;
}

StateNames state_names(const Problem& problem) {
  const SystemEntry& system = *problem.system;
  const auto& formulas = problem.study.system.formulas;
  const std::vector<std::string>&ignored = problem.study.ensemble.unused, condition = names_in_condition(problem.study);
  return {system.elements,
          system.n,
          system.m,
          {system.coordinates.begin(), system.coordinates.end()},
          formulas ? formulas->velocities : std::vector<std::string>{},
          names_in_expressions(problem.study, system),
          {ignored.begin(), ignored.end()},
          system.on_group,
          formulas ? formulas->momenta : std::vector<std::string>{},
          {condition.begin(), condition.end()}};
}

}  // namespace

struct Ensemble::Impl {
  Impl(const Problem& given, const Range& wanted)
      : problem(given),
        grid(study),
        file(read_file(wanted)),
        names(make_names()),
        formulas(study, *problem.system, names) {
    check_trajectories(study, size());
    range = {std::min(wanted.first, size()), std::min(wanted.last, size())};
  }

  /// Reads the file. Each of q, v, p and lambda must come from the file or from the study, not from both.
  PointFile read_file(const Range& wanted) {
    if (!study.ensemble.listed()) return {};
    const StateTable* const table = study.ensemble.states.get();
    const std::string where = study.place("ensemble.file");
    const std::string source = table != nullptr ? "the array" : "'" + study.ensemble.file.string() + "'";
    const StateNames known = state_names(problem);
    PointFile points =
        table != nullptr
            ? points_of(*table, known, wanted)
            : read_points({study.directory / study.ensemble.file, study.ensemble.group, where, wanted}, known);
    const SystemEntry& system = *problem.system;
    const auto settle = [&](std::string_view name, const PointFile::Block& block, const std::vector<Value>& values,
                            int dimension, int elements) {
      if (block.width == 0) return !values.empty();
      if (!values.empty()) {
        input_error(study.place(fmt::format("ensemble.initial.{}", name)),
                    fmt::format("initial {} is given here and in {}; leave one out", name, source));
      }
      if (block.width != static_cast<std::uint64_t>(dimension) && block.width != static_cast<std::uint64_t>(elements)) {
        input_error(where, fmt::format("{} has {} components of {}, '{}' needs {}", source, block.width, name,
                                       system.name, sizes_in_words(dimension, elements)));
      }
      return true;
    };
    // A result has v and p. The state consists of q and p, so p is used and v is dropped.
    if (points.p.width != 0) points.v = {};
    const bool has_q = settle("q", points.q, study.ensemble.q, system.n, system.elements);
    const bool has_v = settle("v", points.v, study.ensemble.v, system.n, system.n);
    const bool has_p = settle("p", points.p, study.ensemble.p, system.n, system.n);
    settle("lambda", points.lambda, study.ensemble.lambda, system.m, system.m);
    complete_initial(problem, has_q, has_v, has_p);
    if (table != nullptr || !is_hdf5_name(study.ensemble.file)) return points;
    if (const auto before = study_of(study.directory / study.ensemble.file)) {
      require_same_header(study.system, before->system, study.ensemble.file.string(), where);
      const Problem earlier(*before);
      as_they_are = study.ensemble.group == "/final" && continues(earlier, problem);
      if (as_they_are && follows(earlier, problem)) read_orbits(earlier, wanted, where);
      const bool has_frame = system.on_group && (points.v.width != 0 || points.p.width != 0);
      if (has_frame && study.ensemble.frame.empty()) in_space = earlier.method->in_space;
    }
    return points;
  }

  /// Reads the orbits of an earlier run, where its result has them.
  void read_orbits(const Problem& earlier, const Range& wanted, const std::string& where) {
    if (!earlier.study.output.final_state) return;
    StateNames known = state_names(problem);
    known.used.insert(std::begin(orbit_numbers), std::end(orbit_numbers));
    orbits = read_points({study.directory / study.ensemble.file, "/final/orbit", where, wanted}, known);
    for (const char* name : orbit_numbers) {
      const auto found = std::ranges::find(orbits.names, name);
      if (found == orbits.names.end()) {
        orbits = {};
        return;
      }
      orbit_columns.push_back(static_cast<std::size_t>(found - orbits.names.begin()));
    }
  }

  std::vector<std::string> make_names() const {
    std::vector<std::string> result = file.names;
    for (const Axis& axis : components_of(study.ensemble.axes)) result.push_back(axis.name);
    return result;
  }

  void refuse_unused() const {
    const StateNames known = state_names(problem);
    const Study::Ensemble& ensemble = study.ensemble;
    const std::vector<Axis> axes = components_of(ensemble.axes);
    const auto fail = [&](const std::string& where, std::string_view what, const std::string& name,
                          const std::string& advice) {
      input_error(
          where, fmt::format("nothing uses the {} {} ({}); use it in ensemble.initial, in a parameter or in time.step, "
                             "leave it out, or name it in ensemble.unused",
                             what, quote(name), advice));
    };
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string& name = names[i];
      const auto is_in = [&](const std::vector<std::string>& list) {
        return std::ranges::find(list, name) != list.end();
      };
      const bool ignored =
          is_in(ensemble.unused) || std::ranges::find(ensemble.unused, vector_of(name)) != ensemble.unused.end();
      if (formulas.reads(i) || is_in(ensemble.group_by) || ignored) continue;
      const std::vector<std::string> all = known.all();
      if (ensemble.listed())
        fail(study.place("ensemble.file"), "column", name,
             fmt::format("the state is {}{}", known.in_words(), did_you_mean(name, all)));
      const Axis& axis = *std::ranges::find(axes, name, &Axis::name);
      fail(axis.where, "axis", name,
           is_in(all) ? "an axis is no coordinate by its name, but by an expression of ensemble.initial"
                      : "its trajectories are all the same");
    }
  }

  std::uint64_t size() const { return study.ensemble.listed() ? file.total : grid.size(); }

  std::uint64_t file_digest() const {
    if (!study.ensemble.listed()) return 0;
    Fnv1a hash;
    hash.add_word(file.total);
    const auto add = [&hash](double x) { hash.add_word(std::bit_cast<std::uint64_t>(x)); };
    for (const PointFile::Block* block : {&file.q, &file.v, &file.p, &file.lambda, &orbits.q, &orbits.p}) {
      hash.add_word(block->width);
      if (block->width == 0) continue;
      for (std::uint64_t place = 0; place < file.rows(); ++place)
        for (std::uint64_t i = 0; i < block->width; ++i) add(file.at(*block, place)[i]);
    }
    for (std::size_t i = 0; i < file.names.size(); ++i) {
      hash.add(file.names[i]);
      for (std::uint64_t place = 0; place < file.rows(); ++place) add(file.column(i, place));
    }
    return hash.value;
  }

  Problem problem;
  bool as_they_are = false;
  const Study& study = problem.study;
  bool in_space = problem.given_in_space();
  Grid grid;
  Groups groups{study, grid};
  PointFile orbits;                        ///< along which a run goes on; no rows when there are none
  std::vector<std::size_t> orbit_columns;  ///< the places of orbit_numbers among the columns of the orbits
  PointFile file;                          ///< no rows when the study names no file
  Range range;
  std::vector<std::string> names;
  Formulas formulas;  ///< checked here; every evaluator has a copy
};

struct Ensemble::Evaluator::Impl {
  explicit Impl(std::shared_ptr<const Ensemble::Impl> shared)
      : ensemble(std::move(shared)), formulas(ensemble->study, *ensemble->problem.system, ensemble->names) {}

  const InitialData& evaluate(std::uint64_t k) {
    const PointFile& file = ensemble->file;
    const std::uint64_t row = file.place_of(k);
    for (std::size_t i = 0; i < ensemble->names.size(); ++i) {
      formulas.set_axis(i, file.total != 0 ? file.column(i, row) : ensemble->grid.value(i, k));
    }
    formulas.evaluate();
    if (!formulas.data.taken) return formulas.data;
    const auto copy_row = [&](const PointFile::Block& block, std::vector<double>& target) {
      if (block.width != 0) target.assign(file.at(block, row), file.at(block, row) + block.width);
    };
    copy_row(file.q, formulas.data.q);
    copy_row(file.v, formulas.data.v);
    copy_row(file.p, formulas.data.p);
    copy_row(file.lambda, formulas.data.lambda);
    if (const PointFile& orbits = ensemble->orbits; orbits.total != 0) {
      std::vector<double>& orbit = formulas.data.orbit;
      orbit.clear();
      for (const PointFile::Block* block : {&orbits.q, &orbits.p, &orbits.lambda})
        if (block->width != 0) orbit.insert(orbit.end(), orbits.at(*block, row), orbits.at(*block, row) + block->width);
      for (const std::size_t column : ensemble->orbit_columns) orbit.push_back(orbits.column(column, row));
    }
    if (!ensemble->study.ensemble.condition) return formulas.data;
    for (const auto* part : {&formulas.data.q, &formulas.data.v, &formulas.data.p, &formulas.data.lambda})
      if (!std::ranges::all_of(*part, [](double x) { return std::isfinite(x); }))
        input_error(
            ensemble->study.place("ensemble.file"),
            fmt::format("row {} is not finite, and ensemble.where takes it; correct the row or the condition", k));
    return formulas.data;
  }

  std::shared_ptr<const Ensemble::Impl> ensemble;
  Formulas formulas;
};

void write_states(const StateTable& table, const std::filesystem::path& file) {
  const auto sink = make_file_sink(file, FileKind::states);
  const auto write = [&](const std::string& path, const double* values, const Shape& shape) {
    sink->create(path, ResultSink::Type::f64, shape);
    sink->write(path, Shape(shape.size(), 0), shape, values);
  };
  for (const auto& [path, block] : {std::pair<const char*, const StateTable::Block*>{"/q", &table.q},
                                    {"/v", &table.v},
                                    {"/p", &table.p},
                                    {"/lambda", &table.lambda}})
    if (block->width != 0) write(path, block->values, {table.rows, block->width});
  for (const auto& [name, values] : table.columns) write("/" + name, values, {table.rows});
  sink->commit();
}

Ensemble::Ensemble(const Problem& problem, const Range& range) {
  const FloatingPointScope environment;
  impl_ = std::make_shared<const Impl>(problem, range);
}
Ensemble::~Ensemble() = default;
Ensemble::Ensemble(Ensemble&&) noexcept = default;

std::uint64_t Ensemble::size() const { return impl_->size(); }
const Range& Ensemble::range() const { return impl_->range; }
std::uint64_t Ensemble::file_digest() const { return impl_->file_digest(); }
const std::vector<std::string>& Ensemble::axis_names() const { return impl_->names; }
void Ensemble::refuse_unused() const { impl_->refuse_unused(); }
std::uint64_t Ensemble::axis_count(std::size_t axis) const {
  return impl_->file.total != 0 ? 0 : impl_->grid.axis_count(axis);
}
std::uint64_t Ensemble::axis_position(std::size_t axis, std::uint64_t trajectory) const {
  return impl_->file.total != 0 ? 0 : impl_->grid.axis_position(axis, trajectory);
}
std::uint64_t Ensemble::randomisations() const { return impl_->grid.randomisations(); }
std::uint64_t Ensemble::randomisation(std::uint64_t trajectory) const { return impl_->grid.randomisation(trajectory); }
const Groups& Ensemble::groups() const { return impl_->groups; }
std::vector<double> Ensemble::axis_values(std::size_t axis) const { return impl_->grid.axis_values(axis); }
bool Ensemble::step_varies() const { return impl_->formulas.step_varies(); }
bool Ensemble::parameter_varies(int index) const { return impl_->formulas.parameter_varies(index); }
bool Ensemble::from_momentum() const { return impl_->file.p.width != 0 || !impl_->study.ensemble.p.empty(); }
const Grid& Ensemble::grid() const { return impl_->grid; }
const Formulas& Ensemble::formulas() const { return impl_->formulas; }
bool Ensemble::in_space() const { return impl_->in_space; }
bool Ensemble::as_they_are() const { return impl_->as_they_are; }
bool Ensemble::multiplier_given() const {
  return impl_->file.lambda.width != 0 || !impl_->study.ensemble.lambda.empty();
}

Ensemble::Evaluator::Evaluator(const Ensemble& ensemble) : impl_(std::make_unique<Impl>(ensemble.impl_)) {}
Ensemble::Evaluator::~Evaluator() = default;
Ensemble::Evaluator::Evaluator(Evaluator&&) noexcept = default;

const InitialData& Ensemble::Evaluator::operator()(std::uint64_t k) { return impl_->evaluate(k); }

}  // namespace rattleback

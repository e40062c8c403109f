#include "rattleback/engine/verify.hpp"

#include <cstring>
#include <set>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {
namespace {

/// Returns a study of the same system and method near the default state. Parameters without a fixed value have their
/// defaults.
Study near_the_default_state(const Problem& problem) {
  const SystemEntry& system = *problem.system;
  Study study = problem.study.without_requests();
  for (const ObservableInfo& info : system.observables) {
    Observable& observable = study.observables.emplace_back();
    observable.name = info.name;
    observable.statistics = {"mean"};
  }
  study.output.initial_state = study.output.final_state = true;
  for (const ParameterInfo& info : system.parameters) {
    Value& value = study.system.parameters[info.name];
    if (!std::holds_alternative<double>(value.content)) value = info.value;
  }
  study.time = {};
  study.time.step = 0.02 * system.time_scale;
  study.time.steps = 10;
  study.ensemble = {};
  study.ensemble.project = true;
  study.ensemble.draws = 64;
  const auto spread = [&](double at) {
    Axis& axis = study.ensemble.axes.emplace_back();
    axis.name = fmt::format("x{}", study.ensemble.axes.size());
    axis.kind = Axis::Kind::uniform;
    axis.from = -0.05;
    axis.to = 0.05;
    axis.seed = 7;
    return Value(fmt::format("{} + {}", at, axis.name));
  };
  // A rotation with changed entries is none; such a configuration stays.
  for (const double q : system.default_q) study.ensemble.q.push_back(system.on_group ? Value(q) : spread(q));
  if (system.default_p.empty())
    for (const double v : system.default_v) study.ensemble.v.push_back(spread(v));
  else
    for (const double p : system.default_p) study.ensemble.p.push_back(spread(p));
  return study;
}

}  // namespace

void verify_own_system(Backend& backend, const Problem& problem) {
  const auto scalar = make_cpu_backend(Isa::scalar, 1);
  if (problem.study.system.file.empty() || backend.device() == scalar->device()) return;
  static Mutex mutex;
  static std::set<std::string> verified;
  const std::string name = Unit{UnitKind::advance, problem.system, problem.method, problem.key, best_isa()}.text() +
                           problem.study.system.digest + backend.name() + backend.device();
  {
    const std::lock_guard lock(mutex);
    if (verified.contains(name)) return;
  }
  const Problem small(near_the_default_state(problem));
  Result results[2];
  Backend* backends[] = {scalar.get(), &backend};
  for (int i = 0; i < 2; ++i) {
    MemorySink sink(results[i]);
    backends[i]->prepare({&small, 1});
    (void)run_on(*backends[i], small, sink, {.threads = 1});
  }
  for (const std::string& part : results[0].paths()) {
    const auto* a = std::get_if<std::vector<double>>(&results[0].dataset(part).values);
    const auto* b = std::get_if<std::vector<double>>(&results[1].dataset(part).values);
    if (a == nullptr || (a->size() == b->size() && std::memcmp(a->data(), b->data(), a->size() * sizeof(double)) == 0))
      continue;
    input_error(
        problem.study.place("system.file"),
        fmt::format("the kernels of {} on {} do not give the bits of those without packs ({} differs after ten "
                    "steps); write the header for any scalar: with the functions of rattleback for sin, exp and so on",
                    quote(problem.study.system.file.string(), most_of_a_path), backend.device(), part));
  }
  const std::lock_guard lock(mutex);
  verified.insert(name);
}

}  // namespace rattleback

// Completes and checks the time grid Study::Time of a study.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rattleback/base/message.hpp"
#include "rattleback/study/parts.hpp"
#include "rattleback/study/step_counter.hpp"

namespace rattleback {
namespace {

/// Returns whole_number; empty when no whole number does.
std::optional<std::uint64_t> whole(double quotient) {
  const double number = whole_number(quotient);
  return number > 0.0 ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
}

void check_step(const Study& study, double step) {
  if (step != 0 && std::isfinite(step)) return;
  input_error(study.place("time.step"),
              fmt::format("time.step must be positive, or negative for a run back in time (got {})", step));
}

/// Throws Error(input) unless steps of this size lead from the start towards the end.
void check_direction(const Study& study, double step) {
  const double span = *study.time.end - study.time.start;
  if ((span > 0) == (step > 0)) return;
  input_error(
      study.place("time.step"),
      fmt::format("time.end = {} is {} time.start = {}, and steps of {} lead away from it; change the sign of the "
                  "step, or the end",
                  *study.time.end, span > 0 ? "after" : "before", study.time.start, step));
}

/// Returns the number of intervals between start and end. `words` names the intervals in a message. A step is an
/// interval divided by `parts`.
std::uint64_t count_intervals(const Study& study, double interval, std::string_view words, double parts) {
  const Study::Time& time = study.time;
  const double span = *time.end - time.start;
  const double quotient = span / interval;
  if (const auto count = whole(quotient)) return *count;
  const double usable = std::max(1.0, std::round(quotient));
  if (usable >= 0x1p53) input_error(study.place("time.step"), fmt::format("{:.3g} steps are too many", quotient));
  input_error(
      study.place("time.end"),
      fmt::format("the time from {} to {} is not a whole number of {} (it is {:.12g}); use end = {:.12g} or "
                  "step = {:.12g}",
                  time.start, *time.end, words, quotient, time.start + usable * interval, span / usable / parts));
}

void check_end(const Study& study) {
  const Study::Time& time = study.time;
  if (*time.end != time.start && std::isfinite(*time.end)) return;
  input_error(
      study.place("time.end"),
      fmt::format("time.end must be a finite number other than time.start = {} (got {})", time.start, *time.end));
}

/// The most steps that a trajectory takes where a study does not say.
constexpr std::uint64_t standard_max_steps = 100'000'000;

/// Refuses keys that go with another control of the steps.
void check_control(const Study& study) {
  const Study::Time& time = study.time;
  if (!time.by_density()) {
    if (!time.density.empty())
      input_error(study.place("time.density"),
                  "time.density has no effect on steps of one size; add control = \"density\", or leave it out");
    if (time.max_steps)
      input_error(study.place("time.max_steps"),
                  "time.max_steps is for steps that follow a density (control = \"density\"); leave it out");
    return;
  }
  if (time.density.empty())
    input_error(study.place("time"),
                "time.density is missing; with control = \"density\" give a formula of the coordinates, such as "
                "density = \"(x^2 + y^2)^(-3/4)\"");
  for (const auto& [key, value] : {std::pair{"steps", time.steps}, {"sample_every", time.sample_every}})
    if (value.value_or(0) != 0)
      input_error(study.place(fmt::format("time.{}", key)),
                  fmt::format("time.{} counts steps of one size, and with control = \"density\" steps vary; give "
                              "time.end and time.samples",
                              key));
}

void complete_time_by_density(Study& study) {
  Study::Time& time = study.time;
  if (!time.end)
    input_error(study.place("time"), "time.end is missing; with control = \"density\" it says where a run ends");
  time.steps = 0;
  time.sample_every = 0;
  if (!time.samples) time.samples = 1;
  if (!time.max_steps) time.max_steps = standard_max_steps;
}

void complete_varying_time(Study& study) {
  Study::Time& time = study.time;
  if (!time.end || !time.samples || time.steps.value_or(0) != 0 || time.sample_every.value_or(0) != 0) {
    input_error(study.place("time.step"),
                "time.step varies over the ensemble (so the number of steps does); give time.end "
                "and time.samples, not time.steps or time.sample_every");
  }
  check_end(study);
  time.steps = 0;
  time.sample_every = 0;
}

/// Returns the divisor of `steps` closest to `samples`.
std::uint64_t nearest_divisor(std::uint64_t steps, std::uint64_t samples) {
  std::uint64_t best = 1;
  const auto distance = [&](std::uint64_t d) { return d > samples ? d - samples : samples - d; };
  for (std::uint64_t d = 1; d <= steps / d; ++d) {
    if (steps % d != 0) continue;
    if (distance(d) < distance(best)) best = d;
    if (distance(steps / d) < distance(best)) best = steps / d;
  }
  return best;
}

void complete_steps(Study& study, double step) {
  Study::Time& time = study.time;
  if (!time.end && !time.steps) input_error(study.place("time"), "time.end is missing; give time.end or time.steps");
  const bool both = time.end && time.steps;
  if (!time.end) {
    time.end = time.start + static_cast<double>(*time.steps) * step;
    if (whole((*time.end - time.start) / step) != time.steps) {
      input_error(study.place("time.steps"), fmt::format("{} steps of {} from {} are beyond the resolution of a double",
                                                         *time.steps, step, time.start));
    }
  }
  check_end(study);
  check_direction(study, step);
  const std::uint64_t steps = count_intervals(study, step, fmt::format("steps of {}", step), 1);
  if (both && steps != *time.steps) {
    input_error(
        study.place("time"),
        fmt::format("time.end = {} and time.steps = {} contradict each other; leave one out", *time.end, *time.steps));
  }
  time.steps = steps;
}

void complete_samples(Study& study) {
  Study::Time& time = study.time;
  const std::uint64_t steps = *time.steps;
  if (!time.sample_every && time.samples) {
    if (steps % *time.samples != 0) {
      input_error(study.place("time.samples"),
                  fmt::format("time.samples = {} does not divide the {} steps; use samples = {} or give sample_every",
                              *time.samples, steps, nearest_divisor(steps, *time.samples)));
    }
    time.sample_every = steps / *time.samples;
  }
  if (!time.sample_every) time.sample_every = steps;
  const std::uint64_t samples = (steps - 1) / *time.sample_every + 1;
  if (time.samples && *time.samples != samples) {
    input_error(study.place("time"), fmt::format("time.samples = {} and time.sample_every = {} contradict each other; "
                                                 "leave one out",
                                                 *time.samples, *time.sample_every));
  }
  time.samples = samples;
}

}  // namespace

void complete_time(Study& study, const Formulas& formulas) {
  if (!std::isfinite(study.time.start)) {
    input_error(study.place("time.start"), fmt::format("time.start must be finite (got {})", study.time.start));
  }
  check_control(study);
  if (study.time.by_density()) {
    complete_time_by_density(study);
    check_end(study);
    if (formulas.step_varies()) return;  // each step is checked where its trajectory begins
    check_step(study, formulas.data.step);
    check_direction(study, formulas.data.step);
    return;
  }
  if (formulas.step_varies()) {
    complete_varying_time(study);
    return;
  }
  check_step(study, formulas.data.step);
  complete_steps(study, formulas.data.step);
  complete_samples(study);
}

double Problem::sample_time(double step, std::uint64_t sample) const {
  const Study::Time& time = study.time;
  const std::uint64_t samples = *time.samples, every = *time.sample_every;
  if (sample == 0) return time.start;
  const double t =
      time.start + (every == 0 ? (*time.end - time.start) * static_cast<double>(sample) / static_cast<double>(samples)
                               : static_cast<double>(std::min(sample * every, *time.steps)) * step);
  if (sample < samples) return t;
  // Rounding must not move the end that the study gives.
  const double size = std::max(std::abs(time.start), std::abs(*time.end));
  return std::abs(t - *time.end) <= 4.0 * std::numeric_limits<double>::epsilon() * size ? *time.end : t;
}

std::vector<double> Problem::sample_times(double step) const {
  std::vector<double> times;
  for (std::uint64_t s = 0; s <= *study.time.samples; ++s) times.push_back(sample_time(step, s));
  return times;
}

std::uint64_t Problem::steps_per_sample(double step) const {
  check_step(study, step);
  check_direction(study, step);
  if (study.time.by_density()) return 0;
  const double count = static_cast<double>(study.time.samples.value_or(1));
  return count_intervals(study, step * count, fmt::format("steps of {} in each of {} samples", step, count), count);
}

}  // namespace rattleback

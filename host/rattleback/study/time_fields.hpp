#pragma once
// The rows of the table [time] of a study file.

#include "rattleback/study/grammars.hpp"

namespace rattleback {

inline constexpr const char* controls[] = {"fixed", "density"};

inline constexpr Field<Study::Time> time_fields[] = {
    field<&Study::Time::start>({.key = "start", .standard = "`0.0`", .text = "constant"}),
    field<&Study::Time::step>(
        {.key = "step",
         .standard = "required",
         .text = "expression in the axes and parameters; positive, or negative for a run back in time"}),
    field<&Study::Time::end>({.key = "end",
                              .standard = "required without `steps`",
                              .text = "constant; `end - start` must be a whole number of steps, to 1e-9 relative"}),
    field<&Study::Time::steps>({.key = "steps",
                                .standard = "required without `end`",
                                .text = "number of steps, in place of `end`",
                                .minimum = 1,
                                .excludes = "end"}),
    field<&Study::Time::sample_every>({.key = "sample_every",
                                       .standard = "one sample, at the end",
                                       .text = "steps between samples; the last interval may be shorter",
                                       .minimum = 1}),
    field<&Study::Time::samples>(
        {.key = "samples",
         .standard = "one sample, at the end",
         .text = "number of intervals between samples, in place of `sample_every`; it must divide the number of "
                 "steps",
         .minimum = 1,
         .excludes = "sample_every"}),
    field<&Study::Time::control>(
        {.key = "control",
         .standard = "`\"fixed\"`",
         .text =
             "`\"fixed\"`: all steps of a trajectory have the size `step`; `\"density\"`: a step has the size `step` "
             "divided by the density, [below](#steps-that-follow-a-density)",
         .choices = controls,
         .shown = Shown::changed}),
    field<&Study::Time::density>({.key = "density",
                                  .standard = "required with `control = \"density\"`",
                                  .text = "a formula of the coordinates and parameters, above 0: "
                                          "`\"(x^2 + y^2)^(-3/4)\"`"}),
    field<&Study::Time::max_steps>({.key = "max_steps",
                                    .standard = "`100000000`",
                                    .text = "with `control = \"density\"`: a trajectory that takes more steps fails",
                                    .minimum = 1,
                                    .maximum = 9007199254740992.0}),
};

/// 0 steps, where nobody gave them, say that the step varies.
struct TimeTable : TableOf<Study::Time, time_fields> {
  static void check(const FieldInfo& row, Study::Time time, const std::string& key, const Study& study) {
    if (!study.places.contains("time.steps") && time.steps == 0) time.steps.reset();
    if (!study.places.contains("time.sample_every") && time.sample_every == 0) time.sample_every.reset();
    TableOf::check(row, time, key, study);
  }
};

}  // namespace rattleback

#pragma once
// The rows of what a study asks of its trajectories: [[observable]], [[section]], [[average]] and [[fit]].

#include "rattleback/study/fate_fields.hpp"

namespace rattleback {

inline constexpr Field<Histogram> histogram_fields[] = {
    field<&Histogram::from>({.key = "from", .standard = "required", .text = "the lower edge of the first bin"}),
    field<&Histogram::to>({.key = "to", .standard = "required", .text = "the upper edge of the last bin"}),
    field<&Histogram::bins>({.key = "bins",
                             .standard = "required",
                             .text = "number of bins, 1 to 100000",
                             .minimum = 1,
                             .maximum = 100000}),
};

template <>
struct Grammar<Histogram> : TableOf<Histogram, histogram_fields> {};

/// The rows that several tables have.
template <auto member>
inline constexpr auto quantiles_field = field<member>({.key = "quantiles",
                                                       .standard = "none",
                                                       .text = "levels in 0 to 1",
                                                       .wanted = "an array of levels",
                                                       .minimum = 0,
                                                       .maximum = 1});
template <auto member>
inline constexpr auto histogram_field = field<member>({.key = "histogram",
                                                       .standard = "none",
                                                       .text = "`{ from, to, bins }`, as of an observable",
                                                       .wanted = "a table { from, to, bins }"});

inline constexpr Field<Observable> observable_fields[] = {
    field<&Observable::name>({.key = "name",
                              .standard = "required",
                              .text =
                                  "of a formula: a name of your own. Otherwise one the system offers (`energy`, "
                                  "`constraint` and its own, see `rattleback "
                                  "describe`), or `q[i]`, `v[i]`, `p[i]`, `lambda[i]`, `constraint[i]`, "
                                  "`hidden_constraint[i]` and `p_projected[i]` (of "
                                  "holonomic systems), `iterations`, `residual`, `step_size`, `density_error` (0 with "
                                  "steps of one size); those of tangent vectors, below; of driven systems "
                                  "`power`, `work` and `energy_balance` ([forces](learn/forces.md#power-and-work)); "
                                  "of the GGL methods also those of a step, below"}),
    field<&Observable::formula>(
        {.key = "formula",
         .standard = "none",
         .text = "an expression of the state ([formulas.md](formulas.md)): `\"x v[1] - y v[0]\"`"}),
    field<&Observable::statistics>({.key = "statistics",
                                    .standard = "`[\"mean\"]`",
                                    .text = "of `mean`, `std`, `mse`, `rms`, `min`, `max`, `maxabs`",
                                    .wanted = "an array of names",
                                    .shown = Shown::always}),
    quantiles_field<&Observable::quantiles>,
    field<&Observable::histogram>(
        {.key = "histogram",
         .standard = "none",
         .text = "`{ from, to, bins }`: counts over the ensemble in equal bins; edge i is from + (to - from) i/bins",
         .wanted = "a table { from, to, bins }"}),
    field<&Observable::correlation>(
        {.key = "correlation",
         .standard = "none",
         .text = "names of other observables: the correlation of this one with each over the ensemble",
         .wanted = "an array of names of observables"}),
    field<&Observable::reference>({.key = "reference", .standard = "see below", .text = "`\"initial\"` or a constant"}),
    field<&Observable::values>({.key = "values",
                                .standard = "`false`",
                                .text = "`true`: the result has the value of each trajectory at each sample time, 8 "
                                        "bytes each. `rattleback compare --statistics` "
                                        "pairs them ([compare.md](commands/compare.md#statistics))",
                                .shown = Shown::changed}),
};

template <>
struct Grammar<Observable> : TableOf<Observable, observable_fields> {
  static void read(const toml::node& node, const std::string& key, const FieldInfo& row, Observable& observable) {
    observable.statistics = {"mean"};
    TableOf::read(node, key, row, observable);
  }
};

inline constexpr Field<Study::Section::Returns> returns_fields[] = {
    field<&Study::Section::Returns::statistics>({.key = "statistics",
                                                 .standard = "`[\"mean\"]`",
                                                 .text = "of `mean`, `std`, `min`, `max`",
                                                 .wanted = "an array of names",
                                                 .shown = Shown::always}),
    quantiles_field<&Study::Section::Returns::quantiles>,
    histogram_field<&Study::Section::Returns::histogram>,
};

template <>
struct Grammar<Study::Section::Returns> : TableOf<Study::Section::Returns, returns_fields> {
  static void read(const toml::node& node, const std::string& key, const FieldInfo& row,
                   Study::Section::Returns& returns) {
    returns.statistics = {"mean"};
    TableOf::read(node, key, row, returns);
  }
};

inline constexpr Field<Study::Section> section_fields[] = {
    field<&Study::Section::name>(
        {.key = "name", .standard = "`\"0\"`, `\"1\"`, ..", .text = "of the group in the result"}),
    field<&Study::Section::surface>({.key = "surface",
                                     .standard = "required without `every`",
                                     .text = "the surface is where this expression is 0"}),
    field<&Study::Section::every>({.key = "every",
                                   .standard = "none",
                                   .text = "in place of a surface: a period, such as `\"2 pi/w\"`. The states at the "
                                           "times that are multiples of it are collected",
                                   .excludes = "surface"}),
    field<&Study::Section::direction, Direction>({.key = "direction",
                                                  .standard = "`\"+\"`",
                                                  .text = "crossings from negative to positive as the time grows, also "
                                                          "of a run back in time; `\"-\"`: the other way; `\"both\"`",
                                                  .choices = directions}),
    field<&Study::Section::returns>(
        {.key = "returns",
         .standard = "none",
         .text = "`{ statistics, quantiles, histogram }`: statistics of the times between the crossings of a "
                 "trajectory, over all trajectories, below",
         .wanted = "a table { statistics, quantiles, histogram }"}),
};

template <>
struct Grammar<Study::Section> : TableOf<Study::Section, section_fields> {
  static void read(const toml::node& node, const std::string& key, const FieldInfo& row, Study::Section& section) {
    TableOf::read(node, key, row, section);
    if (section.every && section.direction != 1)
      input_error(place_of(node.source()),
                  fmt::format("{0}.direction is given, and a section with {0}.every has none; leave it out", key));
  }
};

inline constexpr const char* average_kinds[] = {"mean", "frequency"};

inline constexpr Field<Study::Average> average_fields[] = {
    field<&Study::Average::name>({.key = "name", .standard = "required", .text = "of the group in the result"}),
    field<&Study::Average::formula>(
        {.key = "formula",
         .standard = "required",
         .text = "an expression of the state, like that of an observable; with `kind = \"frequency\"` an angle"}),
    field<&Study::Average::kind, Choice<Study::Average::Kind>>(
        {.key = "kind",
         .standard = "`\"mean\"`",
         .text = "`\"mean\"`: the average of the formula; `\"frequency\"`: that of the rate at which the angle grows",
         .choices = average_kinds}),
    field<&Study::Average::statistics>({.key = "statistics",
                                        .standard = "`[\"mean\"]`",
                                        .text = "over the trajectories, of `mean`, `std`, `min`, `max`",
                                        .wanted = "an array of names",
                                        .shown = Shown::always}),
    quantiles_field<&Study::Average::quantiles>,
    histogram_field<&Study::Average::histogram>,
};

template <>
struct Grammar<Study::Average> : TableOf<Study::Average, average_fields> {};

inline constexpr Field<Fit> fit_fields[] = {
    field<&Fit::name>({.key = "name", .standard = "required", .text = "of the group in the result"}),
    field<&Fit::observable>({.key = "observable", .standard = "required", .text = "an observable of the study"}),
    field<&Fit::statistic>({.key = "statistic", .standard = "`\"mse\"`", .text = "`\"mse\"` or `\"mean\"`"}),
    field<&Fit::model, Choice<Fit::Model>>({.key = "model",
                                            .standard = "`\"line\"`",
                                            .text = "`\"line\"`: intercept + slope t; `\"power\"`: amplitude "
                                                    "t^exponent; `\"exponential\"`: amplitude exp(rate t)",
                                            .choices = fit_models}),
    field<&Fit::from>({.key = "from",
                       .standard = "first sample",
                       .text = "constant; at least three samples must lie between `from` and `to`"}),
    field<&Fit::to>({.key = "to", .standard = "last sample", .text = "constant"}),
};

template <>
struct Grammar<Fit> : TableOf<Fit, fit_fields> {};

}  // namespace rattleback

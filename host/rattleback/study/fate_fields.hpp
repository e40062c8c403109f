#pragma once
// The rows of [[stop]], [[fate]] and [[map]].

#include "rattleback/study/grammars.hpp"

namespace rattleback {

inline constexpr const char* directions[] = {"+", "-", "both"};
inline constexpr const char* map_labels[] = {"fate", "stop"};

inline constexpr Field<Study::Stop> stop_fields[] = {
    field<&Study::Stop::name>(
        {.key = "name", .standard = "`\"1\"`, `\"2\"`, ..", .text = "of the group in the result"}),
    field<&Study::Stop::when>({.key = "when",
                               .standard = "required without `section`",
                               .text = "a trajectory ends where this expression changes its sign"}),
    field<&Study::Stop::direction, Direction>({.key = "direction",
                                               .standard = "`\"+\"`",
                                               .text = "of `when`, as in `[[section]]`",
                                               .choices = directions,
                                               .shown = Shown::changed}),
    field<&Study::Stop::section>({.key = "section",
                                  .standard = "none",
                                  .text = "in place of `when`: the name of a section, whose crossings are counted",
                                  .excludes = "when"}),
    field<&Study::Stop::count>({.key = "count",
                                .standard = "required with `section`",
                                .text = "the crossing of the section, counted from 1, at which a trajectory ends",
                                .minimum = 1}),
    field<&Study::Stop::quantiles>({.key = "quantiles",
                                    .standard = "`[0.5]`",
                                    .text = "levels in 0 to 1, of the times at which trajectories end",
                                    .wanted = "an array of levels",
                                    .minimum = 0,
                                    .maximum = 1,
                                    .shown = Shown::always}),
};

template <>
struct Grammar<Study::Stop> : TableOf<Study::Stop, stop_fields> {};

inline constexpr Field<Study::Fate> fate_fields[] = {
    field<&Study::Fate::name>({.key = "name", .standard = "required", .text = "of the fate in the result"}),
    field<&Study::Fate::condition>({.key = "where",
                                    .standard = "required without `stop`",
                                    .text = "a condition on the final state and its time, `\"x < 0 && t < 100\"`",
                                    .wanted = "a condition"}),
    field<&Study::Fate::stop>({.key = "stop",
                               .standard = "none",
                               .text = "in place of `where`: the name of the stop that ended the trajectory",
                               .excludes = "where"}),
};

template <>
struct Grammar<Study::Fate> : TableOf<Study::Fate, fate_fields> {};

inline constexpr Field<Study::Map> map_fields[] = {
    field<&Study::Map::name>({.key = "name", .standard = "required", .text = "of the group in the result"}),
    field<&Study::Map::of>({.key = "of",
                            .standard = "`\"fate\"`",
                            .text = "the labels: `\"fate\"`, or `\"stop\"`, the stop that ended the trajectory",
                            .choices = map_labels}),
    field<&Study::Map::axes>({.key = "axes",
                              .standard = "required",
                              .text = "the axes of the rows and of the columns: two with given values (range, values); "
                                      "all others have one value",
                              .wanted = "an array of two names of axes"}),
};

template <>
struct Grammar<Study::Map> : TableOf<Study::Map, map_fields> {};

}  // namespace rattleback

#pragma once
// RB_DESCRIBE(list, function) defines a function that adds the systems of a list of builtin/systems.hpp.

#include "rattleback/builtin/systems.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/study/builtin/builtin.hpp"

#define RB_ALIAS(id, header, ...) \
  template <class T>              \
  using System_##id = __VA_ARGS__;
#define RB_ADD(id, header, ...) systems.push_back(&describe<System_##id>({"rattleback/systems/" header, #__VA_ARGS__}));
#define RB_DESCRIBE(list, function)                      \
  namespace rattleback {                                 \
  namespace {                                            \
  list(RB_ALIAS)                                         \
  }                                                      \
  void function(SystemEntries& systems);                 \
  void function(SystemEntries& systems) { list(RB_ADD) } \
  }

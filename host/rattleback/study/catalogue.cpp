#include "rattleback/study/catalogue.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/floating_point.hpp"
#include "rattleback/builtin/methods.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/builtin/builtin.hpp"

namespace rattleback {

void velocity_of_state(const SystemEntry& system, SystemAt place, const double* q, const double* p, bool in_space,
                       double* v) {
  const PointFunctions& at = point_functions(system);
  if (!in_space || at.turn == nullptr) {
    at.velocity(place, q, p, v);
    return;
  }
  std::vector<double> in_body(p, p + system.n);
  at.turn(q, nullptr, in_body.data(), false);
  at.velocity(place, q, in_body.data(), v);
  at.turn(q, v, nullptr, true);
}

bool multiplier_of_state(const SystemEntry& system, SystemAt place, const double* q, const double* p, bool in_space,
                         double* lambda) {
  const PointFunctions& at = point_functions(system);
  std::vector<double> in_body(p, p + system.n), v(in_body.size());
  if (in_space && at.turn != nullptr) at.turn(q, nullptr, in_body.data(), false);
  at.velocity(place, q, in_body.data(), v.data());
  return at.multiplier(place, q, v.data(), lambda);
}

Catalogue& Catalogue::instance() {
  static Catalogue catalogue;
  return catalogue;
}

Catalogue::Catalogue() {
  const FloatingPointScope environment;
  for (const MethodEntry* method : builtin_methods) add(*method);
  add_builtin_systems(systems_);
}

void Catalogue::add(const SystemEntry& system) { systems_.push_back(&system); }
void Catalogue::add(const MethodEntry& method) {
  // The entries of the list are checked when they are compiled (builtin/methods.hpp).
  for (const auto& [member, value] : {std::pair{"header", method.header}, std::pair{"step", method.step}})
    if (value == nullptr)
      throw Error(Error::Kind::input, fmt::format("the entry of the method '{}' has no {}", method.name, member));
  methods_.push_back(&method);
}

std::vector<std::string> Catalogue::system_names() const {
  std::vector<std::string> names;
  for (const SystemEntry* system : systems_)
    if (std::ranges::find(names, system->name) == names.end()) names.emplace_back(system->name);
  return names;
}

std::vector<const SystemEntry*> Catalogue::instances(std::string_view name) const {
  std::vector<const SystemEntry*> found;
  for (const SystemEntry* system : systems_)
    if (name == system->name || (!name.empty() && name == system->alias)) found.push_back(system);
  return found;
}

const MethodEntry* Catalogue::method(std::string_view name) const {
  for (const MethodEntry* method : methods_)
    if (name == method->name) return method;
  return nullptr;
}

std::vector<PairKey> Catalogue::keys(const SystemEntry& system, const MethodEntry& method) const {
  if (!method.take(system)) return {};
  std::vector<PairKey> keys{{}};
  int position = 0;
  for (const OptionInfo& option : method.options) {
    if (!option.compiled) continue;
    const bool choice = option.kind == OptionKind::choice;
    const int first = choice ? 0 : static_cast<int>(option.minimum);
    int last = choice ? static_cast<int>(option.choices.size()) - 1 : static_cast<int>(option.maximum);
    if (!has_effect(option, system)) last = first;
    std::vector<PairKey> longer;
    for (const PairKey& key : keys)
      for (int value = first; value <= last; ++value) {
        longer.push_back(key);
        longer.back().value[position] = value;
      }
    keys = std::move(longer);
    ++position;
  }
  if (method.has != nullptr) std::erase_if(keys, [&](const PairKey& key) { return !method.has(key, system); });
  return keys;
}

}  // namespace rattleback

#include "rattleback/catalogue/catalogue.hpp"

#include <algorithm>

namespace rattleback {

void register_builtin(Catalogue& catalogue);  // generated from catalogue.def

const char* to_string(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return "scalar";
    case Isa::neon:
      return "neon";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "";
}

bool has_isa(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::scalar:
      return __builtin_cpu_supports("fma");
#ifdef RATTLEBACK_HAS_avx2
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
#ifdef RATTLEBACK_HAS_avx512
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
#endif
    default:
      return false;
#elif defined(__aarch64__) && defined(RATTLEBACK_HAS_neon)
    default:
      return isa == Isa::scalar || isa == Isa::neon;  // every aarch64 processor has NEON
#else
    default:
      return isa == Isa::scalar;
#endif
  }
}

Isa best_isa() {
  for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::neon})
    if (has_isa(isa)) return isa;
  return Isa::scalar;
}

void velocity_of_state(const SystemEntry& system, const double* parameters, const double* q, const double* p,
                       bool in_space, double* v) {
  if (!in_space || system.turn == nullptr) {
    system.velocity(parameters, q, p, v);
    return;
  }
  std::vector<double> in_body(p, p + system.n);
  system.turn(q, nullptr, in_body.data(), false);
  system.velocity(parameters, q, in_body.data(), v);
  system.turn(q, v, nullptr, true);
}

Catalogue& Catalogue::instance() {
  static Catalogue catalogue;
  return catalogue;
}

Catalogue::Catalogue() { register_builtin(*this); }

void Catalogue::add(const SystemEntry& system) { systems_.push_back(&system); }
void Catalogue::add(const MethodEntry& method) { methods_.push_back(&method); }

void Catalogue::add(const SystemEntry& system, std::string_view method_name, Isa isa,
                    std::span<const CompiledPair> pairs) {
  pairs_.push_back({&system, method(method_name), isa, pairs});
}

void Catalogue::add(const SystemEntry& system, std::string_view method_name, std::span<const CompiledCudaPair> pairs) {
  cuda_pairs_.push_back({&system, method(method_name), Isa::scalar, pairs});
}

void Catalogue::add(const SystemEntry& system, std::string_view method_name, std::span<const CountedPair> pairs) {
  counted_pairs_.push_back({&system, method(method_name), Isa::scalar, pairs});
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

namespace {

template <class Compiled, class PairList>
const Compiled* find_pair(const PairList& pairs, const SystemEntry& system, const MethodEntry& method, PairKey key,
                          Isa isa) {
  for (const auto& entry : pairs) {
    if (entry.system != &system || entry.method != &method || entry.isa != isa) continue;
    for (const Compiled& compiled : entry.compiled)
      if (compiled.key == key && compiled.advance != nullptr) return &compiled;
  }
  return nullptr;
}

}  // namespace

const CompiledPair* Catalogue::pair(const SystemEntry& system, const MethodEntry& method, PairKey key, Isa isa) const {
  return find_pair<CompiledPair>(pairs_, system, method, key, isa);
}

const CompiledCudaPair* Catalogue::cuda_pair(const SystemEntry& system, const MethodEntry& method, PairKey key) const {
  return find_pair<CompiledCudaPair>(cuda_pairs_, system, method, key, Isa::scalar);
}

const CountedPair* Catalogue::counted_pair(const SystemEntry& system, const MethodEntry& method, PairKey key) const {
  return find_pair<CountedPair>(counted_pairs_, system, method, key, Isa::scalar);
}

bool Catalogue::takes(const MethodEntry& method, const SystemEntry& system) const {
  return !keys(system, method).empty();
}

bool Catalogue::refuses(const MethodEntry& method, const SystemEntry& system) const {
  const auto same = [&](const auto& entry) { return entry.system == &system && entry.method == &method; };
  return std::ranges::any_of(pairs_, same) && !takes(method, system);
}

std::vector<PairKey> Catalogue::keys(const SystemEntry& system, const MethodEntry& method) const {
  std::vector<PairKey> keys;
  std::vector<AdvanceFunction> seen;
  for (const auto& entry : pairs_) {
    if (entry.system != &system || entry.method != &method || entry.isa != Isa::scalar) continue;
    for (const CompiledPair& compiled : entry.compiled) {
      if (compiled.advance == nullptr || std::ranges::find(seen, compiled.advance) != seen.end()) continue;
      seen.push_back(compiled.advance);
      keys.push_back(compiled.key);
    }
  }
  return keys;
}

}  // namespace rattleback

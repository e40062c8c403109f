// Runs the compiled time loops with Google Benchmark: every method on every system that the method takes, with the
// widest instruction set, on one core.
//
//   build/release/bench/bench_kernels --benchmark_filter=chaotic --benchmark_repetitions=9

#include <string>

#include <benchmark/benchmark.h>

#include "loops.hpp"

using namespace rattleback;

int main(int argc, char** argv) {
  const Catalogue& catalogue = Catalogue::instance();
  for (const SystemEntry* system : catalogue.systems())
    for (const MethodEntry* method : catalogue.methods())
      for (const PairKey key : catalogue.keys(*system, *method)) {
        std::string name = std::string(system->name) + "/" + system->variant;
        for (const StructureInfo& s : system->structure)
          name += "/" + std::string(s.name) + std::to_string(int(s.value));
        name += "/" + std::string(method->name);
        const int* value = key.value;
        for (const OptionInfo& option : method->options)
          if (option.compiled) name += "/" + std::string(option.name) + std::to_string(*value++);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          bench::Loop loop(*system, *method, key, bench::standard_numbers(*system, *method, key), best_isa(),
                           0.05 * system->time_scale);
          for (auto _ : state) loop.advance(16);
          state.SetItemsProcessed(state.iterations() * 16 * chunk_size);  // trajectory-steps
          state.counters["iterations"] = loop.iterations_per_step();
        });
      }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

// Compares two results: compare_results A.h5 B.h5. Prints the datasets that differ, the fingerprints, and the differences of
// statistics where both results have the values of single trajectories.

#include <cstdio>

#include "rattleback/measure/paired.hpp"
#include "rattleback/results/diff.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/with_error.hpp"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: compare_results A.h5 B.h5\n");
    return 2;
  }
  const rattleback::ResultFile first(argv[1]), second(argv[2]);
  const rattleback::DiffReport report = rattleback::diff(first, second);
  for (const rattleback::DatasetDiff& dataset : report.datasets)
    if (dataset.status != rattleback::DatasetDiff::Status::identical) std::printf("%s differs\n", dataset.path.c_str());
  std::printf("%s\n%s\n", first.fingerprint().c_str(), second.fingerprint().c_str());

  if (first.datasets().contains("/observables/energy/values")) {
    const rattleback::PairedReport paired = rattleback::paired_differences(first, second);
    for (const rattleback::PairedSample& sample : paired.observables[0].samples)
      std::puts(rattleback::with_error(sample.mse.difference.value, sample.mse.difference.error).c_str());
  }
  return report.identical() ? 0 : 1;
} catch (const rattleback::Error& error) {
  std::fprintf(stderr, "compare_results: %s\n", error.what());
  return 2;
}

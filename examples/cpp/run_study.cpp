// Runs a study file from a program of one's own: run_study STUDY.toml RESULT.h5

#include <cstdio>
#include <exception>
#include <span>
#include <stop_token>

#include "rattleback/rattleback.hpp"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: run_study STUDY.toml RESULT.h5\n");
    return 2;
  }

  rattleback::Study study = rattleback::Study::load(argv[1]);
  study.method.options["stages"] = 3;

  std::stop_source stop;
  rattleback::RunOptions options;
  options.backend = "cpu";
  options.stop = stop.get_token();
  options.progress = [&stop](const rattleback::Progress& progress) {
    if (progress.seconds > 60.0) stop.request_stop();  // run() then throws
  };
  const rattleback::Result result = rattleback::run(study, options);

  const std::span<const double> time = result.time(), mse = result.statistic("energy", "mse");
  const auto q = result.matrix("/final/q");  // an Eigen::Map, one row per trajectory
  std::printf("mean squared energy error at t = %g: %.17g\n", time.back(), mse.back());
  std::printf("largest final distance from the origin: %.17g\n", q.rowwise().norm().maxCoeff());
  result.save(argv[2]);
  return result.summary.failed == 0 ? 0 : 3;
} catch (const std::exception& error) {
  std::fprintf(stderr, "run_study: %s\n", error.what());
  return 1;
}

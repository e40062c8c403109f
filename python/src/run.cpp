// Runs of studies.

#include "core.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback::python {
namespace {

std::shared_ptr<Stored> run_study(const SharedProblem& problem, const std::string& backend, unsigned threads,
                                  std::uint64_t tile, const std::optional<std::filesystem::path>& output,
                                  const std::filesystem::path& rescue, Call::Show show, Call::Warn warn) {
  Call call(std::move(show), std::move(warn));
  return call([&] {
    RunOptions options = call.options();
    options.backend = backend;
    options.threads = threads;
    options.tile = tile;
    options.rescue = [&] { return call.keeps() ? rescue : std::filesystem::path(); };
    Session session(options);
    if (!output) return std::make_shared<Stored>(session.run(*problem));
    (void)session.run(*problem, *output);
    return std::make_shared<Stored>(ResultFile(*output, true));
  });
}

std::shared_ptr<Stored> resume(const std::filesystem::path& result, const std::string& backend, unsigned threads,
                               Call::Show show, Call::Warn warn) {
  Call call(std::move(show), std::move(warn));
  return call([&] {
    RunOptions options = call.options();
    options.backend = backend;
    options.threads = threads;
    (void)Session(options).resume(result);
    return std::make_shared<Stored>(ResultFile(result, true));
  });
}

void prepare(const SharedProblem& problem, const std::string& backend) {
  Call call;
  call([&] {
    RunOptions options = call.options();
    options.backend = backend;
    Session(options).prepare(*problem);
  });
}

}  // namespace

void bind_run(nb::module_& module) {
  module.def("run", &run_study, nb::arg("problem"), nb::arg("backend"), nb::arg("threads"), nb::arg("tile"),
             nb::arg("output").none(), nb::arg("rescue"), nb::arg("show").none(), nb::arg("warn").none(),
             "Runs a study, in memory or into a file. Raises InputError, RunError or KeyboardInterrupt.");
  module.def("resume", &resume, nb::arg("result"), nb::arg("backend"), nb::arg("threads"), nb::arg("show").none(),
             nb::arg("warn").none(), "Continues an interrupted run into a file.");
  module.def("prepare", &prepare, nb::arg("problem"), nb::arg("backend"),
             "Loads the kernels, and compiles missing ones.");
}

}  // namespace rattleback::python

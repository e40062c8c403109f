// Parts of an ensemble.

#include "core.hpp"
#include "rattleback/parts/cut.hpp"
#include "rattleback/parts/folder.hpp"
#include "rattleback/parts/merge.hpp"
#include "rattleback/parts/worker.hpp"
#include "rattleback/results/run_files.hpp"

namespace rattleback::python {
namespace {

/// Makes or opens the folder of parts. Returns the number of parts: at most one per chunk where `most` is set.
std::uint64_t open_parts(const SharedProblem& problem, const std::filesystem::path& result, std::uint64_t parts,
                         bool at_most) {
  return Call()([&] {
    const std::filesystem::path place = check_output(result, problem->study.inputs());
    if (at_most) parts = std::min(parts, most_parts(trajectories_of(*problem)));
    return PartsFolder(place, *problem, parts, 1).cut().parts();
  });
}

std::uint64_t run_part(const SharedProblem& problem, const std::filesystem::path& result, std::uint64_t parts,
                       std::uint64_t number, const std::string& backend, unsigned threads, Call::Show show,
                       Call::Warn warn) {
  Call call(std::move(show), std::move(warn));
  return call([&] {
    const PartsFolder folder(followed(result), *problem, parts, 1);
    RunOptions options = call.options();
    options.backend = backend;
    options.threads = threads;
    Session session(options);
    WorkerOptions work_options;
    work_options.only = {number};
    work_options.stop = call.token();
    work_options.progress = options.progress;
    return work(session, *problem, folder, work_options).failed;
  });
}

std::shared_ptr<Stored> merge_parts(const std::filesystem::path& result, bool linked, unsigned threads,
                                    Call::Warn warn) {
  Call call({}, std::move(warn));
  return call([&] {
    MergeOptions options;
    options.linked = linked;
    options.threads = threads;
    options.warn = [&](const std::string& text) { call.warn(text); };
    options.stop = call.token();
    const PartsFolder folder(followed(result));
    (void)merge(folder, options);
    return std::make_shared<Stored>(ResultFile(folder.result(), true));
  });
}

}  // namespace

void bind_parts(nb::module_& module) {
  module.def("open_parts", &open_parts, nb::arg("problem"), nb::arg("result"), nb::arg("parts"), nb::arg("at_most"),
             "Makes or opens the folder of the parts of a result. Returns their number.");
  module.def("run_part", &run_part, nb::arg("problem"), nb::arg("result"), nb::arg("parts"), nb::arg("number"),
             nb::arg("backend"), nb::arg("threads"), nb::arg("show").none(), nb::arg("warn").none(),
             "Computes a part, from 1. Returns the number of its failed trajectories.");
  module.def("merge", &merge_parts, nb::arg("result"), nb::arg("linked"), nb::arg("threads"), nb::arg("warn").none(),
             "Merges the parts of a result.");
}

}  // namespace rattleback::python

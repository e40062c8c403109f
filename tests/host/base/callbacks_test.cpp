// Functions of a user are called without any lock of the library, so that they may call the library again.

#include <atomic>

#include "environment.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

namespace rattleback::tests {
namespace {

const std::string study_text = R"toml([study]
name = "callbacks"
[system]
name = "callbacks-oscillator"
coordinates = ["x"]
potential = "x^2/2 + x^6/77"
initial = { q = [1], v = [0] }
[method]
name = "lobatto"
stages = 2
[time]
step = 0.01
end = 20
samples = 20
[ensemble]
axes = [ { name = "a", from = 1, to = 2, count = 600 } ]
[ensemble.initial]
q = ["a"]
v = [0]
[[observable]]
name = "energy"
statistics = ["mean"]
quantiles = [0.5]
values = true
[[section]]
surface = "x"
[output]
checkpoint = "1ms"
)toml";

class Callbacks : public FolderTest {
 protected:
  ~Callbacks() override {
    kernels.set_report({}, {});
    kernels.set_stop({});
    kernels.set_policy(KernelPolicy::automatic);
  }

  /// What every function of the user does here: it looks at the locks, and asks the library for something that takes locks.
  void called(std::atomic<int>& count) {
    ++count;
    EXPECT_EQ(locks_held(), 0);
    (void)kernels.policy();
  }

  Kernels& kernels = Kernels::instance();
  const Variable cache{"XDG_CACHE_HOME", directory.c_str()}, packs{"RATTLEBACK_KERNEL_PATH", "/nope:/nope:/dev/null"};
};

TEST_F(Callbacks, HoldNoLock) {
  std::atomic<int> reports = 0, warnings = 0, questions = 0, progress = 0;
  kernels.set_policy(KernelPolicy::automatic);  // opens the stores again
  kernels.set_report([&](const std::string&) { called(reports); },
                     [&](const std::string& text) {
                       called(warnings);
                       EXPECT_NE(text.find("is left out (it is no folder)"), std::string::npos) << text;
                     });
  kernels.set_stop([&] {
    called(questions);
    return false;
  });
  RunOptions options;
  options.backend = "cpu:scalar";
  options.tile = 256;
  options.threads = 2;
  options.warn = [&](const std::string&) { called(warnings); };
  options.progress = [&](const Progress&) {
    called(progress);
    if (progress == 1) (void)Problem(Study::parse(study_text));  // takes the lock of the systems
  };
  const Study study = Study::parse(study_text);
  const Summary summary = Session(options).run(study, directory / "r.h5");
  EXPECT_EQ(summary.failed, 0u);
  EXPECT_GE(reports, 3);   // the entry, the loop, the observables
  EXPECT_EQ(warnings, 2);  // one for each pack
  EXPECT_GT(questions, 0);
  EXPECT_GT(progress, 0);
}

}  // namespace
}  // namespace rattleback::tests

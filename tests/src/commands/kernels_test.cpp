// Kernels on demand: compiled, cached, packed, refused.

#include <chrono>
#include <regex>
#include <set>
#include <thread>

#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>

#include "kernels_on_demand.hpp"

using nlohmann::json;

namespace {

TEST_F(KernelsOnDemand, AreCompiledOnce) {
  const std::string loud = "$RB run s.toml --backend cpu:scalar -o r.h5 --json";
  const Outcome first = in_cache(loud);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(lines(first.err, "rattleback: compiling henon-heiles, lobatto, 2 stages, scalar: "), 1u) << first.err;
  EXPECT_EQ(lines(first.err, " s, once"), 2u) << first.err;  // and the observables
  // Each is announced before it is compiled, with the time that it may take, and nothing turns where there is no terminal.
  EXPECT_EQ(lines(first.err, "rattleback: compiling henon-heiles, lobatto, 2 stages, scalar (about "), 1u) << first.err;
  EXPECT_EQ(lines(first.err, " s) .."), 2u) << first.err;
  EXPECT_LT(first.err.find(" s) .."), first.err.find(" s, once")) << first.err;
  EXPECT_EQ(first.err.find('\r'), std::string::npos) << first.err;
  EXPECT_EQ(folders(kernels).size(), 2u);
  const auto compiled_now = datasets(directory / "r.h5");
  const Outcome second = in_cache(loud);
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(lines(second.err, "compiling"), 0u) << second.err;
  EXPECT_TRUE(datasets(directory / "r.h5") == compiled_now);
  // --quiet says nothing at all
  const Outcome quiet = in_cache(std::string(run) + " -o q.h5", "other");
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_TRUE(datasets(directory / "q.h5") == compiled_now);

  const Outcome cache = in_cache("$RB cache --json");
  ASSERT_EQ(cache.exit_code, 0) << cache.err;
  const json listed = json::parse(cache.out);
  EXPECT_EQ(listed["folder"], (directory / kernels).string());
  ASSERT_EQ(listed["kernels"].size(), 2u);
  EXPECT_GT(listed["bytes"], 10000);
  std::set<std::string> titles;
  for (const json& kernel : listed["kernels"]) titles.insert(kernel["title"]);
  EXPECT_TRUE(titles.contains("henon-heiles, lobatto, 2 stages, scalar")) << cache.out;
  const std::string table = in_cache("$RB cache").out;
  EXPECT_NE(table.find("henon-heiles, lobatto, 2 stages, scalar"), std::string::npos) << table;
  EXPECT_NE(table.find("2 kernels of "), std::string::npos) << table;
  EXPECT_NE(in_cache("$RB cache --trim 10").out.find("removed: 0 kernels"), std::string::npos);
  EXPECT_NE(in_cache("$RB cache --trim 0").out.find("removed: 2 kernels"), std::string::npos);
  EXPECT_TRUE(folders(kernels).empty());
  EXPECT_EQ(in_cache("$RB cache --trim -1").exit_code, 2);
}

TEST_F(KernelsOnDemand, AreCompiledBeforeTheyAreNeeded) {
  const Outcome made = in_cache("$RB compile s.toml --isa scalar --bench");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("3 kernels: 3 compiled now, 0 there before"), std::string::npos) << made.out;
  EXPECT_EQ(lines(made.err, " s, once"), 3u) << made.err;
  EXPECT_EQ(in_cache(std::string(run) + " --kernels cached -o r.h5").exit_code, 0);
  EXPECT_EQ(in_cache("$RB bench s.toml --backend cpu:scalar --kernels cached --quiet").exit_code, 0);
  const Outcome again = in_cache("$RB compile s.toml --isa scalar --bench");
  EXPECT_NE(again.out.find("3 kernels: 0 compiled now, 3 there before"), std::string::npos) << again.out;
  EXPECT_EQ(in_cache("$RB compile s.toml --isa scalar --quiet").out, "");
}

TEST_F(KernelsOnDemand, RefuseWhatIsNotThere) {
  for (const char* policy : {"builtin", "cached"})
    expect_refused(
        in_cache(fmt::format("{} --kernels {}", run, policy)),
        {"henon-heiles, lobatto, 2 stages, scalar is not compiled", policy, "rattleback compile", "--kernels auto"});
  EXPECT_EQ(in_cache(std::string(run) + " --kernels no").exit_code, 2);
}

TEST_F(KernelsOnDemand, ComeFromAPackWithoutACompiler) {
  const auto compiled_now = result();
  const auto cached = result("", "cache");
  EXPECT_TRUE(cached == compiled_now);
  const Outcome made = in_cache("umask 077; $RB compile s.toml --isa scalar --pack p/q");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("2 copied"), std::string::npos) << made.out;
  ASSERT_EQ(folders("p/q").size(), 2u);
  for (const fs::path& folder : folders("p/q")) {  // other users can read them
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms(0755));
    for (const auto& file : fs::directory_iterator(folder)) EXPECT_EQ(file.status().permissions(), fs::perms(0644));
  }
  EXPECT_NE(in_cache("$RB compile s.toml --isa scalar --pack p/q").out.find("0 copied"), std::string::npos);
  const std::string pack = "export RATTLEBACK_KERNEL_PATH=$PWD/p/q; ";
  EXPECT_TRUE(result(pack + no_compiler + empty_path, "none") == compiled_now);
  EXPECT_EQ(in_cache(pack + no_compiler + run + " --kernels builtin", "none").exit_code, 0);
  EXPECT_FALSE(fs::exists(directory / "none"));
}

TEST_F(KernelsOnDemand, ComeFromTheCacheWithoutACompiler) {
  const auto compiled_now = result();
  const std::string without = std::string(no_compiler) + empty_path;
  EXPECT_TRUE(result(without) == compiled_now);
  for (const char* policy : {"auto", "cached"}) {
    const Outcome found = in_cache(fmt::format("{}{} -o r.h5 --kernels {}", without, run, policy));
    EXPECT_EQ(found.exit_code, 0) << found.err;
    EXPECT_EQ(found.err, "");
    EXPECT_TRUE(datasets(directory / "r.h5") == compiled_now) << policy;
  }
  fs::remove(directory / "r.h5");
  const Outcome missing = in_cache(fmt::format("{}{} --kernels cached --set method.stages=3", without, run));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(
      missing.err,
      "rattleback: --kernels: henon-heiles, lobatto, 3 stages, scalar is not compiled, and 'cached' does not compile; "
      "'rattleback compile STUDY' on a machine with a compiler makes it, --kernels auto does so now\n");
  const Outcome nobody = in_cache(fmt::format("{}{} --set method.stages=3", without, run));
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_NE(nobody.err.find("RATTLEBACK_CXX: there is no program '/nonexistent'"), std::string::npos) << nobody.err;
  EXPECT_FALSE(fs::exists(directory / "s.h5"));
}

TEST_F(KernelsOnDemand, SayWhatIsMissingWithoutACompiler) {
  expect_refused(in_cache(std::string(no_compiler) + run), {"RATTLEBACK_CXX", "/nonexistent", "unset the variable"});
  const Outcome version = in_cache(std::string(no_compiler) + "$RB --version");
  EXPECT_NE(version.out.find("kernel compiler:  none (RATTLEBACK_CXX"), std::string::npos) << version.out;
  EXPECT_NE(version.out.find("kernel cache:     " + (directory / kernels).string()), std::string::npos) << version.out;
  EXPECT_NE(in_cache("$RB --version").out.find("version "), std::string::npos);
}

TEST_F(KernelsOnDemand, AreCompiledAgainWhenDamaged) {
  const auto before = result();
  for (const fs::path& folder : folders(kernels)) {
    std::fstream object(folder / "kernel.so", std::ios::binary | std::ios::in | std::ios::out);
    object.seekp(1000);
    object << "damage";
    ASSERT_TRUE(object.good());
  }
  const Outcome outcome = in_cache(std::string(run) + " -o r.h5");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.err, "this compiled kernel is damaged"), 2u) << outcome.err;  // in spite of --quiet
  EXPECT_TRUE(datasets(directory / "r.h5") == before);
  EXPECT_EQ(in_cache(std::string(run) + " -o r.h5 --kernels cached").err, "");
  EXPECT_EQ(folders(kernels).size(), 2u);
}

TEST_F(KernelsOnDemand, AreNotTakenFromOthers) {
  fs::create_directories(directory / kernels);
  fs::permissions(directory / kernels, fs::perms(0777));
  const Outcome open = in_cache(run);
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_NE(open.err.find("can be written by other users"), std::string::npos) << open.err;
  fs::permissions(directory / kernels, fs::perms(0700));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown((directory / kernels).c_str(), 12345, 12345), 0);
  const Outcome foreign = in_cache(run);
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_NE(foreign.err.find("belongs to the user 12345"), std::string::npos) << foreign.err;
  EXPECT_EQ(std::ranges::count(foreign.err, '\n'), 1) << foreign.err;
  EXPECT_FALSE(fs::exists(directory / "s.h5"));
}

TEST_F(KernelsOnDemand, NeedNoCacheThatCanBeWritten) {
  const auto expected = result();
  write("file", "");  // no folder can be made in a file
  const Outcome outcome = in_cache("mkdir t; TMPDIR=$PWD/t " + std::string(run) + " -o r.h5", "file");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.err, "cannot be written"), 1u) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_TRUE(datasets(directory / "r.h5") == expected);
  EXPECT_TRUE(folders("t").empty());
}

TEST_F(KernelsOnDemand, FaultsOfPacksAreOneWarningAndNoEnd) {
  const auto expected = result();
  ASSERT_EQ(in_cache("$RB compile s.toml --isa scalar --pack open").exit_code, 0);
  fs::permissions(directory / "open", fs::perms(0777));
  for (const char* pack : {"/nope", "open"}) {
    const Outcome outcome = in_cache(fmt::format("RATTLEBACK_KERNEL_PATH={} timeout 60 {} -o r.h5", pack, run));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(lines(outcome.err, "is left out"), 1u) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(datasets(directory / "r.h5") == expected);
  }
  const Outcome checked = in_cache("RATTLEBACK_KERNEL_PATH=/nope timeout 60 $RB check s.toml");
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_EQ(lines(checked.err, "is left out"), 1u) << checked.err;
  const Outcome again = in_cache("$RB compile s.toml --isa scalar --pack open");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("open: can be written by every user, so its kernels would not be loaded"), std::string::npos)
      << again.err;
}

/// A compiler that does `what` in a cache, where the first compilation is; the second may find the cache gone.
TEST_F(KernelsOnDemand, AreCompiledElsewhereWhenTheCacheIsFullOrGone) {
  const auto expected = result();
  const auto compiler = [&](const std::string& what) {
    write("g++",
          "#!/bin/sh\nif [ \"$1\" != -v ]; then case \"$*\" in *cache*) " + what + " ;; esac; fi\nexec g++ \"$@\"\n");
    fs::permissions(directory / "g++", fs::perms(0755));
  };
  const std::string command = "mkdir -p t; RATTLEBACK_CXX=$PWD/g++ TMPDIR=$PWD/t " + std::string(run) + " -o r.h5";
  const std::string full =
      "echo 'x.cpp:1:1: fatal error: error writing to /x/y.s: No space left on device' >&2; exit 1";
  for (const auto& [what, why] : {std::pair{full, "No space left on device"},
                                  std::pair{std::string("rm -rf cache"), "it was removed during a compilation"}}) {
    fs::remove_all(directory / "cache");
    compiler(what);
    const Outcome outcome = in_cache(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto says = [&](const std::string& reason) {
      return lines(outcome.err, fmt::format("cannot be written ({}); compiled kernels are lost", reason)) == 1;
    };
    EXPECT_TRUE(says(why) || (what != full && says("No such file or directory"))) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(datasets(directory / "r.h5") == expected);
    EXPECT_TRUE(fs::is_empty(directory / "t"));
    fs::remove(directory / "r.h5");
  }
  write("g++", "#!/bin/sh\nif [ \"$1\" = -v ]; then exec g++ -v; fi\n" + full + "\n");
  const Outcome nowhere = in_cache(command);
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("cannot be compiled there (No space left on device); set XDG_CACHE_HOME or TMPDIR"),
            std::string::npos)
      << nowhere.err;
  EXPECT_FALSE(fs::exists(directory / "r.h5"));
}

TEST_F(KernelsOnDemand, ACompilerThatHangsIsInterruptedAtOnce) {
  write("g++", "#!/bin/sh\nexec sleep 1000\n");
  fs::permissions(directory / "g++", fs::perms(0755));
  const Outcome outcome = in_cache("RATTLEBACK_CXX=$PWD/g++ timeout --foreground -s INT 4 " + std::string(run));
  EXPECT_EQ(outcome.err, "rattleback: interrupted\n");
}

TEST_F(KernelsOnDemand, TimesWithoutSenseDoNotEndTheList) {
  (void)result();
  for (const fs::path& folder : folders(kernels)) {
    std::string text = read_file(folder / "manifest.json");
    const std::size_t place = text.find("\"compiled\": ") + 12;
    text.replace(place, text.find(',', place) - place, "1e300");
    std::ofstream(folder / "manifest.json") << text;
    break;
  }
  const Outcome listed = in_cache("touch -d @99999999999999 cache/rattleback/kernels/*/used; $RB cache");
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_EQ(lines(listed.out, "is damaged"), 1u) << listed.out;
  EXPECT_NE(listed.out.find("2 kernels of"), std::string::npos) << listed.out;
}

TEST_F(KernelsOnDemand, SurviveManyProcessesAtOnce) {
  const Outcome outcome = in_cache(
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
      "$RB run s.toml --backend cpu:scalar,threads=1 --quiet -o r$i.h5 & all=\"$all $!\"; done; "
      "for p in $all; do wait $p || exit 1; done");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto first = datasets(directory / "r1.h5");
  for (int i = 2; i <= 20; ++i) EXPECT_TRUE(datasets(directory / fmt::format("r{}.h5", i)) == first) << i;
  EXPECT_EQ(folders(kernels).size(), 2u);
}

TEST_F(KernelsOnDemand, LeaveNothingWhenInterrupted) {
  const std::string line =
      fmt::format("cd '{}'; export XDG_CACHE_HOME=$PWD/cache; exec '{}' run s.toml --backend cpu:scalar 2> err",
                  directory.string(), RATTLEBACK_PROGRAM);
  const char* argv[] = {"sh", "-c", line.c_str(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char**>(argv), environ), 0);
  for (int i = 0; i < 2000 && folders(kernels).empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_FALSE(folders(kernels).empty());
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const std::string said = read_file(directory / "err");
  EXPECT_TRUE(std::regex_match(said, std::regex("(rattleback: compiling .* \\.\\.\n)*rattleback: interrupted\n")))
      << said;
  fs::remove(directory / "err");
  EXPECT_TRUE(folders(kernels).empty());
  EXPECT_EQ(files(), (std::vector<std::string>{"cache", "s.toml"}));
}

TEST_F(KernelsOnDemand, OfTheCatalogueAndOfOtherProcessors) {
  const Outcome made =
      in_cache("$RB compile --catalogue '^henon_heiles__lobatto_s2$' --isa all --jobs 2 --pack p --quiet");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_GE(folders("p").size(), 2u);
  EXPECT_TRUE(result(std::string(no_compiler) + "export RATTLEBACK_KERNEL_PATH=$PWD/p; ", "none").contains("time"));
}

TEST_F(KernelsOnDemand, CompileRefusesBadInput) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "nothing is named"},
      {"s.toml --isa avx3", "unknown instruction set 'avx3' (known: all, none, scalar"},
      {"--catalogue '('", "'(' is not a regular expression"},
      {"--catalogue nosuchkernel", "no kernel of the catalogue matches 'nosuchkernel'"},
      {"--catalogue rattle --set time.step=1", "none is named"},
      {"nosuch.toml", "nosuch.toml"},
      {"s.toml --jobs 0", "--jobs"},
      {"s.toml --pack s.toml --isa scalar", "s.toml: cannot be written"},
  };
  for (const auto& [arguments, message] : cases)
    expect_refused(in_cache(fmt::format("$RB compile {}", arguments)), {message});
}

}  // namespace

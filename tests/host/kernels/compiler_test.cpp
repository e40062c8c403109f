// A compiler is found, asked what it is, and refused when it cannot compile the kernels.

#include "rattleback/kernels/compiler.hpp"

#include <unistd.h>

#include "compile_testing.hpp"
#include "rattleback/base/mutex.hpp"

namespace rattleback::tests {
namespace {

constexpr const char* gcc = "Using built-in specs.\nTarget: x86_64-linux-gnu\ngcc version 12.2.0 (Debian 12.2.0-14) \n";
constexpr const char* clang = "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\nThread model: posix\n";

class CompilerTest : public CompileTest {
 protected:
  /// A compiler that only tells what it is.
  [[nodiscard]] fs::path fake(const std::string& name, const std::string& words) const {
    // no program is on the PATH of some tests
    return script(name, "echo called >> " + (directory / "calls").string() + "\necho '" + words + "' >&2");
  }
  [[nodiscard]] std::string fault_of(const fs::path& named) const {
    const Variable variable("RATTLEBACK_CXX", named.c_str());
    return message_of([] { (void)find_compiler(); });
  }

  const Variable unnamed{"RATTLEBACK_CXX", nullptr};
};

TEST_F(CompilerTest, ReadsVersions) {
  const auto first = parse_version(gcc), second = parse_version(clang);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->clang);
  EXPECT_EQ(first->major, 12);
  EXPECT_EQ(first->version, "gcc version 12.2.0 (Debian 12.2.0-14)");
  EXPECT_EQ(first->target, "x86_64-linux-gnu");
  EXPECT_TRUE(second->clang);
  EXPECT_EQ(second->major, 14);
  EXPECT_EQ(second->version, "Debian clang version 14.0.6");
  EXPECT_EQ(second->target, "x86_64-pc-linux-gnu");
  for (const char* bad : {"", "gcc version 12.2.0\n", "Target: x86_64-linux-gnu\n", "Target: x\ngcc version twelve\n",
                          "Intel(R) oneAPI DPC++/C++ Compiler 2024.0.0\nTarget: x86_64-unknown-linux-gnu\n"})
    EXPECT_FALSE(parse_version(bad)) << bad;
}

TEST_F(CompilerTest, IsNamedByAPathOrAName) {
  const fs::path path = fake("bin/my-g++", gcc);
  const Variable search("PATH", ("/nowhere::" + path.parent_path().string() + ":/bin:/usr/bin").c_str());
  for (const std::string& named : {path.string(), std::string("my-g++")}) {
    const Variable variable("RATTLEBACK_CXX", named.c_str());
    const Compiler compiler = find_compiler();
    EXPECT_EQ(compiler.command, named);
    EXPECT_EQ(compiler.path, path.string());
    EXPECT_EQ(compiler.major, 12);
    EXPECT_EQ(compiler.target, "x86_64-linux-gnu");
  }
  EXPECT_EQ(text_of(directory / "calls"), "called\n");  // it is asked once
}

TEST_F(CompilerTest, NamedButOfNoUseIsAnError) {
  const auto expect = [&](const fs::path& named, const std::string& why) {
    const std::string message = fault_of(named);
    EXPECT_TRUE(message.starts_with("RATTLEBACK_CXX: ")) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
    EXPECT_NE(message.find("name a C++ compiler (GCC 11 or clang 14, or newer)"), std::string::npos) << message;
  };
  expect("rattleback-no-such-compiler", "there is no program 'rattleback-no-such-compiler'");
  expect(directory, "there is no program");
  std::ofstream(directory / "text") << "no program";
  expect(directory / "text", "there is no program");
  expect(script("fails", "exit 3"), "fails -v' fails (exit status 3)");
  expect(script("other", "echo other compiler 99"), "is neither GCC nor clang");
  expect(fake("old", "Target: x86_64-linux-gnu\ngcc version 10.2.1 20210110\n"), "is too old: gcc version 10.2.1");
  expect(fake("older", "clang version 13.0.1\nTarget: x86_64-pc-linux-gnu\n"), "is too old: clang version 13.0.1");
}

TEST_F(CompilerTest, ThatHangsIsGivenUpAndCanBeInterrupted) {
  const fs::path hangs = script("hangs/g++", "exec sleep 1000"), good = fake("good/c++", clang);
  {
    const Variable variable("RATTLEBACK_CXX", hangs.c_str());
    int asked = 0;
    const auto cancelled = [&asked] {
      EXPECT_EQ(locks_held(), 0);
      return ++asked > 2;
    };
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(message_of([&] { (void)find_compiler({}, cancelled); }, Error::Kind::runtime), "interrupted");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
  const Variable search("PATH",
                        (hangs.parent_path().string() + ":" + good.parent_path().string() + ":/bin:/usr/bin").c_str());
  EXPECT_EQ(find_compiler({"g++", "c++"}).path, good.string());  // after ten seconds
  const Variable variable("RATTLEBACK_CXX", hangs.c_str());
  EXPECT_NE(fault_of(hangs).find("hangs/g++ -v' does not end within 10 s; name a C++ compiler"),
            std::string::npos);  // asked once
}

TEST_F(CompilerTest, OfTheBuildIsLookedForOnThePath) {
  for (const std::string& command : usual_compilers()) EXPECT_EQ(command.find('/'), std::string::npos) << command;
}

TEST_F(CompilerTest, OfTheSystemIsUsedUnlessItIsOfNoUse) {
  const fs::path good = fake("good/c++", clang), old = fake("old/g++", "Target: x\ngcc version 9.4.0\n");
  const Variable search("PATH", (old.parent_path().string() + ":" + good.parent_path().string()).c_str());
  const Compiler compiler = find_compiler({"absent-g++", "g++", "c++"});
  EXPECT_EQ(compiler.path, good.string());
  EXPECT_EQ(compiler.command, "c++");
  EXPECT_TRUE(compiler.clang);
  EXPECT_EQ(compiler.major, 14);
}

TEST_F(CompilerTest, IsInstalledHere) {
  const Compiler compiler = find_compiler();  // this test was compiled
  EXPECT_TRUE(fs::path(compiler.path).is_absolute());
  EXPECT_GE(compiler.major, compiler.clang ? least_clang : least_gcc);
  EXPECT_NE(compiler.target, "");
}

TEST_F(CompilerTest, MissingIsAnErrorThatTellsWhatToDo) {
  const fs::path old = fake("bin/g++", "Target: x\ngcc version 9.4.0\n");
  const Variable search("PATH", old.parent_path().c_str());
  const std::string message = message_of([] { (void)find_compiler({"absent-g++", "g++"}); });
  for (const char* part :
       {"there is no C++ compiler (GCC 11 or clang 14, or newer;", "is too old: gcc version 9.4.0", "apt install g++",
        "rattleback compile STUDY --pack DIR", "RATTLEBACK_KERNEL_PATH", "RATTLEBACK_CXX"})
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  EXPECT_EQ(message.find("absent"), std::string::npos) << message;
}

TEST_F(CompilerTest, TakesOptionsThatKeepTheBits) {
  const fs::path here = fs::current_path();
  const auto flags = [](const char* text) {
    const Variable variable("RATTLEBACK_CXXFLAGS", text);
    return extra_flags();
  };
  using Flags = std::vector<std::string>;
  EXPECT_EQ(flags(nullptr), Flags{});
  EXPECT_EQ(flags("  "), Flags{});
  EXPECT_EQ(flags("-I/a/b  -I c\t-isystem /d -isystem/e"),
            (Flags{"-I/a/b", "-I" + (here / "c").string(), "-isystem", "/d", "-isystem", "/e"}));
  EXPECT_EQ(flags("-DX=1 -D Y -UZ -g -w"), (Flags{"-DX=1", "-DY", "-UZ", "-g", "-w"}));
  EXPECT_EQ(flags("-O0 -O1 -O2"), (Flags{"-O0", "-O1", "-O2"}));
  EXPECT_EQ(flags("--sysroot=/s --gcc-toolchain=/t"), (Flags{"--sysroot=/s", "--gcc-toolchain=/t"}));
}

TEST_F(CompilerTest, RefusesOptionsThatCouldChangeTheBits) {
  for (const char* bad : {"-ffast-math",
                          "-Ofast",
                          "-O3",
                          "-march=native",
                          "-mtune=native",
                          "-mfma",
                          "-ffp-contract=fast",
                          "-funsafe-math-optimizations",
                          "-Wl,-lm",
                          "-include",
                          "@file",
                          "x.cpp",
                          "-std=c++17",
                          "-g3 -O1",
                          "-O",
                          "-Os",
                          "-D",
                          "-I",
                          "-I -DX",
                          "-isystem",
                          "-DS(x)=x",
                          "-DS()",
                          "-D1=2",
                          "-Da-b=2",
                          "-DX=/*",
                          "-DX=1\\",
                          "-DX=R\"(",
                          "-UX=1",
                          "-D_GLIBCXX_DEBUG",
                          "-DRB_HD=x",
                          "-URATTLEBACK_ISA",
                          "-D__FMA__",
                          "-o x",
                          "-wrapper x",
                          "-fplugin=x",
                          "-specs=x"}) {
    const Variable variable("RATTLEBACK_CXXFLAGS", bad);
    const std::string message = message_of([] { (void)extra_flags(); });
    EXPECT_TRUE(message.starts_with("RATTLEBACK_CXXFLAGS: '-") || message.starts_with("RATTLEBACK_CXXFLAGS: '@") ||
                message.starts_with("RATTLEBACK_CXXFLAGS: 'x"))
        << bad << ": " << message;
    EXPECT_NE(message.find("options are -I"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace rattleback::tests

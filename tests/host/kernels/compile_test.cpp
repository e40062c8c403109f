// Units become shared objects. What is wrong with a unit is told with the line of its author.

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "compile_testing.hpp"
#include "rattleback/kernels/compiler.hpp"

namespace rattleback::tests {
namespace {

class CompilationTest : public CompileTest {
 protected:
  CompilationTest() { fs::create_directory(work); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(directory / name) << text; }
  /// The files of the unit with this text.
  [[nodiscard]] CompileFiles files(const std::string& unit) const {
    std::ofstream(work / "unit.cpp") << unit;
    return {
        .unit = work / "unit.cpp", .object = work / "kernel.so", .log = work / "log", .kept_log = directory / "kept"};
  }

  const fs::path work = directory / "work";
  const std::vector<std::string> flags = {"-std=c++20", "-O1", "-I" + directory.string()};
};

/// The compilers that are installed; at least one is, because this test was compiled.
std::vector<Compiler> compilers() {
  std::vector<Compiler> found;
  for (const char* name : {"g++", "clang++"}) {
    const Variable variable("RATTLEBACK_CXX", name);
    try {
      found.push_back(find_compiler());
    } catch (const Error&) {
    }
  }
  if (found.empty()) found.push_back(find_compiler());
  return found;
}

TEST_F(CompilationTest, MakesAnObjectThatCanBeLoaded) {
  for (const Compiler& compiler : compilers()) {
    SCOPED_TRACE(compiler.version);
    const Compiled compiled = compile(compiler, flags, files("extern \"C\" int answer() { return 42; }\n"));
    EXPECT_EQ(compiled.command.front(), compiler.path);
    EXPECT_EQ(compiled.command[1], "-std=c++20");
    EXPECT_EQ(compiled.command.back(), (work / "unit.cpp").string());
    EXPECT_GT(compiled.seconds, 0.0);
    EXPECT_FALSE(fs::exists(directory / "kept"));
    void* library = dlopen((work / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto answer = reinterpret_cast<int (*)()>(dlsym(library, "answer"));
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer(), 42);
    dlclose(library);
    fs::remove(work / "kernel.so");
  }
}

TEST_F(CompilationTest, ShowsTheFirstErrorOfAHeader) {
  write("own.hpp", "#pragma once\n\ninline int f() { return undeclared; }\ninline int g() { return second; }\n");
  for (const Compiler& compiler : compilers()) {
    SCOPED_TRACE(compiler.version);
    const CompileFiles unit = files("#include \"own.hpp\"\nint x = f();\n");
    const std::string message = message_of([&] { compile(compiler, flags, unit); });
    EXPECT_TRUE(message.starts_with((directory / "own.hpp").string() + ":3:")) << message;
    EXPECT_NE(message.find("undeclared"), std::string::npos) << message;
    EXPECT_EQ(message.find("second"), std::string::npos) << message;
    EXPECT_NE(message.find(compiler.version), std::string::npos) << message;
    EXPECT_TRUE(message.ends_with("the whole log is " + (directory / "kept").string())) << message;
    EXPECT_NE(text_of(directory / "kept").find("second"), std::string::npos);
    EXPECT_FALSE(fs::exists(unit.object));
  }
}

TEST_F(CompilationTest, ShowsAMissingHeader) {
  for (const Compiler& compiler : compilers()) {
    CompileFiles unit = files("#include \"absent.hpp\"\n");
    unit.kept_log.clear();
    const std::string message = message_of([&] { compile(compiler, flags, unit); });
    EXPECT_TRUE(message.starts_with(unit.unit.string() + ":1:")) << message;
    EXPECT_NE(message.find("absent.hpp"), std::string::npos) << message;
    EXPECT_EQ(message.find("the whole log"), std::string::npos) << message;
  }
}

TEST_F(CompilationTest, TellsOfACompilerThatEndsOtherwise) {
  const auto message = [&](const std::string& body) {
    Compiler compiler;
    compiler.path = compiler.command = script("compiler", body).string();
    compiler.version = "gcc version 12";
    const CompileFiles unit = files("");
    std::string text = message_of([&] { compile(compiler, flags, unit); }, Error::Kind::runtime);
    EXPECT_FALSE(fs::exists(unit.object));
    EXPECT_TRUE(text.starts_with(compiler.path + ": ends with ")) << text;
    return text;
  };
  EXPECT_NE(message("echo 'collect2: error: no space left on device'; exit 1")
                .find("ends with exit status 1: no space left on device"),
            std::string::npos);
  EXPECT_NE(message("echo half > " + (work / "kernel.so").string() + "; kill -KILL $$").find("signal 9 (Killed)"),
            std::string::npos);
  EXPECT_NE(message("echo first; echo 'out of memory'; exit 4").find("ends with exit status 4: out of memory"),
            std::string::npos);
  EXPECT_NE(message("exit 0").find("ends with exit status 0"), std::string::npos);  // and has made nothing
}

TEST_F(CompilationTest, HasNoObjectWhenCancelled) {
  // The number of instances doubles with every level, so the compiler is busy for minutes.
  const CompileFiles unit = files(R"(
template <int n, unsigned k>
struct Slow {
  static constexpr unsigned value = Slow<n - 1, 2 * k>::value + Slow<n - 1, 2 * k + 1>::value;
};
template <unsigned k>
struct Slow<0, k> {
  static constexpr unsigned value = k;
};
unsigned x = Slow<28, 1>::value;
)");
  for (const Compiler& compiler : compilers()) {
    SCOPED_TRACE(compiler.version);
    const auto begin = std::chrono::steady_clock::now();
    int asked = 0;
    const auto message =
        message_of([&] { compile(compiler, flags, unit, [&] { return ++asked > 10; }); }, Error::Kind::runtime);
    EXPECT_EQ(message, "interrupted");
    EXPECT_EQ(asked, 11);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_FALSE(fs::exists(unit.object));
    EXPECT_FALSE(fs::exists(unit.kept_log));
  }
}

}  // namespace
}  // namespace rattleback::tests

// What makes the kernel of a header belongs to its digest, and nothing else does.

#include "rattleback/kernels/sources.hpp"

#include <functional>

#include <sys/stat.h>

#include "compile_testing.hpp"
#include "rattleback/kernels/includes.hpp"

namespace rattleback::tests {
namespace {

class SourcesTest : public CompileTest {
 protected:
  SourcesTest() {
    fs::create_directories(directory / "more");
    write("own.hpp", "#pragma once\n#include \"beside.hpp\"\n  #  include /* c */ <found.hpp>\n#include <cmath>\n");
    write("beside.hpp", "int beside = X;\n");
    write("more/found.hpp", "#include \"deep.hpp\"\nint found;\n");
    write("more/deep.hpp", "int deep;\n");
    write("more/unused.hpp", "int unused;\n");
  }

  /// The digest with these options in RATTLEBACK_CXXFLAGS, with that of the second variable.
  [[nodiscard]] std::string digest(const std::string& flags, const char* variable = "CPATH",
                                   const std::string& value = "") const {
    const Variable first("RATTLEBACK_CXXFLAGS", flags.c_str()), second(variable, value.c_str());
    return digest_of_header(directory / "own.hpp", "study.toml:1", header_options());
  }
  [[nodiscard]] std::string fault() const {
    return message_of([&] { (void)digest("-I" + (directory / "more").string()); });
  }
};

TEST_F(SourcesTest, TheDigestKnowsMacrosAndAllHeadersOfTheUser) {
  const std::string folder = "-I" + (directory / "more").string() + " ";
  const std::string first = digest(folder + "-DX=1");
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(digest(folder + "-D X=1 -g -w"), first);
  for (const char* other : {"", "-DX=2", "-DX=1 -DY", "-DX=1 -UX", "-DX"})
    EXPECT_NE(digest(folder + other), first) << other;
  for (const char* file : {"own.hpp", "beside.hpp", "more/found.hpp", "more/deep.hpp"}) {
    const std::string text = text_of(directory / file);
    write(file, text + "int changed;\n");
    EXPECT_NE(digest(folder + "-DX=1"), first) << file;
    write(file, text);
    EXPECT_EQ(digest(folder + "-DX=1"), first) << file;
  }
  write("more/unused.hpp", "int changed;\n");
  EXPECT_EQ(digest(folder + "-DX=1"), first);
}

TEST_F(SourcesTest, TheDigestDoesNotKnowWhereHeadersLie) {
  const std::string first = digest("-DX=1 -I" + (directory / "more").string());
  EXPECT_NE(digest("-DX=1"), first);  // without a folder the compiler would look elsewhere
  fs::rename(directory / "more", directory / "moved");
  const std::string moved = (directory / "moved").string();
  for (const char* option : {"-I", "-isystem ", "-idirafter "})
    EXPECT_EQ(digest("-DX=1 " + (option + moved)), first) << option;
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    EXPECT_EQ(digest("-DX=1", variable, "/nowhere:" + moved), first) << variable;
    const std::string text = text_of(directory / "moved/deep.hpp");
    write("moved/deep.hpp", "int other;\n");
    EXPECT_NE(digest("-DX=1", variable, moved), first) << variable;
    write("moved/deep.hpp", text);
  }
  write("own.hpp", "#include \"found.hpp\"\n");
  const std::string quoted = digest("-iquote " + moved);
  write("moved/found.hpp", "int found;\n");
  EXPECT_NE(digest("-iquote " + moved), quoted);
}

TEST_F(SourcesTest, MacrosHoldInHeadersOfTheUserAlone) {
  const Variable flags("RATTLEBACK_CXXFLAGS", "-Ddot=2 -Dx");
  write("own.hpp", "int first = dot;\n#include \"rattleback/linalg/vector.hpp\"\nint second = dot;\n");
  const std::string unit = "#include \"" + (directory / "own.hpp").string() + "\"\nint last;\n";
  const WholeUnit whole = whole_unit(unit, header_options());
  ASSERT_EQ(whole.own.size(), 1u);
  EXPECT_EQ(whole.own[0].file, fs::weakly_canonical(directory / "own.hpp"));
  const std::vector<std::string> order = {"#define dot 2\n", "int first",  "#undef dot\n", "struct Vector",
                                          "#define dot 2\n", "int second", "#undef dot\n", "int last"};
  std::size_t place = 0;
  for (const std::string& text : order) {
    const std::size_t next = whole.text.find(text, place);
    ASSERT_NE(next, std::string::npos) << text;
    place = next + text.size();
  }
  EXPECT_NE(whole.text.find("#define x 1\n"), std::string::npos);
  EXPECT_EQ(whole_unit("#include \"rattleback/linalg/vector.hpp\"\n", header_options()).text.find("#define dot"),
            std::string::npos);
}

TEST_F(SourcesTest, WhatIsNoFileIsRefusedAndNotWaitedFor) {
  for (const char* place : {"beside.hpp", "more/found.hpp", "more/deep.hpp"}) {
    const std::string text = text_of(directory / place);
    fs::remove(directory / place);
    ASSERT_EQ(mkfifo((directory / place).c_str(), 0600), 0);
    EXPECT_NE(fault().find("cannot be read (it is not a regular file)"), std::string::npos) << fault();
    fs::remove(directory / place);
    write(place, text);
  }
  fs::remove(directory / "beside.hpp");
  EXPECT_NE(fault().find("own.hpp:2: the header 'beside.hpp' cannot be read (No such file or directory)"),
            std::string::npos)
      << fault();
  write("own.hpp", "#include \"/dev/zero\"\n");
  EXPECT_NE(fault().find("it is not a regular file"), std::string::npos) << fault();
  write("own.hpp", "#include NAME\n");
  EXPECT_NE(fault().find("own.hpp:1: the header that the macro 'NAME' names cannot be followed"), std::string::npos)
      << fault();
}

TEST_F(SourcesTest, ANameThatNoIncludeCanHoldIsRefused) {
  for (const char* name : {"we\"ll.hpp", "a\nb.hpp"}) {
    write(name, "int x;\n");
    const std::string message = message_of([&] { (void)digest_of_header(directory / name, "study.toml:1", {}); });
    EXPECT_TRUE(message.starts_with("study.toml:1: ")) << message;
    EXPECT_NE(message.find("has a quote or a control character, which no #include can name; rename it"),
              std::string::npos)
        << message;
  }
  write("it's \\ a.hpp", "int x;\n");
  EXPECT_EQ(digest_of_header(directory / "it's \\ a.hpp", "", {}).size(), 64u);
}

TEST(Includes, AreReadInAllForms) {
  const auto read = [](const char* line) {
    const auto include = included_by(line);
    return include ? std::to_string(static_cast<int>(include->form)) + include->name + (include->next ? "+" : "") : "";
  };
  EXPECT_EQ(read("#include \"a b.hpp\""), "0a b.hpp");
  EXPECT_EQ(read("\t# /**/ include/* x */<a/b>  // c"), "1a/b");
  EXPECT_EQ(read("%:include <a>"), "1a");
  EXPECT_EQ(read("#include_next <a>"), "1a+");
  EXPECT_EQ(read("#import \"a\""), "0a");
  EXPECT_EQ(read("#include NAME /* x */"), "2NAME");
  for (const char* other :
       {"", "include \"a\"", "#included \"a\"", "#define include", "// #include \"a\"", "#includes"})
    EXPECT_EQ(read(other), "") << other;
}

}  // namespace
}  // namespace rattleback::tests

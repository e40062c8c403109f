// The bibliography: every system and method of the catalogue has a reference, and every reference is complete and used.

#include "rattleback/study/citation.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "rattleback/rattleback.hpp"

using namespace rattleback;

namespace {

TEST(Bibliography, HasAReferenceForEveryEntryAndNoOther) {
  const Catalogue& catalogue = Catalogue::instance();
  const Bibliography& bibliography = Bibliography::instance();
  std::set<std::string> systems, methods;
  for (const std::string& name : catalogue.system_names()) {
    EXPECT_FALSE(bibliography.of_system(name).empty()) << "references.toml: [systems] has no line for " << name;
    systems.insert(name);
  }
  for (const MethodEntry* method : catalogue.methods()) {
    EXPECT_FALSE(bibliography.of_method(method->name).empty())
        << "references.toml: [methods] has no line for " << method->name;
    methods.insert(method->name);
  }
  for (const std::string& name : bibliography.names("systems"))
    EXPECT_TRUE(systems.contains(name)) << "references.toml: there is no system " << name;
  for (const std::string& name : bibliography.names("methods"))
    EXPECT_TRUE(methods.contains(name)) << "references.toml: there is no method " << name;
}

TEST(Bibliography, NamesValuesThatOptionsHave) {
  const Bibliography& bibliography = Bibliography::instance();
  std::size_t named = 0;
  for (const MethodEntry* method : Catalogue::instance().methods())
    for (const OptionInfo& option : method->options) {
      const auto values = bibliography.names(std::string(method->name) + "." + option.name);
      for (const std::string& value : values)
        EXPECT_NE(std::ranges::find(option.choices, value), option.choices.end())
            << "references.toml: " << method->name << "." << option.name << " has no value " << value;
      named += values.size();
      // Values that come from a publication of their own have a reference.
      if (option.name == std::string_view("composition")) {
        EXPECT_EQ(values.size() + 1, option.choices.size()) << method->name << ": 'none' alone has no reference";
      }
    }
  EXPECT_GE(named, 15u);
}

TEST(Bibliography, IsComplete) {
  std::set<std::string> keys, dois;
  const std::regex doi(R"(10\.\d{4,}/\S+)");
  for (const Publication& r : Bibliography::instance().references()) {
    EXPECT_TRUE(keys.insert(r.key).second) << r.key << " appears twice";
    EXPECT_FALSE(r.authors.empty() || r.title.empty()) << r.key;
    EXPECT_GE(r.year, 1900) << r.key;
    if (r.type == "software") continue;
    EXPECT_TRUE(std::regex_match(r.doi, doi)) << r.key << ": " << r.doi;
    EXPECT_TRUE(dois.insert(r.doi).second) << r.key << ": " << r.doi << " appears twice";
    if (r.type == "article") {
      EXPECT_FALSE(r.journal.empty() || r.volume.empty() || r.pages.empty()) << r.key;
    } else if (r.type == "book") {
      EXPECT_FALSE(r.publisher.empty()) << r.key;
    } else if (r.type == "inproceedings") {
      EXPECT_FALSE(r.booktitle.empty()) << r.key;
    } else {
      EXPECT_EQ(r.type, "misc") << r.key;
      EXPECT_FALSE(r.eprint.empty()) << r.key;
    }
  }
}

TEST(Bibliography, PrintsReferences) {
  const Publication* r = Bibliography::instance().find("bogfjellmo2016");
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(to_text(*r),
            "G. Bogfjellmo, H. Marthinsen: High-order symplectic partitioned Lie group methods. Foundations of "
            "Computational Mathematics 16 (2016), 493-530. doi:10.1007/s10208-015-9257-9 arXiv:1303.5654");
  const std::string bibtex = to_bibtex(*r);
  EXPECT_TRUE(
      bibtex.starts_with("@article{bogfjellmo2016,\n  author        = {Bogfjellmo, Geir and Marthinsen, Håkon},\n"))
      << bibtex;
  EXPECT_NE(bibtex.find("  pages         = {493--530},\n"), std::string::npos) << bibtex;
  EXPECT_EQ(Bibliography::instance().find("nobody1900"), nullptr);
  // The first letter of a name may have more than one byte.
  Publication publication;
  publication.type = "misc";
  publication.authors = {"Ørsted, Åse Marie", "{A group}"};
  publication.title = "T";
  publication.year = 1999;
  EXPECT_EQ(to_text(publication).substr(0, 28), "Å. M. Ørsted, A group: T. ");
}

TEST(Bibliography, FindsWhatAStudyRestsOn) {
  const auto keys = [](const std::vector<Citation>& citations) {
    std::vector<std::string> listed;
    for (const Citation& citation : citations) listed.push_back(citation.reference->key);
    return listed;
  };
  const Study study = Study::parse(R"toml(
[study]
name = "kepler"
[system]
name = "kepler"
[method]
name = "lobatto"
stages = 2
composition = "kahan-li6"
[time]
step = 0.1
end = 1.0
[ensemble]
draws = 4
axes = [ { name = "x", distribution = "sobol", mean = 0.4, std = 0.01, seed = 1 } ]
[ensemble.initial]
q = ["x", 0]
v = [0, 2]
[[observable]]
name = "energy"
)toml");
  const StudyCitations found = Bibliography::instance().of_study(study.to_toml(), "study");
  EXPECT_EQ(keys(found.of_system), std::vector<std::string>{"arnold1989"});
  EXPECT_EQ(keys(found.of_method), (std::vector<std::string>{"martindediego2018", "kahan1997"}));
  EXPECT_EQ(keys(found.of_ensemble), (std::vector<std::string>{"joe2008", "wichura1988"}));
  EXPECT_TRUE(found.own_system.empty());
  EXPECT_THROW((void)Bibliography::instance().of_study("name = ", "study"), Error);
  EXPECT_THROW((void)Bibliography::instance().of_study("name = 1", "study"), Error);
}

}  // namespace

// Tables of initial states: which columns are the state, and the forms in which other programs write them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/point_file.hpp"
#include "rattleback/study/points.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {
namespace points_test {

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "accepted";
}

std::string found(const std::vector<std::string>& columns, const StateNames& names) {
  std::string text, fault;
  const auto found = state_columns(columns, names, [&](const std::string& message) { fault = message; });
  for (const auto& column : found)
    text += column ? fmt::format("{}{} ", name_of(column->part), column->index) : std::string("- ");
  return fault.empty() ? text : fault;
}

TEST(StateNames, AreIndicesOrThoseOfTheSystem) {
  const StateNames plane{2, 2, 1, {"x", "y"}, {}, {}, {}};
  EXPECT_EQ(found({"q[0]", "q1", "v_0", "V(1)", "lambda"}, plane), "q0 q1 v0 v1 lambda0 ");
  EXPECT_EQ(found({"Q0", "Q1", "P_0", "P_1"}, plane), "q0 q1 p0 p1 ");
  EXPECT_EQ(found({"y", "x", "v_x", "vy"}, plane), "q1 q0 v0 v1 ");
  EXPECT_EQ(found({"X", "Y", "PX", "p_Y", "energy"}, plane), "q0 q1 p0 p1 - ");
  EXPECT_EQ(found({"x", "q1", "v0", "vy"}, plane), "q0 q1 v0 v1 ");
  EXPECT_EQ(
      found({"x", "v_x"}, plane),
      "has a column for a part of v and none for v[1], which belongs to 'y'; name all of them, or none, after the "
      "state");
  EXPECT_EQ(found({"x", "q0", "y"}, plane), "column 'q0' appears twice");
  // names in expressions are not the state, and ignored ones are nothing
  EXPECT_EQ(found({"x", "y", "v0", "v1"}, {2, 2, 0, {"x", "y"}, {}, {"x", "y"}, {"v0", "v1"}}), "- - - - ");
  // a system has its own names of velocities, and names that differ in case alone
  EXPECT_EQ(found({"a", "A", "rate", "Rate2"}, {2, 2, 0, {"a", "A"}, {"rate", "rate2"}, {}, {}}), "q0 q1 v0 v1 ");
  // coordinates that are called like other numbers of the state
  const StateNames shifted{2, 2, 0, {"q1", "q2"}, {}, {}, {}};
  EXPECT_EQ(found({"q1", "q2", "vq1", "v_q2"}, shifted), "q0 q1 v0 v1 ");
  EXPECT_EQ(found({"q0", "q1"}, shifted), "q0 q1 ");
  EXPECT_EQ(found({"q0", "q1"}, {2, 2, 0, {"q1", "q0"}, {}, {}, {}}).substr(0, 40),
            "names columns that are other numbers of ");
  // one coordinate needs no index; on a group numbers of q have no velocity each
  EXPECT_EQ(found({"q", "v"}, {1, 1, 0, {"angle"}, {}, {}, {}}), "q0 v0 ");
  EXPECT_EQ(found({"q", "v"}, plane), "- - ");
  EXPECT_EQ(found({"R11", "vR11"}, {1, 3, 0, {"R11"}, {}, {}, {}, true}), "q0 - ");
  EXPECT_EQ(found({"x", "y", "heading", "v_x"}, {3, 3, 0, {"x", "y", "heading"}, {}, {}, {}, true}), "q0 q1 q2 - ");
}

class StateTables : public testing::Test {
 protected:
  StateTables() {
    std::string name = (std::filesystem::temp_directory_path() / "rattleback-points-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~StateTables() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] Study kepler(const std::string& ensemble) const {
    Study study = Study::parse(
        "[system]\nname = \"kepler\"\n[method]\nname = \"lobatto\"\n[time]\nstep = 0.1\nend = 1.0\n[ensemble]\n" +
            ensemble,
        "s.toml");
    study.directory = folder;
    return study;
  }
  [[nodiscard]] std::string check(const std::string& ensemble) const {
    return message_of([&] {
      const Problem problem(kepler(ensemble));
      (void)check_points(problem, Ensemble(problem), 1);
    });
  }
  /// The second trajectory of a text, "q0 q1 v0 v1", or why it is refused.
  [[nodiscard]] std::string second(const std::string& text, const std::string& more = "") const {
    std::ofstream(folder / "s.csv", std::ios::binary) << text;
    std::string result;
    const std::string fault = message_of([&] {
      const Problem problem(kepler("file = \"s.csv\"\n" + more));
      const Ensemble ensemble(problem);
      (void)check_points(problem, ensemble, 1);
      Ensemble::Evaluator evaluate(ensemble);
      const InitialData& data = evaluate(1);
      const auto& rates = data.p.empty() ? data.v : data.p;
      result = fmt::format("{} {} {} {}", data.q[0], data.q[1], rates[0], rates[1]);
      EXPECT_TRUE(ensemble.axis_names().empty() || !more.empty());
    });
    const std::string place = (folder / "s.csv").string() + ":";
    return fault == "accepted" ? result : fault.starts_with(place) ? fault.substr(place.size()) : fault;
  }

  std::filesystem::path folder;
};

TEST_F(StateTables, HaveTheFormsOfOtherPrograms) {
  const std::string right = "0.9 0.1 0.2 1.1";
  EXPECT_EQ(second("x,y,vx,vy\n1,0,0,1\n0.9,0.1,0.2,1.1\n"), right);
  EXPECT_EQ(second("Q0,Q1,V0,V1\n1,0,0,1\n0.9,0.1,0.2,1.1\n"), right);
  EXPECT_EQ(second("v_y,v_x,y,x\n1,0,0,1\n1.1,0.2,0.1,0.9\n"), right);
  // NumPy
  EXPECT_EQ(second("# made by hand\n# q0 q1 v0 v1\n1.0e+00 0 0 1\n9.0e-01 1.0e-01  2.0e-01 1.1\n"), right);
  EXPECT_EQ(second("# q0,q1,v0,v1\n1 0 0 1\n9e-1 1e-1 2e-1 1.1\n"), right);
  EXPECT_EQ(second("# a comment\nq0\tq1\tv0\tv1\n1\t0\t0\t1\n# another\n0.9\t0.1\t0.2\t1.1\n"), right);
  // pandas, quotes, Fortran, Windows
  EXPECT_EQ(second(",q_0,q_1,v_0,v_1\n0,1,0,0,1\nlast,0.9,0.1,0.2,1.1\n"), right);
  EXPECT_EQ(second("\"x\",\"y\",'vx','vy'\n1,0,0,1\n\"0.9\",0.1,0.2,1.1\n"), right);
  EXPECT_EQ(second("x y vx vy\n 1.0D+00 0.0D+00 0.0D+00 1.0D+00\n 9.0D-01 1.0d-01 2.0D-01 1.1D0\n"), right);
  EXPECT_EQ(second("\xef\xbb\xbfq0;q1;v0;v1\r\n1;0;0;1\r\n\r\n0.9;0.1;0.2;1.1\r\n"), right);
  // the columns of a table that only some of the trajectories need
  EXPECT_EQ(second("id,x,y,vx,vy\nA,1,0,0,1\nB,0.9,0.1,0.2,1.1\n", "unused = [\"id\"]"), right);
}

TEST_F(StateTables, RefuseWhatCanBeReadInTwoWays) {
  EXPECT_EQ(second("1,0,0,1\n0.9,0.1,0.2,1.1\n"),
            "1: no header (the line has 4 numbers, and no line before it names as many columns); add a line of names");
  EXPECT_EQ(second("# states\n1,0,0,1\n"),
            "2: no header (the line has 4 numbers, and no line before it names as many columns); add a line of names");
  EXPECT_EQ(second("x;y;vx;vy\n1,0;0,0;0,0;1,0\n"), "2: '1,0' in column 'x' is not a number; write a decimal point");
  EXPECT_EQ(second("x,y,vx,vy,\n1,0,0,1,\n"),
            "1: column 5 of the header has no name; name it, or remove the separator");
  EXPECT_EQ(second("\xff\xfex\n"), "1: the text is in UTF-16; save it in UTF-8");
  EXPECT_EQ(second("x,y,vx\n1,0,0\n"),
            "1: has a column for a part of v and none for v[1], which belongs to 'y'; name all of them, or none, after "
            "the state");
}

TEST_F(StateTables, EveryColumnAndEveryAxisHasAUse) {
  const std::string advice =
      "use it in ensemble.initial, in a parameter or in time.step, leave it out, or name it in ensemble.unused";
  EXPECT_EQ(second("x,y,vx,vy,temperature\n1,0,0,1,3\n1,0,0,1,4\n"),
            "s.toml:9: nothing uses the column 'temperature' (the state is q[0] .. q[1] or x, y, and v[0] .. v[1] or "
            "v_x, v_y); " +
                advice);
  EXPECT_NE(second("posx,posy\n1,0\n1,0\n").find("nothing uses the column 'posx'"), std::string::npos);
  const std::string axis = "axes = [{ name = \"a\", values = [1, 2] }, { name = \"b\", values = [3, 4] }]\n";
  EXPECT_EQ(check(axis + "[ensemble.initial]\nq = [\"a\", 0]\nv = [0, 1]"),
            "s.toml:9: nothing uses the axis 'b' (its trajectories are all the same); " + advice);
  EXPECT_EQ(check(axis + "unused = [\"b\"]\n[ensemble.initial]\nq = [\"a\", 0]\nv = [0, 1]"), "accepted");
  EXPECT_EQ(check(axis + "group_by = [\"b\"]\n[ensemble.initial]\nq = [\"a\", 0]\nv = [0, 1]"), "accepted");
  EXPECT_EQ(check("axes = [{ name = \"x\", values = [1, 2] }]\n"),
            "s.toml:9: nothing uses the axis 'x' (an axis is no coordinate by its name, but by an expression of "
            "ensemble.initial); " +
                advice);
}

TEST(Overrides, EndTheUseOfAnAxis) {
  const std::string study =
      "[system]\nname = \"kepler\"\n[method]\nname = \"lobatto\"\n[time]\nstep = \"h\"\nend = 1.0\nsamples = 1\n"
      "[ensemble]\n"
      "axes = [{ name = \"h\", values = [0.1, 0.05] }, { name = \"a\", values = [1, 1.1] }]\n"
      "[ensemble.initial]\nq = [\"a\", 0]\nv = [0, 1]\n";
  const auto unused = [&](const std::vector<std::string>& overrides) {
    return Study::parse(study, "s.toml", overrides).ensemble.unused;
  };
  EXPECT_TRUE(unused({}).empty());
  EXPECT_TRUE(unused({"time.end=2"}).empty());
  EXPECT_EQ(unused({"time.step=0.1"}), std::vector<std::string>{"h"});
  EXPECT_EQ(unused({"time.step=0.1", "ensemble.initial.q=[1, 0]"}), (std::vector<std::string>{"a", "h"}));
  EXPECT_TRUE(unused({"time.step=0.1", "ensemble.initial.q[0]=a + h"}).empty());
}

}  // namespace points_test
}  // namespace rattleback

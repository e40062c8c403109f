// Nonholonomic Lobatto IIIA-IIIB: states computed with 40 digits, after ten steps of size 0.1.

#include <optional>

#include "nonholonomic_lobatto.hpp"

namespace rattleback {
namespace {

template <int n, int m>
struct Gold {
  Vector<double, n> q;
  std::optional<Vector<double, n>> p;
  Vector<double, m> lambda;
  double energy;
};

template <int S, class System, int n = System::n, int m = System::m>
void expect_gold(const System& system, const std::type_identity_t<Vector<double, n>>& q,
                 const std::type_identity_t<Vector<double, n>>& v, const Gold<System::n, System::m>& gold) {
  const auto check = [&](const char* form, const auto& step) {
    SCOPED_TRACE(form);
    const auto state = advance(step, start(system, q, v), 0.1, 10);
    EXPECT_LE(distance(state.q, gold.q), 1e-13);
    if (gold.p) {
      EXPECT_LE(distance(state.p, *gold.p), 1e-13);
    }
    EXPECT_LE(distance(state.lambda, gold.lambda), 1e-13);
    EXPECT_NEAR(energy(system, state.q, velocity(system, state.q, state.p)), gold.energy, 1e-13);
  };
  if constexpr (Condensable<System>) check("condensed", CondensedLobatto<double, System, S>(system, to_round_off));
  check("general", GeneralLobatto<double, System, Cay, S>(system, to_round_off));
}
template <int S, class System>
void expect_gold(const System& system, const Gold<System::n, System::m>& gold) {
  expect_gold<S>(system, to_vector(System::default_q), to_vector(System::default_v), gold);
}

TEST(GoldStates, Particle) {
  expect_gold<2>(Particle{}, {{1.0230912131188440, 0.94417593619144559, -0.0064534820603924508},
                              {{-0.28368961208026981, 0.011639244529382032, -0.26785290507367678}},
                              {-0.51228726186109432},
                              1.0452721378079287});
  expect_gold<3>(Particle{}, {{1.0232375688204008, 0.94332782416281793, -0.0074545832057878050},
                              {{-0.28451804982031500, 0.011506246390587236, -0.26839379287204598}},
                              {-0.51241153124040389},
                              1.0450003242585199});
  expect_gold<4>(Particle{}, {{1.0232370812334650, 0.94332794078820789, -0.0074549101630086553},
                              {{-0.28451815136997144, 0.011506352293879909, -0.26839392184870279}},
                              {-0.51248468053642180},
                              1.0450000000851628});
}

TEST(GoldStates, PendulumCvt) {
  expect_gold<2>(cvt, {1, 0, 1}, cvt_low,
                 {{0.83400114431638160, 1.5669903753568607, 1.1208660378132412},
                  {{-0.15129734830691756, 1.2687884604959811, 0.15129625251704625}},
                  {0.96951053861641556},
                  1.8018491073738368});
  expect_gold<2>(cvt, {1, 0, 1}, cvt_high,
                 {{0.88212618678606098, 2.5141982977274109, 1.0912354445600860},
                  {{-0.14998435252647838, 2.2064860691768390, 0.088046413582181557}},
                  {0.98076713022325161},
                  4.0058237626675218});
  expect_gold<3>(cvt, {1, 0, 1}, cvt_high,
                 {{0.88316841344294520, 2.5116347907842921, 1.0909936387640585},
                  {{-0.14862720810444096, 2.2045245944647767, 0.087557880003585384}},
                  {0.99687761306192519},
                  4.0000055327162816});
}

TEST(GoldStates, Chaotic) {
  const Member member(13, 31);
  expect_gold<2>(Contact{}, member.q, member.v,
                 {{1.2630002441769088, 0.56859455653553246, 0.084158561927970597, 0.036813627780370293,
                   0.56497763216507747, 0.42490981787823452, 0.67323313345448512},
                  {},
                  {0.49623591134613101},
                  3.0575735606304836});
  expect_gold<3>(Contact{}, member.q, member.v,
                 {{1.2605261175867920, 0.56817041860063548, 0.084618984611711153, 0.037056292721008238,
                   0.56482241612413444, 0.42508736756123088, 0.67309754149402115},
                  {{0.55935954980150861, -0.58538332511604219, -0.50071976273327024, -0.26333463174952864,
                    -0.78919160354524805, -1.0171011232794008, -0.67190104383132381}},
                  {0.49924301206305852},
                  3.0600012983566516});
  expect_gold<2>(Printed{}, member.q, member.v,
                 {{1.0993198238177445, 0.56376145509905543, 0.071944212938545194, 0.025651682923089154,
                   0.57037528523149004, 0.74929563378953028, 1.2252429494138129},
                  {},
                  {0.86890293373631949},
                  3.0596706844737092});
  expect_gold<3>(Printed{}, member.q, member.v,
                 {{1.0982025464972829, 0.56361585362722493, 0.072402072695660675, 0.025900419854571066,
                   0.56992505158238203, 0.74933551586555463, 1.2242667329805631},
                  {},
                  {0.86937076552870498},
                  3.0600018034725759});
}

TEST(GoldStates, ChaplyginSleigh) {
  expect_gold<3>(make_default<Sleigh>(), {{0.44722476718575724, 0.53858929096658201, 1.2900275503349854},
                                          {{-0.047758863230955171, 0.94876448415232866, 0.50949703850914811}},
                                          {0.52525923863589455},
                                          0.60020004901242752});
}

TEST(GoldStates, IsokineticParticle) {
  expect_gold<3>(Isokinetic{}, {{0.83817044775868633, 0.62102951605792007},
                                {{-0.081251958921563972, 0.99669359342347961}},
                                {1.4796710635165307},
                                1.4550883492102902});
}

TEST(GoldStates, HenonHeiles) {
  expect_gold<3>(Galactic{}, {{0.28258143443399268, 0.018115852684732135},
                              {{0.039568387150956315, -0.25304405488239763}},
                              {},
                              0.074333311217865312});
}

TEST(ChaoticEnsemble, StartsOnTheConstraintWithEqualEnergies) {
  for (int j = 0; j <= 31; ++j) {
    const Member member(j, 31);
    EXPECT_EQ(constraint(Contact{}, member.q, member.v)[0], 0.0);
    EXPECT_EQ(constraint(Printed{}, member.q, member.v)[0], 0.0);
    EXPECT_NEAR(energy(Contact{}, member.q, member.v), 3.06, 4e-15);
  }
}

}  // namespace
}  // namespace rattleback

// The GGL family and the energy-momentum schemes.

#include "rattleback/methods/ggl/ggl.hpp"
#include "paths.hpp"
#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"

RB_NAMESPACE_BEGIN
namespace {

using P = Pack<RATTLEBACK_PACK>;

template <class System, GglScheme scheme>
void add(std::vector<Paths>& rows, const char* name, const char* method, const auto&... numbers) {
  const auto system = default_system<System>();
  Paths row{name, method, {}};
  const auto add_path = [&]<GglPath path>(const char* title, std::integral_constant<GglPath, path>) {
    using Step = fast_step_of<typename detail::GglForm<P, System, scheme, path>::type>;
    row.paths.push_back(Path::of<Step>(title, path == detail::ggl_path<System, scheme>, system, numbers...));
  };
  if constexpr (detail::ChordsApply<System>) add_path("chords", std::integral_constant<GglPath, GglPath::chords>{});
  if constexpr (Blocks<System>) add_path("condensed", std::integral_constant<GglPath, GglPath::condensed>{});
  if constexpr (System::n <= 4) add_path("general", std::integral_constant<GglPath, GglPath::general>{});
  rows.push_back(std::move(row));
}
template <class System>
void add_schemes(std::vector<Paths>& rows, const char* name) {
  static constexpr GglNumbers half{0.5, 0.5};  // steps keep a reference
  add<System, GglScheme::vi_s>(rows, name, "ggl-vi-s");
  add<System, GglScheme::theta_a>(rows, name, "ggl-vi-a", half);
  add<System, GglScheme::theta_b>(rows, name, "ggl-vi-b", half);
  add<System, GglScheme::energy_momentum>(rows, name, "energy-momentum");
}

}  // namespace

void add_ggl(std::vector<Paths>& rows) {
  add_schemes<Pendulum<P, 2>>(rows, "planar pendulum");
  add_schemes<Pendulum<P, 3>>(rows, "spherical pendulum");
  add_schemes<FourParticle<P>>(rows, "four particles");
}

RB_NAMESPACE_END

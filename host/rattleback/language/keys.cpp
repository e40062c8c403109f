#include "rattleback/language/read.hpp"

namespace rattleback {
namespace {

#define RB_FORMULA R"("type":["string","number"])"
constexpr const char
    *text_type = R"({"type":"string","minLength":1})",
    *formula_type = "{" RB_FORMULA "}", *formulas_type = R"({"type":"array","items":{)" RB_FORMULA "}}",
    *names_type = R"({"type":"array","items":{"type":"string"}})",
    *matrix_type = R"({"type":["string","number","array","object"],"items":{"type":["string","number","array"]}})";
constexpr FormulaKey formula_keys[] = {
    {"name", "required", "letters, digits, `-` and `_`", "a string", text_type},
    {"summary", "`\"system written as formulas\"`", "a text that `rattleback describe` shows", "a string", text_type},
    {"source", "`\"the study\"`", "where the system comes from, a text that `rattleback describe` shows", "a string",
     text_type},
    {"coordinates", "required on R^n",
     "names; `\"y[1..m]\"` stands for y1 to ym. With a group, those of its factors R^n; the numbers of its bodies have "
     "the "
     "names of the table [below](#groups-and-bodies)",
     "an array of names", names_type},
    {"velocities", "`v_x` for `x`", "names of the velocities; on a group those of the table below by default",
     "an array of names", names_type},
    {"group", "R^n",
     "the configuration space: a product of `SO(3)`, `SE(3)`, `SE(2)`, `S^1` and `R^n`, with powers: "
     "`\"SO(3)^2 x R^3\"`",
     "a string", text_type},
    {"bodies", "none",
     "a name for each factor of the group but R^n: `[\"arm\", \"wheel\"]`. Names then begin with it: `arm_R11`",
     "an array of names", names_type},
    {"parameters", "none",
     R"(`{ b = 0.25 }`, or with unit and text: `{ b = { value = 0.25, unit = "1/s", text = "rate" } }`)", "a table",
     R"({"type":"object","additionalProperties":{"type":["string","number","object"],"required":["value"],"properties":)"
     R"({"value":{)" RB_FORMULA
     R"(},"unit":{"type":"string"},"text":{"type":"string"}},"additionalProperties":false}})"},
    {"dimensions", "none", "`{ m = 3 }`: whole numbers for indices and sums", "a table of whole numbers",
     R"({"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":1000}})"},
    {"mass", "1",
     "M: one formula, a diagonal, or rows; may depend on the coordinates. With bodies also `{ arm = 2, wheel = 0.5 }`",
     "a formula, or an array or a table of these", matrix_type},
    {"inertia", "none",
     "in place of the entries of `mass` that belong to a rotation: three moments, or rows; with several bodies "
     "an array or a table with these for each",
     "a formula, or an array or a table of these", matrix_type},
    {"vector_potential", "0", "A: a formula for each velocity", "an array of formulas", formulas_type},
    {"potential", "0", "U", "a formula", formula_type},
    {"lagrangian", "none",
     "L, in place of the four keys above; any L whose second derivatives by the velocities are regular", "a formula",
     formula_type},
    {"hamiltonian", "none",
     "H of coordinates and momenta, in place of all keys of L: `\"p_x^2/(2 m) + x^4/4\"` ([below](#hamiltonians))",
     "a formula", formula_type},
    {"momenta", "`p_x` for `x`", "names of the momenta of `hamiltonian`; on a group p_w1 for w1, in the body",
     "an array of names", names_type},
    {"force", "0", "an applied force: a formula for each velocity ([Forces](learn/forces.md))", "an array of formulas",
     formulas_type},
    {"dissipation", "0", "Rayleigh's function D: the force −∂D/∂v is added", "a formula", formula_type},
    {"constraints", "none", "formulas of the coordinates that stay 0; `\"for i in 1..m-1: F\"` stands for several",
     "an array of formulas", formulas_type},
    {"velocity_constraints", "none", "formulas of coordinates and velocities that stay 0; beside `constraints`, too",
     "an array of formulas", formulas_type},
    {"multipliers", "`lambda[i]`",
     "names of the multipliers, those of `constraints` first: `[\"tension\"]`, or with more "
     "`[{ name = \"tension\", unit = \"N\", text = \"pull of the rod\" }]`. Formulas of the study may use them, "
     "`rattleback describe` shows them, and bodies and joints give them themselves",
     "an array of names or tables",
     R"({"type":"array","items":{"type":["string","object"],"properties":{"name":{"type":"string"},)"
     R"("joint":{"type":"string"},"unit":{"type":"string"},"text":{"type":"string"}},"additionalProperties":false}})"},
    {"observables", "none", "`{ spin = \"x v_y - y v_x\" }`", "a table of formulas",
     R"({"type":"object","additionalProperties":{)" RB_FORMULA "}}"},
    {"conserved", "none", "names of the observables that stay constant", "an array of names", names_type},
    {"initial", "0, and no rotation",
     "`{ q = [..], v = [..] }`, or p in place of v with `hamiltonian`: the default state; a rotation is 9 numbers, or "
     "3 numbers, a rotation vector. It keeps "
     "the "
     "constraints, unless the ensemble gives the start (`initial`, `file`) or projects it",
     "a table",
     R"({"type":"object","properties":{"q":{"type":"array","items":{)" RB_FORMULA
     R"(}},"v":{"type":"array","items":{)" RB_FORMULA R"(}},"p":{"type":"array","items":{)" RB_FORMULA
     R"(}}},"additionalProperties":false})"},
    {"time_scale", "1", "the time in which the motion changes much", "a number", formula_type},
    {"gravity", "none",
     "with [bodies and joints](learn/machines.md): the acceleration, `[0, 0, -9.81]`, or two numbers in the plane",
     "an array of numbers or formulas", formulas_type},
    {"assemble", "false",
     "with bodies and joints: `true` moves the bodies at the start by the least change that makes all joints fit",
     "true or false", R"({"type":"boolean"})"},
    {"redundant", "`\"error\"`", "with bodies and joints: `\"drop\"` leaves out constraints that the others imply",
     "a string", R"({"enum":["error","drop"]})"}};
#undef RB_FORMULA

}  // namespace

std::span<const FormulaKey> keys_of_formulas() { return formula_keys; }

}  // namespace rattleback

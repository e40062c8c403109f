#!/usr/bin/python3
"""Runs the problems of this folder, whose references nobody of this project computed, and prints what is reached.

    examples/outside/run.py PROGRAM [--quick] [--page docs/outside.md]

Each folder has a study and its reference: where it comes from, how many digits it has, and the largest difference that is taken. Exit code 1
where a difference is larger. --quick leaves out the problems that are marked slow; --page writes the table of the documentation."""
import argparse, math, pathlib, subprocess, sys, tempfile, tomllib

import h5py
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent


def turn(x):
    """The rotation about a vector by its length."""
    angle = np.linalg.norm(x)
    hat = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
    if angle == 0:
        return np.eye(3)
    return np.eye(3) + math.sin(angle)/angle*hat + 2*(math.sin(angle/2)/angle)**2*hat@hat


def symmetric(study):
    """A free body with the moments I1, I1, I3 precesses about its angular momentum, and turns about its axis."""
    (i1, _, i3), w, t = study["system"]["inertia"], np.array(study["ensemble"]["initial"]["v"]), study["time"]["end"]
    spin = np.array([0, 0, (1 - i3/i1)*w[2]*t])
    momentum = np.array([i1*w[0], i1*w[1], i3*w[2]])
    return {"q": (turn(t*momentum/i1)@turn(spin)).ravel(), "v": turn(-spin)@w}


def jacobi(u, m):
    """sn, cn and dn by descending Landen transformations."""
    a, b, steps = 1.0, math.sqrt(1 - m), []
    while a - b > 1e-15*a:  # the difference is squared with every step
        half = (a - b)/2
        a, b = (a + b)/2, math.sqrt(a*b)
        steps.append((a, half))
    angle = 2**len(steps)*a*u
    for mean, half in reversed(steps):
        angle = (angle + math.asin(half/mean*math.sin(angle)))/2
    sn, cn = math.sin(angle), math.cos(angle)
    return sn, cn, math.sqrt(1 - m*sn*sn)


def euler(study):
    """The angular velocity of a free body with the moments I1 > I2 > I3 that starts with w2 = 0, w1, w3 > 0 and L^2 > 2 E I2."""
    (i1, i2, i3), (w1, _, w3), t = study["system"]["inertia"], study["ensemble"]["initial"]["v"], study["time"]["end"]
    energy2, square = i1*w1**2 + i3*w3**2, (i1*w1)**2 + (i3*w3)**2
    assert square > energy2*i2
    rate = math.sqrt((i1 - i2)*(square - energy2*i3)/(i1*i2*i3))
    sn, cn, dn = jacobi(rate*t, (i2 - i3)*(energy2*i1 - square)/((i1 - i2)*(square - energy2*i3)))
    # dw2/dt = (I3 - I1) w3 w1/I2 is negative at the start
    return {"v": np.array([w1*dn, -math.sqrt((energy2*i1 - square)/(i2*(i1 - i2)))*sn, w3*cn])}


def pendulum(study):
    """A pendulum of length 1 that is released at the left, level with its pivot: sin(angle/2) = k sn(K - t sqrt(g)), k^2 = 1/2."""
    t, rate, quarter = study["time"]["end"], math.sqrt(9.81), math.pi/(2*mean(1, math.sqrt(0.5)))
    sn, cn, dn = jacobi(quarter - rate*t, 0.5)
    half, velocity = math.sqrt(0.5)*sn, -2*rate*math.sqrt(0.5)*cn  # the sine of half the angle, which is to the left; the rate of the angle
    x, y = -2*half*dn, 2*half*half - 1
    return {"q": [x, y], "v": [y*velocity, -x*velocity]}


def four_bars(study):
    """All bars turn as one pendulum, which passes its highest point at the start: 3 angle'' = (3/2 + 2) g sin(angle)."""
    t, square = study["time"]["end"], 3.5/3*9.81
    lowest = math.sqrt(1 + 4*square)  # the rate at the lowest point, from the energy
    m = 4*square/lowest**2
    sn, cn, dn = jacobi(lowest*t/2 + math.pi/(2*mean(1, math.sqrt(1 - m))), m)  # sn is the sine of half the angle from the lowest point
    x, y, rate = -2*sn*cn, 2*sn*sn - 1, lowest*dn
    bars = [[i + x/2, y/2, math.nan] for i in range(3)]
    couplers = [[i + 0.5 + x, y, 0] for i in range(2)]
    return {"q": np.ravel(bars + couplers), "v": np.ravel([[y*rate/2, -x*rate/2, -rate]]*3 + [[y*rate, -x*rate, 0]]*2)}


def mean(a, b):
    """The arithmetic-geometric mean."""
    while abs(a - b) > 1e-15*a:
        a, b = (a + b)/2, math.sqrt(a*b)
    return a


def eigenvalues(series, span):
    """The eigenvalues of x' = A x from samples of x at equal distances in time, the columns of `series`."""
    scaled = series/np.abs(series).max(axis=1, keepdims=True)
    step = np.linalg.lstsq(scaled[:, :-1].T, scaled[:, 1:].T, rcond=None)[0]
    found = np.log(np.linalg.eigvals(step).astype(complex))/span
    return found[np.lexsort((found.imag, found.real.round(6)))]


def run(program, folder):
    study = tomllib.loads((folder/"study.toml").read_text())
    reference = tomllib.loads((folder/"reference.toml").read_text())
    wanted = globals()[reference["closed_form"]](study) if "closed_form" in reference else reference
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place)/"r.h5"
        subprocess.run([program, "run", folder/"study.toml", "-o", file, "--quiet"], check=True)
        with h5py.File(file) as result:
            status, steps = int(result["final/status"][0]), int(result["final/steps"][0])
            if "eigenvalues" in reference:
                series = np.array([result[f"observables/{name}/mean"][:] for name in reference["observables"]])
                state = {"eigenvalues": eigenvalues(series, result["time"][1] - result["time"][0]).view(float)}
                wanted = {"eigenvalues": np.ravel(reference["eigenvalues"])}
            else:
                state = {part: result[f"final/{part}"][0] for part in ("q", "v") if part in wanted}
    size = {part: np.abs(wanted[part]) if reference.get("relative", False) else 1 for part in state}
    difference = max(float(np.nanmax(np.abs(state[part] - np.array(wanted[part]))/size[part])) for part in state)  # nan: no reference
    method = study["method"]
    words = ", ".join([method["name"], *(f"{method[key]} stages" if key == "stages" else str(method[key]) for key in method if key != "name")])
    return {"key": folder.name, **{key: reference[key] for key in ("title", "source", "digits", "tolerance")}, "note": reference.get("note", ""),
            "method": words, "steps": steps, "difference": difference, "good": status == 0 and all(np.all(np.isfinite(one)) for one in state.values()) and difference <= reference["tolerance"]}


def page(rows):
    table = "".join(f"| {row['title']} (`{row['key']}`) | {row['digits']} | {row['method']} | {row['steps']} "
                    f"| {row['difference']:.1e} |\n" for row in rows)
    notes = "".join(f"- **{row['title']}**: {row['source']}.{' ' + row['note'] if row['note'] else ''}\n" for row in rows)
    return f"""# Outside tests

Problems and references that come from others: each folder of `examples/outside` has a study, and a reference with its source. The largest
difference of the last state from the reference is what rattleback reaches. `examples/outside/run.py` made this page.

| problem | digits of the reference | method | steps | largest difference |
| --- | --- | --- | --- | --- |
{table}
## References

{notes}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true", help="without the problems that are marked slow")
    parser.add_argument("--page", type=pathlib.Path, help="write the page of the documentation")
    parser.add_argument("keys", nargs="*", help="folders; default: all")
    arguments = parser.parse_args()
    folders = [path.parent for path in sorted(FOLDER.glob("*/reference.toml")) if not arguments.keys or path.parent.name in arguments.keys]
    if arguments.quick:
        folders = [folder for folder in folders if not tomllib.loads((folder/"reference.toml").read_text()).get("slow", False)]
    rows = []
    for folder in folders:
        rows.append(run(arguments.program, folder))
        row = rows[-1]
        print(f"{row['title']:32} {row['difference']:.2e} (at most {row['tolerance']:.0e})  {row['method']}, {row['steps']} steps", "" if row["good"] else "  FAILED", flush=True)
    if arguments.page:
        arguments.page.write_text(page(rows))
    return 0 if rows and all(row["good"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

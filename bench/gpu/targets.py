"""The aims of the program on a GPU, judged by what the stages left."""
import re

CHAOTIC = r"^chaotic printed.*m = 3.* nonholonomic-lobatto stages = 3$"


def done(found, stage):
    """The data of a stage that ran to its end, or as far as its time let it; None: there are none."""
    report = found.get(stage)
    return report["data"] if report and report["status"] in ("done", "unfinished", "failed") and report["data"] else None


def judge(title, value, good, text):
    return [title, text, "met" if good else "missed"] if value is not None else [title, "", "outstanding"]


def clean(found, stage, title):
    report = found.get(stage)
    if not report or report["status"] == "absent":
        return [title, report["why"] if report else "", "outstanding"]
    if report["status"] == "unfinished":
        return [title, f"{len(report['left_out'])} left out", "outstanding"]
    return [title, f"{len(report['faults'])} faults", "met" if report["status"] == "done" else "missed"]


def row(data, pattern):
    return next((value for title, value in (data or {}).items() if re.search(pattern, title)), None)


# method of ours, method of the peer: the same order, or what the peer does best
PAIRS = {"gauss_cubie": [("s2", "midpoint"), ("s3", "gauss2")], "diffrax_rk": [("s3", "Tsit5-vmap"), ("s3", "Dopri8-vmap")]}


def ratio_to_peer(found, module, system):
    """Time per step of a peer over ours, the least of its methods."""
    times = {(r["module"], r["method"]): r["ns_per_step"] for r in (done(found, "peers") or {}).get("rows", []) if r["system"] == system}
    ratios = [times[module, theirs] / times["rattleback", ours] for ours, theirs in PAIRS[module]
              if (module, theirs) in times and ("rattleback", ours) in times]
    return min(ratios) if ratios else None


def rows(found):
    """[target, measured, met | missed | outstanding] of every aim."""
    out = [clean(found, stage, title) for stage, title in (
        ("tests", "the GPU tests pass"), ("selftest", "every kernel has the bits of the CPU"),
        ("compare", "the catalogue has the bits of the CPU"), ("sanitize", "compute-sanitizer finds nothing"))]
    chaotic = row(done(found, "suite"), CHAOTIC)
    share = chaotic and chaotic["fraction_of_peak"]
    out.append(judge("chaotic s = 3: at least 40 % of the measured fp64 rate", share, share and share >= 0.4, f"{100 * (share or 0):.0f} %"))
    sizes = row(done(found, "crossover"), CHAOTIC)
    largest = sizes and max(sizes, key=lambda r: r["trajectories"])
    cores = largest and largest.get("cpu_threads", 0)
    gain = largest and largest["cuda"] / largest["cpu"] * cores / 2 if cores else None
    out.append(judge("chaotic s = 3: at least 100 times two cores", gain, gain and gain >= 100, f"{gain or 0:.0f}"))
    for module, name, system, aim in (("diffrax_rk", "Diffrax", "chaotic", 10), ("gauss_cubie", "CuBIE", "henon-heiles", 3)):
        ratio = ratio_to_peer(found, module, system)
        out.append(judge(f"{system}, the same steps: at least {aim} times {name}", ratio, ratio and ratio >= aim, f"{ratio or 0:.1f}"))
    return out

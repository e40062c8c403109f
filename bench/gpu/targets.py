"""The aims of the program on a GPU, judged by what the stages left."""
import re

CHAOTIC = r"^chaotic printed.*m = 3.* nonholonomic-lobatto stages = 3$"


def data_of(found, stage):
    """What a stage measured, and why that is nothing."""
    report = found.get(stage)
    if not report:
        return {}, f"bench/gpu/run {stage} was not run"
    return report["data"], report.get("why") or f"{stage}: {report['status']}, without this figure"


def judge(title, value, aim, unit, why):
    if value is None:
        return [title, why, "outstanding"]
    return [title, f"{value:.3g}{unit}", "met" if value >= aim else "missed"]


def clean(found, stage, title):
    report = found.get(stage)
    if not report or report["status"] == "absent":
        return [title, data_of(found, stage)[1], "outstanding"]
    if report["faults"] or report["status"] == "failed":
        return [title, report.get("why") or f"{len(report['faults'])} faults", "missed"]
    if report.get("only"):
        return [title, f"no fault among what --only chose: {report['only'][:60]}", "outstanding"]
    if report["left_out"]:
        return [title, f"no fault so far; left out: {report['left_out'][-1]}", "outstanding"]
    return [title, "no fault", "met"]


def row(data, pattern):
    return next((value for title, value in data.items() if re.search(pattern, title)), None)


# Pairs of our method and the peer's method. Both have the same order, or the peer's method is the peer's best.
PAIRS = {"gauss_cubie": [("s2", "midpoint"), ("s3", "gauss2")], "diffrax_rk": [("s3", "Tsit5-vmap"), ("s3", "Dopri8-vmap")]}


def ratio_to_peer(found, module, system):
    """Time per step of a peer over ours, the least of its methods; and why there is none."""
    data, why = data_of(found, "peers")
    times = {(r["module"], r["method"]): r["ns_per_step"] for r in data.get("rows", []) if r["system"] == system}
    ratios = [times[module, theirs] / times["rattleback", ours] for ours, theirs in PAIRS[module]
              if (module, theirs) in times and ("rattleback", ours) in times]
    reasons = [reason for run, reason in data.get("absent", {}).items() if module in run]
    return min(ratios, default=None), reasons[0] if reasons else why


def rows(found):
    """[target, measured, met | missed | outstanding] of every aim."""
    out = [clean(found, stage, title) for stage, title in (
        ("tests", "the GPU tests pass"), ("selftest", "every kernel has the bits of the CPU"),
        ("compare", "the catalogue has the bits of the CPU"), ("sanitize", "compute-sanitizer finds nothing"))]
    data, why = data_of(found, "suite")
    chaotic = row(data, CHAOTIC)
    out.append(judge("chaotic s = 3: at least 40 % of the measured fp64 rate", chaotic and 100 * chaotic["counted_over_peak"], 40, " %", why))
    rates = [chaotic["trajectory_steps_per_second"]["median"]] if chaotic else []  # of a run of a fifth of a second
    data, why = data_of(found, "crossover")
    chaotic = row(data, CHAOTIC)
    rates += [s["cuda"]["steps_per_second"] for s in chaotic["sizes"]] if chaotic else []
    gain = max(rates) / chaotic["two_threads"]["steps_per_second"] if chaotic and chaotic["two_threads"] and rates else None
    out.append(judge("chaotic s = 3: at least 100 times two cores", gain, 100, "", why))
    for module, name, system, aim in (("diffrax_rk", "Diffrax", "chaotic", 10), ("gauss_cubie", "CuBIE", "henon-heiles", 3)):
        ratio, why = ratio_to_peer(found, module, system)
        out.append(judge(f"{system}, the same steps: at least {aim} times {name}", ratio, aim, "", why))
    return out

"""The stages of bench/gpu/run that measure speeds."""
import json, pathlib, re, tempfile, types

from common import LAUNCH_ROWS, LAUNCHES, TEAM_ROWS, TEAMS, suite, table, wanted

TINY = r"^chaotic printed m = 2 nonholonomic-lobatto stages = 2|^henon-heiles lobatto stages = 2|^four-particle ggl-vi-a"
TINY_VARIANTS = r"^henon-heiles lobatto stages = 2|^four-particle ggl-vi-a"
FIGURES = ["steps/s", "share of fma rate", "seconds", "steps", "kernel", *suite.FIGURES]


def rows_of(context):
    """Rows of bench/suite for a program: title, and a function of trajectories and steps that gives the study."""
    program = context.program
    catalogue = json.loads(suite.call(program, "list", "--json")[1])
    methods = {m["name"]: m for m in catalogue["methods"]}
    for system, instance, structure, method, options, title in suite.rows_of(program, catalogue, methods):
        def text(trajectories, steps, system=system, instance=instance, structure=structure, method=method, options=options):
            sizes = types.SimpleNamespace(trajectories=trajectories, steps=steps)
            return suite.study(system, instance, structure, method, options, sizes)
        name = f"{title} {method} {options}".replace("\n", ", ").strip()
        if re.search(context.only, name):
            yield name, text


def bench(context, title, text, backend, *more, env=None):
    """What `rattleback bench --json` says of a study; None: it did not run, which is noted."""
    with tempfile.TemporaryDirectory() as folder:
        study = pathlib.Path(folder, "study.toml")
        study.write_text(text)
        code, out, err = context.call(context.program, "bench", study, "--backend", backend, "--json", "--quiet", *more, env=env, limit=120)
    if code is None:
        context.left_out.append(f"{title}, which {err}")
    elif not out.startswith("{"):
        context.fault(f"{title}: {err.splitlines()[-1] if err else f'exit code {code}'}")
    else:
        return json.loads(out)
    return None


def speed(context, title, text, trajectories, env=None):
    """A report of so many steps that a run takes a fifth of a second: what a run needs besides, above all the way of the states
    to the device and back, would else be most of it. The report has the figures of the longest run that all trajectories end."""
    if context.tiny:
        report = bench(context, title, text(trajectories, 4), "cuda", "--repetitions", 1, env=env)
        return report and report | {"steps": 4}
    steps, best = 100, None
    while steps <= 100_000 and (best is None or context.enough(f"{title}, a longer run", 20.0)):
        report = bench(context, title, text(trajectories, steps), "cuda", "--repetitions", 3, env=env)
        if report is None or best and report["failed"]:
            break
        best = report | {"steps": steps}
        seconds = sorted(report["seconds"])[1]
        if seconds >= 0.2 or report["failed"]:
            break
        steps *= 20 if seconds < 0.02 else 5
    return best


def cells(report):
    kernel = report["kernels"][0]["kernel"] if report.get("kernels") else ""
    return [f"{report['trajectory_steps_per_second']['median']:.3g}", f"{report['counted_over_peak']:.2f}",
            f"{sorted(report['seconds'])[len(report['seconds']) // 2]:.3g}", report["steps"], kernel, *suite.figures(report)]


def catalogue(context):
    """The whole catalogue on the GPU: steps per second, share of the fp64 rate, registers, occupancy."""
    context.need_device()
    for title, text in rows_of(context):
        if title in context.data or context.tiny and not re.search(TINY, title) or not context.enough(title):
            continue
        trajectories = 64 if context.tiny else 1 << 18 if re.search("^chaotic|^henon-heiles lobatto", title) else 1 << 16
        if report := speed(context, title, text, trajectories):
            context.data[title] = report
    context.need(context.data, "no row was measured")
    return table(["row", "trajectories", *FIGURES], [[title, r["trajectories"], *cells(r)] for title, r in context.data.items()])


def same_bits(context, title, text, env):
    """Whether CPU and GPU agree; None: there was no time."""
    with tempfile.TemporaryDirectory() as folder:
        study = pathlib.Path(folder, "study.toml")
        study.write_text(text)
        code, _, err = context.call(context.program, "compare", study, "--backends", "cpu:scalar,cuda", "--quiet", env=env, limit=120)
    if code is None:
        context.left_out.append(f"bits of {title}")
    elif code != 0:
        context.fault(f"{title}: CPU and GPU differ, or did not run (exit code {code}) {err[-200:]}")
    return None if code is None else code == 0


def variants(context, flags, rows, trajectories):
    """The rows with kernels that differ in their launches: steps per second; the same steps give the same bits."""
    context.need_device()
    environments = {"default": {}} | {name: {"RATTLEBACK_NVRTCFLAGS": flag} for name, flag in wanted(context, flags).items()}
    for title, text in rows_of(context):
        if not re.search(rows, title) or context.tiny and not re.search(TINY_VARIANTS, title):
            continue
        for name, env in environments.items():
            done = context.data.setdefault(title, {})
            if done.get(name, {}).get("identical") or not context.enough(f"{title}, {name}"):
                continue
            report = speed(context, f"{title}, {name}", text, 64 if context.tiny else trajectories, env)
            same = same_bits(context, f"{title}, {name}", text(64 if context.tiny else 300, 20), env) if report else None
            if same is not None:
                done[name] = report | {"identical": same}
    found = [[title, name, *cells(r), "identical" if r["identical"] else "different"]
             for title, variants in context.data.items() for name, r in variants.items()]
    context.need(found, "no row was measured")
    return table(["row", "variant", *FIGURES, "bits"], found)


def teams(context):
    """Teams of 8, 16 and 32 lanes, and one thread for each trajectory, against the choice of linalg/team.hpp."""
    return variants(context, TEAMS, TEAM_ROWS, 1 << 15)


def launch(context):
    """Threads of a block and blocks of a multiprocessor against the choice of loop/device.cuh."""
    return variants(context, LAUNCHES, LAUNCH_ROWS, 1 << 18)


def overtakes(sizes):
    """The smallest ensemble from which on the GPU is faster at every size; None: at the largest it is not."""
    found = None
    for size in sorted(sizes, key=lambda s: s["trajectories"]):
        found = (found or size["trajectories"]) if size["cuda"]["seconds"] < size["cpu"]["seconds"] else None
    return found


def crossover(context):
    """Ensembles of 10^2 to 10^7: time of a run on all cores and on the GPU, and from which size on the GPU is faster."""
    context.need_device()
    some = TINY if context.tiny else (r"^chaotic printed m = 3 nonholonomic-lobatto stages = 3|^henon-heiles lobatto stages = 3|"
                                      r"^four-particle ggl-vi-a|^suslov nonholonomic-lobatto stages = 2")
    steps, sizes = (4, (64, 256)) if context.tiny else (200, [10 ** k * f for k in range(2, 8) for f in (1, 3)][:-1])
    studies = {title: text for title, text in rows_of(context) if re.search(some, title)}
    for title in studies:
        context.data.setdefault(title, {"sizes": [], "two_threads": None})

    def measured(title, size, backend, *more):
        name = f"{title}, {size} trajectories, {backend}"
        if not context.enough(name):
            return None
        times = ["--repetitions", 1] if context.tiny or size >= 10 ** 6 else ["--repetitions", 3, "--seconds", 0.1]
        report = bench(context, name, studies[title](size, steps), backend, *times, *more)
        return report and {"seconds": sorted(report["seconds"])[len(report["seconds"]) // 2], "threads": report["threads"],
                           "steps_per_second": report["trajectory_steps_per_second"]["median"]}
    for title in studies:
        if context.data[title]["two_threads"] is None:
            context.data[title]["two_threads"] = measured(title, 64 if context.tiny else 10 ** 4, "cpu", "--threads", 2)
    for size in sizes:
        for title in studies:
            done = context.data[title]["sizes"]
            if all(row["trajectories"] != size for row in done):
                if (cpu := measured(title, size, "cpu")) and (cuda := measured(title, size, "cuda")):
                    done.append({"trajectories": size, "cpu": cpu, "cuda": cuda})
    rows = [[title, s["trajectories"], f"{s['cpu']['seconds']:.3g}", f"{s['cuda']['seconds']:.3g}",
             f"{s['cpu']['seconds'] / s['cuda']['seconds']:.2f}"] for title, r in context.data.items() for s in r["sizes"]]
    context.need(rows, "no row was measured")
    text = [table(["row", "trajectories", "CPU seconds", "GPU seconds", "CPU/GPU"], rows)]
    for title, r in context.data.items():
        if r["sizes"]:
            size, last = overtakes(r["sizes"]), r["sizes"][-1]["trajectories"]
            text.append(f"- {title}, {steps} steps: " + (f"the GPU is faster from {size} trajectories on" if size else
                                                         f"the GPU is not faster at {last} trajectories"))
    return "\n".join(text) + "\n"

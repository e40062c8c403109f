"""The stages of bench/gpu/run: each is a function of the context that fills its data, for JSON, and gives a text in Markdown."""
import collections, concurrent.futures, json, pathlib, re, shutil, tempfile

import speeds, targets
from common import ROOT, sweep, table

# Each pattern picks one kernel shape: a thread per trajectory without and with iteration, hbvm, a parked state, groups, Newton
# in local memory, conversion, a condensed step in local memory, teams of 8 and 16 lanes (16 and 32 with a tangent vector), teams of 32 lanes. Flavours add
# sections and tangent vectors to each shape.
SHAPES = [r"^henon-heiles - lobatto stages=2", r"^chaotic printed m=3 nonholonomic-lobatto stages=3",
          r"^henon-heiles - hbvm s=2 k=6", r"^suslov - nonholonomic-lobatto stages=2 retraction=.cay",
          r"^turntable-ball space nonholonomic-lobatto stages=3 retraction=.exp", r"^heavy-top - vrkmk stages=2",
          r"^chaplygin-sleigh - nonholonomic-lobatto stages=2", r"^kepler - variational-conversion base=.rk4",
          r"^four-particle - ggl-vi-a", r"^heavy-top-directors - ggl-vi-s", r"^heavy-top-directors - energy-momentum ",
          r"^rattleback - nonholonomic-lobatto stages=5 retraction=.cay"]
TINY_SHAPES = [r"^henon-heiles - lobatto stages=2", r"^chaotic printed m=2 nonholonomic-lobatto stages=2", r"^four-particle - ggl-vi-a"]


def build(context):
    """Configures and compiles the program and its tests. The kernels of steps are compiled when they are needed."""
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DRATTLEBACK_CUDA=ON", "-DRATTLEBACK_KERNEL_TESTS=OFF",
               "-DRATTLEBACK_EMULATED=ON" if context.tiny else "-DCMAKE_CUDA_ARCHITECTURES=90"]
    commands = [["cmake", "-S", ROOT, "-B", context.build, *options], ["cmake", "--build", context.build, "-j", context.options.jobs]]
    context.data["build"] = "built"
    for command in [] if context.tiny and context.program.exists() else commands:
        code, out, err = context.call(*command)
        if code is None:
            context.data["build"] = "unfinished"
            context.left_out.append("the rest of the build, which the same command goes on with")
            break
        if code != 0:
            context.data["build"] = "failed"
            context.fault((err or out or str(code)).strip().splitlines()[-1])
            break
    return context.data["build"] + "\n"


def tests(context):
    """The tests that need a GPU, in processes side by side."""
    context.need_device()
    program = context.options.tests
    if not program.exists():
        raise context.Absent(f"{program} is not there: build the tests, or name their program with --tests")
    listing = context.call(program, "--gtest_list_tests",
                           "--gtest_filter=CudaBackend.*:*OnTheGpu*" + ("chaotic_printed_m2_*_s2" if context.tiny else ""))[1]
    names, suite = [], ""
    for line in listing.splitlines():
        if line.startswith("  "):
            names.append(suite + line.split()[0])
        elif re.match(r"\S+\.(\s|$)", line):
            suite = line.split()[0]
    verdicts = context.data.setdefault("tests", {})
    todo = [name for name in names if verdicts.get(name) not in ("OK", "SKIPPED")]
    shards = max(1, min(context.options.jobs, 8, len(todo)))

    def shard(number):
        return context.call(program, "--gtest_filter=" + ":".join(todo[number::shards])) if todo else (0, "", "")
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        for code, out, err in pool.map(shard, range(shards)):
            found = {name: kind for kind, name in re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] (\w[\w/]*\.[^\s,]+)", out, re.M)}
            verdicts |= found
            if code not in (0, None) and "FAILED" not in found.values():
                context.fault(f"the tests ended with exit code {code} {err[-200:]}")
    missing = [name for name in names if name not in verdicts]
    context.left_out += [f"{name}, which did not end" for name in missing]
    counts = collections.Counter(verdicts.values())
    for name in (name for name, kind in verdicts.items() if kind == "FAILED"):
        context.fault(name)
    context.need(counts["OK"], "no test ran")
    return f"{counts['OK']} passed, {counts['FAILED']} failed, {counts['SKIPPED']} skipped, {len(missing)} left out\n"


def selftest(context):
    """rattleback selftest: each kernel against the processor, memory and fma rate."""
    context.need_device()
    more = ["--match", "henon_heiles__lobatto_s2", "--seconds", 0] if context.tiny else ["--seconds", 0.3]
    code, out, err = context.call(context.program, "selftest", "--backend", "cuda", "--json", *more)
    if code is None:
        context.left_out.append(f"the test took longer than {60 * context.options.minutes:.0f} s; give --minutes")
        return ""
    if not out.startswith("{"):
        context.fault(err.splitlines()[-1] if err else f"exit code {code}")
        return ""
    report = context.data = json.loads(out)
    for kernel in report["kernels"]:
        if not kernel["identical"]:
            context.fault(f"{kernel['name']}: {kernel['fault']}")
    if not report["kernels"]:
        context.fault("no kernel was tested")
    return table(["", ""], [["kernels", len(report["kernels"])], ["digest", report["digest"]], ["driver", report["driver"]],
                            ["fma loop, operations/s", f"{report['fma_flops']:.3g}"],
                            ["copy, bytes/s", f"{report['copy_bytes_per_second']:.3g}"]])


def compare(context):
    """Every system, method and option on the CPU and on the GPU: bits."""
    context.need_device()
    studies = context.data.setdefault("studies", {})
    longest = min(60.0, 0.2 * context.left())
    with tempfile.TemporaryDirectory() as folder:
        skip = pathlib.Path(folder, "skip")
        skip.write_text("".join(title + "\n" for title, verdict in studies.items() if verdict in ("identical", "refused")))
        command = [ROOT / "tests/ptxcpu/sweep.py", context.program, "--skip", skip, "--jobs", context.options.jobs,
                   "--timeout", longest, "--seconds", max(1.0, context.left() - longest - 5),
                   "--match", context.only or ("henon-heiles.*lobatto stages=2|four-particle.*ggl-vi-a" if context.tiny else "")]
        if context.tiny:
            command += ["--draws", 8, "--steps", 5]
        code, out, err = context.call(*command)
    for line in out.splitlines():
        cells = line.split("\t")
        if len(cells) != 8:
            continue
        title = " ".join(cells[2:7])
        studies[title] = cells[0]
        if cells[0] == "timeout":
            context.left_out.append(f"{title}, which took longer than {longest:.0f} s")
        elif cells[0] not in ("identical", "refused"):
            context.fault(f"{cells[0]}: {title}: {cells[7][:300]}")
    left = re.search(r"(\d+) left out", err)
    if left:
        context.left_out.append(f"{left.group(1)} studies")
    elif code is None:
        context.left_out.append("the studies that had not ended")
    elif code not in (0, 1):
        context.fault(f"the comparison ended with exit code {code}: {err[-200:]}")
    counts = collections.Counter(studies.values())
    context.need(counts["identical"], f"nothing was compared: {err[-200:]}")
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) + "\n"


def shapes(context, flavours):
    """A study of each kernel shape and flavour that the program takes: the first that matches."""
    entries = list(sweep.studies(context.program, flavours, 8 if context.tiny else 64, 5))
    for flavour in flavours:
        for shape in TINY_SHAPES if context.tiny else SHAPES:
            found = [e for e in entries if e.flavour == flavour and re.search(shape, " ".join(e[:-1]))]
            for entry in found:
                with tempfile.TemporaryDirectory() as folder:
                    study = pathlib.Path(folder, "study.toml")
                    study.write_text(entry.text)
                    if context.call(context.program, "check", study)[0] == 0:
                        yield entry
                        break
            else:
                if flavour == "plain":  # not every method takes a tangent vector
                    context.fault(f"no study of this build is like {shape}")


def sanitize(context):
    """compute-sanitizer on small runs of every kernel shape."""
    context.need_device()
    if context.tiny:  # the emulator's checks end a run at a fault
        flavours, tools = ["plain", "all"], {"races": (["env", "PTXCPU_RACES=1"], "")}
    elif not shutil.which("compute-sanitizer"):
        raise context.Absent("compute-sanitizer is not on PATH; the CUDA toolkit has it")
    else:
        flavours = ["plain", "sections", "tangent", "uneven"]
        tools = {tool: (["compute-sanitizer", "--tool", tool, "--error-exitcode", "99"], r"SUMMARY: .*\b0 errors")
                 for tool in ("memcheck", "racecheck", "initcheck")}
    runs = context.data.setdefault("runs", {})

    def check(job):
        entry, tool = job
        title = f"{' '.join(entry[:-1])}: {tool}"
        if runs.get(title) == "clean" or not context.enough(title, 10.0):
            return
        prefix, summary = tools[tool]
        with tempfile.TemporaryDirectory() as folder:
            study = pathlib.Path(folder, "study.toml")
            study.write_text(entry.text)
            code, out, err = context.call(*prefix, context.program, "run", study, "--backend", "cuda", "-o",
                                          pathlib.Path(folder, "result.h5"), "--quiet")
        if code is None:
            context.left_out.append(f"{title}, which {err}")
        elif code in (0, 3) and re.search(summary, out + err):  # 3: trajectories failed; very large steps cause this
            runs[title] = "clean"
        else:
            runs[title] = f"exit code {code}"
            context.fault(f"{title}: exit code {code}: {(out + err).strip()[-200:]}")
    entries = [entry for entry in shapes(context, flavours) if re.search(context.only, " ".join(entry[:-1]))]
    with concurrent.futures.ThreadPoolExecutor(min(context.options.jobs, 8)) as pool:
        list(pool.map(check, [(entry, tool) for tool in tools for entry in entries]))
    context.need(runs, "no kernel was checked")
    return table(["run", ""], runs.items())


def peers(context):
    """JAX and Diffrax, Numba, CuBIE, cuBLAS on the GPU, beside rattleback."""
    context.need_device()
    command = [ROOT / "bench/peers/run", context.program, "--gpu-only", "--python", context.options.python,
               "--output", context.results, "--seconds", max(1.0, context.left() - 20),
               "--only", context.only or ("s3|midpoint|Tsit5" if context.tiny else "")]
    if context.tiny:
        command += ["--gpu-count", 64, "--gpu-end", 1, "--repetitions", 1]
    code, out, err = context.call(*command)
    path = pathlib.Path(out.strip().splitlines()[-1]) if code == 0 and out.strip() else None
    if path is None or not path.exists():
        context.fault(err.splitlines()[-1] if err else f"exit code {code}")
        return ""
    results = json.loads(path.with_suffix(".json").read_text())
    context.data = {"rows": results["gpu"], "absent": results["skipped"]}
    context.left_out += results["left_out"]
    if not any(row["module"] == "rattleback" for row in results["gpu"]):
        context.fault("rattleback itself has no figure; --python needs numpy and h5py")
    return path.read_text()


def all_targets(context):
    """What is met, missed and outstanding of the aims, from what the stages left."""
    found = {}
    for name in STAGES:
        path = context.results / f"{name}.json"
        report = json.loads(path.read_text()) if path.exists() else {}
        if report and report["tiny"] == context.tiny:
            found[name] = report
    context.data["targets"] = targets.rows(found)
    return table(["target", "measured", ""], context.data["targets"])


STAGES = {name: (function.__doc__.strip().splitlines()[0], function) for name, function in (
    ("build", build), ("tests", tests), ("selftest", selftest), ("compare", compare), ("sanitize", sanitize),
    ("suite", speeds.catalogue), ("teams", speeds.teams), ("launch", speeds.launch), ("crossover", speeds.crossover),
    ("peers", peers), ("targets", all_targets))}

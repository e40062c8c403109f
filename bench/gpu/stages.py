"""The stages of bench/gpu/run: each is a function of the context that gives data for JSON, and a text in Markdown."""
import collections, concurrent.futures, importlib.machinery, json, pathlib, re, shutil, tempfile, types

import targets

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(path):
    """A script as a module."""
    module = types.ModuleType(path.name)
    module.__file__ = str(path)
    importlib.machinery.SourceFileLoader(path.name, str(path)).exec_module(module)
    return module


suite, sweep = load(ROOT / "bench/suite"), load(ROOT / "tests/ptxcpu/sweep.py")

# Kernel shapes: a thread for each trajectory without and with iteration, hbvm, with a parked state, on groups, Newton in local
# memory, conversion, tiles of 8, 16 and 32 lanes. The flavours add sections and tangent vectors to each.
SHAPES = [r"^henon-heiles - lobatto stages=2", r"^chaotic printed nonholonomic-lobatto stages=3", r"^henon-heiles - hbvm s=2 k=6",
          r"^suslov - nonholonomic-lobatto stages=2 retraction=.cay", r"^turntable-ball space nonholonomic-lobatto stages=3 retraction=.exp",
          r"^heavy-top - vrkmk stages=2", r"^chaplygin-sleigh - nonholonomic-lobatto stages=2", r"^kepler - variational-conversion base=.rk4",
          r"^four-particle - ggl-vi-a", r"^heavy-top-directors - ggl-vi-s", r"^heavy-top-directors - energy-momentum "]
TILE_KERNELS = "four_particle__ggl_vi_a|four_particle__energy_momentum|heavy_top_directors__ggl_vi_s"
LAUNCH_KERNELS = "chaotic_printed_3__nonholonomic_lobatto|henon_heiles__lobatto"
TILES = {f"tiles-{lanes}": f"-DRATTLEBACK_TILE_LANES={lanes}" for lanes in (8, 16, 32)}
LAUNCHES = {f"launch-{threads}x{blocks}": f"-DRATTLEBACK_BLOCK_THREADS={threads} -DRATTLEBACK_BLOCKS={blocks}"
            for threads, blocks in ((32, 8), (64, 2), (64, 3), (64, 6), (64, 8), (128, 2), (128, 4), (256, 1))}


def table(heads, rows):
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in (heads, ["---"] * len(heads), *rows)) + "\n"


def variant(context, name):
    return context.build.with_name(f"{context.build.name}-{name}")


def wanted(context, flags):
    """The variants to build and to run: of a tiny run those that an emulator can do in seconds."""
    return {name: flag for name, flag in flags.items() if not context.tiny or name in ("tiles-32", "launch-32x8")}


def build(context):
    """Configures and compiles the program and its variants."""
    common = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DRATTLEBACK_CUDA=ON", "-DRATTLEBACK_NATIVE=ON", "-DRATTLEBACK_KERNEL_TESTS=OFF"]
    tiles, launches = wanted(context, TILES), wanted(context, LAUNCHES)
    if context.tiny:
        common += ["-DRATTLEBACK_EMULATED=ON", "-DRATTLEBACK_CUDA_QUICK=ON"]
    else:
        common += ["-DRATTLEBACK_CUDA_QUICK=OFF", "-DCMAKE_CUDA_ARCHITECTURES=90"]
    small = ["-DRATTLEBACK_TESTS=OFF", "-DRATTLEBACK_BENCHMARKS=OFF", "-DRATTLEBACK_ISAS=scalar"]
    main = ["-DRATTLEBACK_SYSTEMS=chaotic_printed_[23]|henon_heiles|four_particle", "-DRATTLEBACK_ISAS=scalar"] if context.tiny else []
    folders = {context.build: main}
    for kernels, variants in ((TILE_KERNELS, tiles), (LAUNCH_KERNELS, launches)):
        if context.tiny:
            kernels = kernels.split("|")[0 if variants is tiles else 1]
        folders |= {variant(context, name): [*small, f"-DRATTLEBACK_KERNELS={kernels}", f"-DCMAKE_CUDA_FLAGS={flags}",
                                             f"-DRATTLEBACK_SYSTEMS={re.sub('__[a-z_]*', '', kernels)}"]
                    for name, flags in variants.items()}
    context.end += 1e6  # no limit
    rows = []
    for folder, options in folders.items():
        for command in (["cmake", "-S", ROOT, "-B", folder, *common, *options], ["cmake", "--build", folder, "-j", context.options.jobs]):
            code, _, err = context.call(*command)
            if code != 0:
                context.fault(f"{folder.name}: {err.splitlines()[-1] if err else code}")
                break
        rows.append([folder.name, "built" if code == 0 else "failed"])
    return {"builds": rows}, table(["build", ""], rows)


def tests(context):
    """The tests that need a GPU, in processes side by side."""
    context.need_device()
    program = context.build / "tests/host_tests"
    if not program.exists():
        raise context.Absent(f"{program} is not there: this build has no tests")
    filter_ = "CudaBackend.*:*OnTheGpu*" + ("chaotic_printed_m2*_s2" if context.tiny else "")
    shards = min(context.options.jobs, 8)

    def shard(number):
        return context.call(program, f"--gtest_filter={filter_}", env={"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(number)})
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        ended = list(pool.map(shard, range(shards)))
    verdicts = {}  # a test that failed is listed again at the end
    for code, out, err in ended:
        verdicts |= {name: kind for kind, name in re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] (\w[\w/]*\.\S+?),? ", out, re.M)}
        if code is None:
            context.left_out.append("tests of a process that did not end")
        elif code != 0 and "FAILED" not in verdicts.values():
            context.fault(f"the tests ended with exit code {code} {err[-200:]}")
    counts, failed = collections.Counter(verdicts.values()), sorted(name for name, kind in verdicts.items() if kind == "FAILED")
    for name in failed:
        context.fault(name)
    if not counts["OK"]:
        context.fault("no test ran")
    return {"passed": counts["OK"], "failed": failed, "skipped": counts["SKIPPED"]}, \
        f"{counts['OK']} passed, {len(failed)} failed, {counts['SKIPPED']} skipped\n"


def selftest(context):
    """rattleback selftest: each kernel against the processor, memory and fma rate."""
    context.need_device()
    more = ["--match", "henon_heiles__lobatto_s2", "--seconds", 0] if context.tiny else ["--seconds", 0.3]
    report, err = context.json(context.program, "selftest", "--backend", "cuda", "--json", "--quiet", *more)
    if not report:
        context.fault(err)
        return {}, ""
    for kernel in report["kernels"]:
        if not kernel["identical"]:
            context.fault(f"{kernel['name']}: {kernel['fault']}")
    rows = [["kernels", len(report["kernels"])], ["digest", report["digest"]], ["fma loop, operations/s", f"{report['fma_flops']:.3g}"],
            ["copy, bytes/s", f"{report['copy_bytes_per_second']:.3g}"]]
    return report, table(["", ""], rows)


def compare(context):
    """Every system, method and option on the CPU and on the GPU: bits."""
    context.need_device()
    command = [ROOT / "tests/ptxcpu/sweep.py", context.program, "--seconds", max(10, context.left() - 30), "--jobs", context.options.jobs]
    if context.tiny:
        command += ["--match", "henon-heiles.*lobatto stages=2|four-particle.*ggl-vi-a", "--draws", 8, "--steps", 5]
    code, out, err = context.call(*command)
    verdicts = collections.Counter(line.split("\t")[0] for line in out.splitlines() if "\t" in line)
    for line in out.splitlines():
        if line.split("\t")[0] in ("different", "error", "timeout"):
            context.fault(line.replace("\t", " ")[:300])
    left = re.search(r"(\d+) left out", err)
    if left and int(left.group(1)):
        context.left_out.append(f"{left.group(1)} studies")
    if not verdicts["identical"]:
        context.fault(f"nothing was compared: {err[-200:]}")
    return dict(verdicts), ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()) + "\n"


def sanitize(context):
    """compute-sanitizer on small runs of every kernel shape."""
    context.need_device()
    tools = {tool: ["compute-sanitizer", "--tool", tool, "--error-exitcode", "99"] for tool in ("memcheck", "racecheck", "initcheck")}
    if context.tiny:  # the emulator's own checks
        tools = {"races": ["env", "PTXCPU_RACES=1"]}
    elif not shutil.which("compute-sanitizer"):
        raise context.Absent("compute-sanitizer is not on PATH; the CUDA toolkit has it")
    flavours = ["plain", "all"] if context.tiny else ["plain", "sections", "tangent", "uneven"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        study, result = pathlib.Path(folder, "study.toml"), pathlib.Path(folder, "result.h5")
        shapes = [entry for entry in sweep.studies(context.program, flavours, 64, 5)
                  if any(re.search(shape, " ".join(entry[:-1])) for shape in SHAPES)]
        for entry in sorted(shapes, key=lambda e: flavours.index(e.flavour)):
            study.write_text(entry.text)
            for tool, prefix in tools.items():
                title = f"{' '.join(entry[:-1])}: {tool}"
                if not context.enough(title, 20.0):
                    continue
                result.unlink(missing_ok=True)
                code, out, err = context.call(*prefix, context.program, "run", study, "--backend", "cuda", "-o", result, "--quiet")
                if code is None:
                    context.left_out.append(title)
                    continue
                if code == 2:
                    continue  # such a combination does not exist
                good = code in (0, 3)  # 3: trajectories failed, as they are meant to with hopeless steps
                rows.append([*entry[:-1], tool, "clean" if good else "errors"])
                if not good:
                    context.fault(f"{title}: {(out + err).strip()[-200:]}")
    if not rows:
        context.fault("no kernel was checked")
    return {"runs": rows}, table(["system", "variant", "method", "options", "flavour", "tool", ""], rows)


def bench(context, program, text, backend, seconds=0.2):
    """What `rattleback bench --json` says of a study; None: it did not run, for a reason that the log has."""
    with tempfile.TemporaryDirectory() as folder:
        study = pathlib.Path(folder, "study.toml")
        study.write_text(text)
        repetitions = 1 if context.tiny else 3
        report, err = context.json(program, "bench", study, "--backend", backend, "--json", "--quiet", "--repetitions", repetitions,
                                   "--seconds", 0 if context.tiny else seconds, limit=120)
        return report, err


def rows_of(program):
    """Rows of bench/suite for a program: title, and a function of trajectories and steps that gives the study."""
    catalogue = json.loads(suite.call(program, "list", "--json")[1])
    methods = {m["name"]: m for m in catalogue["methods"]}
    for system, instance, structure, method, options, title in suite.rows_of(program, catalogue, methods):
        def text(trajectories, steps, system=system, instance=instance, structure=structure, method=method, options=options):
            sizes = types.SimpleNamespace(trajectories=trajectories, steps=steps)
            return suite.study(system, instance, structure, method, options, sizes)
        yield f"{title} {method} {options}".replace("\n", ", ").strip(), text


def figures(report):
    """Cells: steps per second, share of the fma rate, and the kernel that a run without sections takes."""
    kernel = report["kernels"][0] if report.get("kernels") else {}
    return [f"{report['trajectory_steps_per_second']['median']:.3g}", f"{report['fraction_of_peak']:.2f}",
            *(kernel.get(key, "") for key in ("kernel", "lanes", "registers", "local_bytes", "shared_bytes", "blocks")),
            f"{kernel['occupancy']:.2f}" if kernel else ""]


FIGURES = ["steps/s", "share of fma rate", "kernel", "lanes", "registers", "local", "shared", "blocks", "occupancy"]


def catalogue(context):
    """The whole catalogue on the GPU: steps per second, share of the fp64 rate, registers, occupancy."""
    context.need_device()
    rows, data = [], {}
    trajectories, steps = (64, 4) if context.tiny else (1 << 18, 50)
    for title, text in rows_of(context.program):
        if context.tiny and "lobatto" not in title and "ggl-vi-a" not in title:
            continue
        if not context.enough(title):
            continue
        report, err = bench(context, context.program, text(trajectories, steps), "cuda")
        if report is None:
            context.fault(f"{title}: {err}")
            continue
        data[title] = report
        rows.append([title, *figures(report)])
    return data, table(["row", *FIGURES], rows)


def variants(context, names, methods):
    """The rows of the builds that differ in their launches: steps per second; the same steps give the same bits."""
    context.need_device()
    trajectories, steps = (64, 4) if context.tiny else (1 << 17, 50)
    builds = {"default": context.program} | {name: variant(context, name) / "rattleback" for name in names}
    for name in [name for name, program in builds.items() if not program.exists()]:
        context.left_out.append(f"{name}: {builds.pop(name)} is not there (bench/gpu/run build)")
    if len(builds) < 2:
        raise context.Absent("no variant is built; run bench/gpu/run build")
    titles = {title for title, _ in rows_of(list(builds.values())[1])}
    rows, data = [], collections.defaultdict(dict)
    for title, text in rows_of(context.program):
        if title not in titles or not re.search(methods, title):
            continue
        for name, program in builds.items():
            if not context.enough(f"{title}, {name}"):
                continue
            report, err = bench(context, program, text(trajectories, steps), "cuda")
            if report is None:
                context.fault(f"{title}, {name}: {err}")
                continue
            data[title][name] = report
            rows.append([title, name, *figures(report)])
            same_bits(context, program, text(300, steps), f"{title}, {name}")
    if not rows:
        context.fault("the variants share no row with the program")
    return data, table(["row", "build", *FIGURES], rows)


def same_bits(context, program, text, title):
    with tempfile.TemporaryDirectory() as folder:
        study = pathlib.Path(folder, "study.toml")
        study.write_text(text)
        code, _, err = context.call(program, "compare", study, "--backends", "cpu:scalar,cuda", "--quiet", limit=120)
        if code != 0:
            context.fault(f"{title}: CPU and GPU differ, or did not run (exit code {code}) {err[-200:]}")


def tiles(context):
    """Tiles of 8, 16 and 32 lanes against the choice of linalg/tile.hpp."""
    return variants(context, wanted(context, TILES), "ggl-vi-a|ggl-vi-s|energy-momentum")


def launch(context):
    """Threads of a block and blocks of a multiprocessor against the choice of loop/instantiate.cuh."""
    return variants(context, wanted(context, LAUNCHES), "lobatto")


def crossover(context):
    """Ensembles of 10^2 to 10^7: from which size on the GPU is faster than all cores."""
    context.need_device()
    sizes = (64, 256) if context.tiny else [10 ** k * f for k in range(2, 8) for f in (1, 3)][:-1]
    wanted = r"^chaotic printed, m = 3.*stages = 3|^chaotic.*stages = 3|^henon-heiles lobatto stages = 3|^four-particle ggl-vi-a"
    rows, data = [], collections.defaultdict(list)
    for title, text in rows_of(context.program):
        if not re.search(wanted, title) or any(title.split(" m = ")[0].split(" nonh")[0] == d.split(" m = ")[0].split(" nonh")[0] for d in data):
            continue
        for size in sizes:
            if not context.enough(f"{title}, {size}"):
                continue
            cells = {}
            for backend in ("cpu", "cuda"):
                report, err = bench(context, context.program, text(size, 4 if context.tiny else 100), backend, 0.05)
                if report is None:
                    context.fault(f"{title}, {size} trajectories, {backend}: {err}")
                    break
                cells[backend] = report["trajectory_steps_per_second"]["median"]
                cells["cpu_threads"] = max(report["threads"], cells.get("cpu_threads", 0)) if backend == "cpu" else cells["cpu_threads"]
            if len(cells) == 3:
                data[title].append({"trajectories": size, **cells})
                rows.append([title, size, f"{cells['cpu']:.3g}", f"{cells['cuda']:.3g}", f"{cells['cuda'] / cells['cpu']:.2f}"])
    if not rows:
        context.fault("no row was measured")
    return data, table(["row", "trajectories", "CPU steps/s", "GPU steps/s", "GPU/CPU"], rows)


def peers(context):
    """JAX and Diffrax, Numba, CuBIE, cuBLAS on the GPU, beside rattleback."""
    context.need_device()
    command = [ROOT / "bench/peers/run", context.program, "--gpu-only", "--python", context.options.python, "--output", context.results]
    if context.tiny:
        command += ["--gpu-count", 64, "--gpu-end", 1, "--repetitions", 1, "--only", "rattleback"]
    code, out, err = context.call(*command)
    path = pathlib.Path(out.strip().splitlines()[-1]) if code == 0 and out.strip() else None
    if path is None or not path.exists():
        context.fault(err.splitlines()[-1] if err else f"exit code {code}")
        return {}, ""
    results = json.loads(path.with_suffix(".json").read_text())
    return {"rows": results["gpu"], "skipped": results["skipped"]}, path.read_text()


def all_targets(context):
    """What is met, missed and outstanding of the aims, from what the stages left."""
    found = {}
    for name in STAGES:
        path = context.results / f"{name}.json"
        if path.exists():
            found[name] = json.loads(path.read_text())
    rows = targets.rows(found)
    return {"targets": rows}, table(["target", "measured", ""], rows)


STAGES = {name: (function.__doc__.strip().splitlines()[0], function) for name, function in (
    ("build", build), ("tests", tests), ("selftest", selftest), ("compare", compare), ("sanitize", sanitize), ("suite", catalogue),
    ("tiles", tiles), ("launch", launch), ("crossover", crossover), ("peers", peers), ("targets", all_targets))}

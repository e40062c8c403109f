#!/usr/bin/env python3
"""A real Slurm on this machine runs the script that `rattleback job --slurm` prints.  slurm_test.py PROGRAM

Starts munge, the controller and one node in a folder of their own. Prints "skipped: .." where they are not installed or cannot
be started."""
import os, pathlib, re, shutil, socket, subprocess, sys, tempfile, time, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ""


def free_port():
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]


class Slurm:
    """One node. Raises RuntimeError where it cannot be started."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.environment = dict(os.environ, SLURM_CONF=str(folder / "slurm.conf"))
        for tool in ("munged", "slurmctld", "slurmd", "sbatch"):
            if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
                raise RuntimeError(f"{tool} is not installed (packages slurm-wlm and munge)")
        if os.geteuid() != 0:
            raise RuntimeError("slurmd needs root")
        host = socket.gethostname().split(".")[0]
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        folder.chmod(0o755)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
KillWait=5
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
""")
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
                   f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed")
        self.wait_for(lambda: (folder / "munge.socket").exists(), "munged")
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D", "-N", host)
        self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T").stdout, "Slurm")

    def start(self, name, *words):
        path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        with open(self.folder / f"{name}.out", "w") as log:
            self.processes.append(subprocess.Popen([path, *words], env=self.environment, stdout=log, stderr=log))

    def wait_for(self, condition, what):
        for _ in range(100):
            if condition():
                return
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(0.2)
        told = [path.read_text().splitlines()[-1:] for path in sorted(self.folder.glob("*.out"))]
        raise RuntimeError(f"{what} does not start on this machine ({'; '.join(line for lines in told for line in lines)})")

    def run(self, *words, **options):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, **options)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


class PrintedScript(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="rattleback-slurm-")
        cls.folder = pathlib.Path(cls.holder.name)
        try:
            cls.slurm = Slurm(cls.folder)
        except RuntimeError as why:
            print(f"skipped: {why}")
            raise unittest.SkipTest(str(why))

    @classmethod
    def tearDownClass(cls):
        cls.slurm.stop()
        cls.holder.cleanup()

    def submit(self, name, *study):
        """Runs the printed script. The numbers of its two jobs."""
        result = self.folder / f"{name}.h5"
        script = subprocess.run([PROGRAM, "job", *study, "--parts", "4", "--slurm", "-o", result], check=True,
                                capture_output=True, text=True).stdout
        (self.folder / "job.sh").write_text(script)
        submitted = self.slurm.run("bash", "job.sh", "--time=5", cwd=self.folder)
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        return re.fullmatch(r"jobs: parts (\d+), merge (\d+)", submitted.stdout.splitlines()[-1]).groups()

    def told(self):
        """What the jobs have printed."""
        return "\n".join(f"{path.name}: {path.read_text()}" for path in sorted(self.folder.glob("slurm-*.out")))

    def wait(self, condition, what, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"{what}\n{self.told()}\n{self.slurm.run('squeue').stdout}")
            time.sleep(0.2)

    def jobs(self):
        """What waits or runs."""
        return self.slurm.run("squeue", "-h", "-r", "-o", "%i %T").stdout.strip()

    def expect_same(self, result, *study):
        subprocess.run([PROGRAM, "run", *study, "-o", self.folder / "single.h5", "--quiet"], check=True)
        same = subprocess.run([PROGRAM, "diff", self.folder / "single.h5", result], capture_output=True, text=True)
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)

    def test_runs_and_merges(self):
        study = [str(ROOT / "examples/chaotic.toml"), "--set", "time.end=50.0"]
        self.submit("r", *study)
        self.wait(lambda: not self.jobs(), "the jobs do not end")
        self.expect_same(self.folder / "r.h5", *study)

    def test_goes_on_after_the_end_of_its_time(self):
        def study_to(end):
            return [str(ROOT / "examples/chaotic.toml"), "--set", f"time.end={end}.0", "--set", "time.sample_every=1000", "--set",
                    "output.checkpoint=100ms"]

        start = time.monotonic()
        subprocess.run([PROGRAM, "run", *study_to(20000), "-o", self.folder / "speed.h5", "--quiet"], check=True)
        seconds = time.monotonic() - start
        study = study_to(round(20 * max(1.0, 8.0 / seconds)) * 1000)  # two seconds for a part
        parts, _ = self.submit("long", *study)
        claims = lambda: list((self.folder / "long.h5.parts").glob("001-of-004.claim-*/part.h5.checkpoint"))
        self.wait(claims, "no checkpoint")
        # The signal that Slurm sends before the time limit. scancel tries again when the task queues again so fast.
        signal = subprocess.Popen(["scancel", "--batch", "--signal=TERM", f"{parts}_1"], env=self.slurm.environment,
                                  stderr=subprocess.DEVNULL)
        self.wait(lambda: f"{parts}_1 PENDING" in self.jobs(), "the task does not queue again")
        signal.kill()
        signal.wait()
        self.assertIn("any worker continues from there", self.told())
        self.assertTrue(claims(), "the checkpoint is gone")
        task = self.slurm.run("squeue", "-h", "-r", "-o", "%i %A").stdout
        number = re.search(rf"^{parts}_1 (\d+)$", task, re.MULTILINE)[1]
        self.slurm.run("scontrol", "update", f"JobId={number}", "StartTime=now")
        self.wait(lambda: not self.jobs(), "the jobs do not end", 300)
        self.assertEqual(list((self.folder / "long.h5.parts").glob("*.claim-*")), [])
        self.expect_same(self.folder / "long.h5", *study)

    def test_ranks_of_srun_share_out_the_parts(self):
        study = [str(ROOT / "examples/chaotic.toml"), "--set", "time.end=50.0"]
        ranks = self.slurm.run("srun", "-n", "2", "--overcommit", PROGRAM, "run", *study, "-o", str(self.folder / "ranks.h5"),
                               "--quiet", cwd=self.folder)
        self.assertEqual(ranks.returncode, 0, ranks.stderr)
        self.assertFalse((self.folder / "ranks.h5.parts").exists())
        self.expect_same(self.folder / "ranks.h5", *study)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()

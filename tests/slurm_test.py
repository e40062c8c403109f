#!/usr/bin/env python3
"""A real Slurm on this machine runs the script that `rattleback job --slurm` prints.  slurm_test.py PROGRAM

Starts munge, the controller and one node in a folder of their own. Prints "skipped: .." where they are not installed or cannot
be started."""
import os, pathlib, shutil, socket, subprocess, sys, tempfile, time, unittest

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
    def test_runs_and_merges(self):
        with tempfile.TemporaryDirectory(prefix="rattleback-slurm-") as name:
            folder = pathlib.Path(name)
            slurm = None
            try:
                try:
                    slurm = Slurm(folder)
                except RuntimeError as why:
                    print(f"skipped: {why}")
                    return
                study = ROOT / "examples/chaotic.toml"
                small = ["--set", "time.end=50.0"]
                subprocess.run([PROGRAM, "run", study, *small, "-o", folder / "single.h5", "--quiet"], check=True)
                script = subprocess.run([PROGRAM, "job", study, *small, "--parts", "4", "--slurm", "-o", folder / "r.h5"],
                                        check=True, capture_output=True, text=True).stdout
                (folder / "job.sh").write_text(script)
                submitted = slurm.run("bash", "job.sh", "--time=5", cwd=folder)
                self.assertEqual(submitted.returncode, 0, submitted.stderr)
                for _ in range(600):
                    if not slurm.run("squeue", "-h").stdout.strip():
                        break
                    time.sleep(0.2)
                told = "\n".join(path.read_text() for path in sorted(folder.glob("slurm-*.out")))
                self.assertTrue((folder / "r.h5").exists(), told + slurm.run("squeue").stdout)
                same = subprocess.run([PROGRAM, "diff", folder / "single.h5", folder / "r.h5"], capture_output=True, text=True)
                self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
                # Ranks that srun starts share out the parts, and rank 0 merges them.
                ranks = slurm.run("srun", "-n", "2", "--overcommit", PROGRAM, "run", str(study), *small, "-o",
                                  str(folder / "ranks.h5"), "--quiet", cwd=folder)
                self.assertEqual(ranks.returncode, 0, ranks.stderr)
                self.assertFalse((folder / "ranks.h5.parts").exists())
                same = subprocess.run([PROGRAM, "diff", folder / "single.h5", folder / "ranks.h5"], capture_output=True,
                                      text=True)
                self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
            finally:
                if slurm:
                    slurm.stop()


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()

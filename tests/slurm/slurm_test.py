#!/usr/bin/python3
"""examples/slurm with Debian's Slurm on this machine: start, submit, collect, compare.

    slurm_test.py XOFF

Starts munged, slurmctld and slurmd of its own, with keys, ports and folders of their own, submits a sweep in three
shares and compares what it leaves with a sweep without Slurm; then once more, with a task that was cancelled. Needs
root and the packages slurm-wlm and munge. Exit status 77 where they are missing. By hand: make slurm-test.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
XOFF = str(pathlib.Path(sys.argv[1]).resolve())
CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={port2}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
SWEEP = """sweep: On a cluster
scenario: {scenario}
vary: {{switch.buffer: [2MB, 3MB, 4MB], traffic.0.size: [100KB, 200KB]}}
seeds: 1..3
metrics: [fct.mean, pauses]
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(*command, **more):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, **more)


class Cluster:
    """Daemons in the foreground, ended by their own process ids."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        host = socket.gethostname().split(".")[0]
        (folder / "state").mkdir()
        (folder / "spool").mkdir()
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o600)
        (folder / "slurm.conf").write_text(CONFIG.format(host=host, folder=folder, port=free_port(),
                                                         port2=free_port()))
        self.env = dict(os.environ, SLURM_CONF=str(folder / "slurm.conf"))
        self.start("munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
                   f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge.pid",
                   f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed")
        self.wait("munged", lambda: (folder / "munge.socket").exists())
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", host)
        self.wait("the node", lambda: "idle" in run("sinfo", "-h", "-o", "%t", env=self.env).stdout)

    def start(self, *command):
        log = open(self.folder / f"{command[0]}.out", "w")
        self.daemons.append(subprocess.Popen(command, env=self.env, stdout=log, stderr=log))

    def wait(self, what, is_there, seconds=60):
        until = time.monotonic() + seconds
        while not is_there():
            if time.monotonic() > until:
                for log in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")):
                    print(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}")
                sys.exit(f"{what}: not there after {seconds} s")
            time.sleep(0.2)

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def sweep(self, work, out):
        """Submits and waits until no job is left."""
        env = dict(self.env, XOFF=XOFF, XOFF_CACHE=str(work / "cache"))
        submitted = run(ROOT / "examples/slurm/sweep.sh", 3, work / "sweep.yaml", "-o", out, cwd=work, env=env)
        print(submitted.stdout, submitted.stderr, end="")
        if submitted.returncode:
            sys.exit("cannot submit")
        return submitted.stdout.split()[2].rstrip(",")

    def drain(self):
        self.wait("the end of all jobs", lambda: not run("squeue", "-h", env=self.env).stdout.strip(), 100)


def main():
    if os.geteuid() or not all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch"))):
        print("needs root, and the packages slurm-wlm and munge")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        work = folder / "work"
        work.mkdir()
        (work / "sweep.yaml").write_text(SWEEP.format(scenario=ROOT / "scenarios/incast-pfc.yaml"))
        alone = run(XOFF, "sweep", work / "sweep.yaml", "-o", work / "alone", "--cache", work / "other")
        cluster = Cluster(folder)
        try:
            cluster.sweep(work, work / "first")
            cluster.drain()
            job = cluster.sweep(work, work / "again")  # all of it is in the cache by now
            run("scancel", f"{job}_2", env=cluster.env)
            cluster.drain()
        finally:
            cluster.stop()
        logs = {f.name: f.read_text() for f in work.glob("sweep-*.log")}
        wanted = (work / "alone/sweep.csv").read_bytes()
        good = alone.returncode == 0 and all(
            (work / d / "sweep.csv").exists() and (work / d / "sweep.csv").read_bytes() == wanted
            for d in ("first", "again"))
        good &= "6 runs, 6 from the cache, 0 failed" in logs.get("sweep-share-1.log", "")
        good &= "18 runs, 18 from the cache" in logs.get("sweep-collect.log", "")
        print(*(f"--- {k}\n{v}" for k, v in logs.items() if not good), sep="\n")
        print("shares by Slurm are the whole" if good else "differs")
        sys.exit(0 if good else 1)


main()

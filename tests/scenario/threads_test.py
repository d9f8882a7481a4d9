#!/usr/bin/python3
"""Threads without cores of their own: two of them on one core take about as long as one.

    threads_test.py XOFF

Counted is processor time, which other work on the machine changes little, and of several runs the
least. Threads that wait by spinning took 35 times as much. In builds with sanitizers, where links
between threads are dearer than the rest, the bound is only to find that.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
XOFF = str(pathlib.Path(sys.argv[1]).resolve())
LIMIT = 2 if os.environ.get("XOFF_QUICK") else 1.2
TRIES = 12


def run(threads, folder):
    """Returns the processor time, in seconds, and the digest."""
    core = min(os.sched_getaffinity(0))
    process = subprocess.Popen(
        [XOFF, "run", ROOT / "scenarios/quickstart.yaml", "--threads", str(threads), "--no-report",
         "--set", "stop=4ms", "-o", folder], stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{threads} threads: status {process.returncode}: {told}")
    return usage.ru_utime + usage.ru_stime, re.search(r"digest ([0-9a-f]{16})", told).group(1)


with tempfile.TemporaryDirectory() as name:
    least = {1: float("inf"), 2: float("inf"), 4: float("inf")}
    digests = set()
    for _ in range(TRIES):
        for n in least:
            taken, digest = run(n, pathlib.Path(name) / "run")
            least[n] = min(least[n], taken)
            digests.add(digest)
        ratio = max(least[2], least[4]) / least[1]
        if ratio <= LIMIT:
            break
    print(f"one core: {least[1]:.3f} s of one thread, {least[2]:.3f} s of two, {least[4]:.3f} s of "
          f"four: {ratio:.2f} times, at most {LIMIT}; digests {digests}")
    sys.exit(ratio > LIMIT or len(digests) != 1)

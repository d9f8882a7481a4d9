#!/usr/bin/python3
"""Every shipped scenario runs, its expectations hold, and its digest is the same on any number of
threads.

    run_test.py XOFF THREADS...

With XOFF_QUICK set (under sanitizers) the long ones end early, whatever they then expect.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile


LONG = {"leafspine-websearch.yaml", "transports.yaml"}


def run(xoff, file, threads, folder):
    is_cut = "XOFF_QUICK" in os.environ and file.name in LONG
    more = ["--set", "stop=150us", "--set", "drain=0s"] if is_cut else []
    done = subprocess.run([xoff, "run", file, "-j", "--threads", threads, "-o", folder, *more],
                          capture_output=True, timeout=240)
    if done.returncode != 0 and not (is_cut and done.returncode == 1):
        return None, f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}"
    runs = json.loads(done.stdout)["runs"]
    for name in ("run.sqlite", "summary.json"):
        if not (pathlib.Path(folder) / name).is_file():
            return None, f"left no {name}"
    return [r["digest"] for r in runs], None


def main():
    xoff = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    files = sorted((root / "scenarios").glob("*.yaml"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            seen = {}
            for threads in sys.argv[2:]:
                seen[threads], wrong = run(xoff, file, threads, folder)
                if wrong:
                    failed += 1
                    print(f"{file.name}, {threads} threads: {wrong}")
            if len({str(d) for d in seen.values()}) > 1:
                failed += 1
                print(f"{file.name}: digests differ: {seen}")
    print(f"{len(files)} scenarios, {failed} wrong")
    sys.exit(1 if failed or not files else 0)


main()

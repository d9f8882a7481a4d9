#!/usr/bin/python3
"""The report of a real run, and the scoreboard, in a real browser.

    browser_test.py XOFF

Runs the first scenario and the quick set of claims and hands the pages to report.test.mjs.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
XOFF = str(pathlib.Path(sys.argv[1]).resolve())
TEST = str(ROOT / "tests/browser/report.test.mjs")


def must(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-3000:])
        sys.exit(f"{command[0]} {command[1]}: exit status {done.returncode}")


with tempfile.TemporaryDirectory() as name:
    run = pathlib.Path(name) / "run"
    must(XOFF, "run", str(ROOT / "scenarios/quickstart.yaml"), "-o", str(run))
    must("node", TEST)
    must("node", TEST, str(run / "report.html"))

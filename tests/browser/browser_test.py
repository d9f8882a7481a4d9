#!/usr/bin/python3
"""The report of a real run, and the scoreboard, in a real browser.

    browser_test.py XOFF            all but how long a page takes to open
    browser_test.py XOFF timing     that alone; to be run while nothing else does

Runs the first scenario and hands its page, and made-up ones, to report.test.mjs. Skipped where
Node.js is older than the browser's driver accepts.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
XOFF = str(pathlib.Path(sys.argv[1]).resolve())
TEST = str(ROOT / "tests/browser/report.test.mjs")
IS_TIMING = sys.argv[2:] == ["timing"]
ENVIRONMENT = dict(os.environ, XOFF_TIMING="now" if IS_TIMING else "apart")


def must(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, env=ENVIRONMENT)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-3000:])
        sys.exit(f"{command[0]} {command[1]}: exit status {done.returncode}")


version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
if int(version.strip().lstrip("v").split(".")[0]) < 20:
    print(f"node {version.strip()} is there; the browser's driver needs 20 or newer")
    sys.exit(77)  # skipped, for Meson
with tempfile.TemporaryDirectory() as name:
    run = pathlib.Path(name) / "run"
    must(XOFF, "run", str(ROOT / "scenarios/quickstart.yaml"), "-o", str(run),
         "--set", "measure.series=[queue, throughput, pause, buffer, pools]")
    only = ["--test-name-pattern=opens in under"] if IS_TIMING else []
    must("node", *only, TEST)
    must("node", *only, TEST, str(run / "report.html"))

#!/usr/bin/python3
"""The report of a real run, the scoreboard and a sweep, in a real browser.

    browser_test.py XOFF            all but how long a page takes to open, and a frame of its replay
    browser_test.py XOFF timing     that alone; to be run while nothing else does

Runs the first scenario and hands its page, and made-up ones, to report.test.mjs; of a run whose
traffic begins late, what its time charts show. Skipped where Node.js is older than the browser's
driver accepts.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
XOFF = str(pathlib.Path(sys.argv[1]).resolve())
TEST = str(ROOT / "tests/browser/report.test.mjs")
SWEEP = str(ROOT / "tests/browser/sweep.test.mjs")
SCOREBOARD = str(ROOT / "tests/browser/scoreboard.test.mjs")
IS_TIMING = sys.argv[2:] == ["timing"]
ENVIRONMENT = dict(os.environ, XOFF_TIMING="now" if IS_TIMING else "apart")


def must(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, env=ENVIRONMENT)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-3000:])
        sys.exit(f"{command[0]} {command[1]}: exit status {done.returncode}")


# Files of the ns-3 RDMA family, whose traffic begins at 2 s.
IMPORTED = """ENABLE_QCN 0
CC_MODE 0
HAS_WIN 0
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
SIMULATOR_STOP_TIME 2.5
ENABLE_TRACE 0
BUFFER_SIZE 2
"""


def imported(folder):
    """The page of a run of such files."""
    for file in ("topology.txt", "flow.txt"):
        shutil.copy(ROOT / "tests/scenario/ns3" / file, folder)
    (folder / "config.txt").write_text(IMPORTED)
    must(XOFF, "run", str(folder / "config.txt"), "--compat", "ns3", "-o", str(folder / "imported"),
         "--set", "measure.every=10us")
    return str(folder / "imported/report.html")


version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
if int(version.strip().lstrip("v").split(".")[0]) < 20:
    print(f"node {version.strip()} is there; the browser's driver needs 20 or newer")
    sys.exit(77)  # skipped, for Meson
with tempfile.TemporaryDirectory() as name:
    run = pathlib.Path(name) / "run"
    must(XOFF, "run", str(ROOT / "scenarios/quickstart.yaml"), "-o", str(run),
         "--set", "measure.series=[queue, throughput, pause, buffer, pools]")
    only = ["--test-name-pattern=opens in under|takes little time"] if IS_TIMING else []
    must("node", *only, TEST)
    must("node", *only, TEST, str(run / "report.html"))
    if not IS_TIMING:
        must("node", SCOREBOARD)
        must("node", SWEEP)
        page = imported(pathlib.Path(name))
        must("node", "--test-name-pattern=span the traffic", TEST, page)

#!/usr/bin/python3
"""tools/test-matrix repeats what failed, step and name, right above its last line, the sum.

    matrix_test.py

The matrix runs in an empty folder, with stand-ins for Meson, Ninja and tools/fuzz.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# `meson test` leaves OUTCOMES as its log and ends with STATUS; `ninja` fails in the folder BROKEN.
MESON = """#!/bin/sh
if [ "$1" = test ]; then
    printf '%s' "$OUTCOMES" >"$3/meson-logs/matrix.json"
    exit "$STATUS"
fi
"""
NINJA = """#!/bin/sh
[ "$2" != "$BROKEN" ]
"""
FUZZ = """#!/bin/sh
printf 'fuzz: one: clean, 9 runs\\nfuzz: two: FAILED, input kept\\n'
exit 1
"""
wrong = 0


def matrix(what, outcomes, wanted, steps="release", status=1, broken="none"):
    """Runs steps, whose tests end as `outcomes` says, and compares the last lines with `wanted`."""
    global wrong
    log = "".join(json.dumps({"name": name, "result": result}) + "\n"
                  for name, result in outcomes.items())
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name, text in {"bin/meson": MESON, "bin/ninja": NINJA, "tools/fuzz": FUZZ}.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text)
            (place / name).chmod(0o755)
        for build in ("build", "build-clang"):
            (place / build / "meson-logs").mkdir(parents=True)
        shutil.copy(ROOT / "tools/test-matrix", place / "tools")
        run = subprocess.run(
            [place / "tools/test-matrix", *steps.split()], capture_output=True, text=True,
            timeout=60, check=False, env=os.environ | {
                "PATH": f"{place}/bin:{os.environ['PATH']}", "OUTCOMES": log, "BROKEN": broken,
                "STATUS": str(status)})
    is_good = wanted[-1].endswith(" 0 failed")
    lines = run.stdout.splitlines()
    if lines[-len(wanted):] != wanted or (run.returncode == 0) != is_good or \
            sum(line.startswith("failed: ") for line in lines) != len(wanted) - 1:
        wrong += 1
        print(f"wrong: {what}: status {run.returncode}\n{run.stdout}{run.stderr}")


matrix("all is well", {"a": "OK", "b": "SKIP", "c": "EXPECTEDFAIL"}, ["2 passed, 0 failed"], status=0)
matrix("names of failed tests", {"a": "OK", "b / c": "FAIL", "d": "TIMEOUT", "e": "SKIP"},
       ["failed: release: b / c", "failed: release: d", "1 passed, 2 failed"])
matrix("in two steps", {"a": "OK", "b": "ERROR"},
       ["failed: release: b", "failed: clang: b", "2 passed, 2 failed"], steps="release clang")
matrix("no test failed, but Meson", {"a": "OK"},
       ["failed: release: meson test, status 3 with 1 tests passed", "1 passed, 1 failed"], status=3)
matrix("no test", {}, ["failed: release: meson test, status 0 with 0 tests passed",
                       "0 passed, 1 failed"], status=0)
matrix("a build", {"a": "OK"}, ["failed: clang: the build", "1 passed, 1 failed"],
       steps="release clang", status=0, broken="build-clang")
matrix("builds that are compared", {}, ["failed: digest: the build in build-debug",
                                        "0 passed, 1 failed"], steps="digest", broken="build-debug")
matrix("a fuzz target", {}, ["failed: fuzz: two", "1 passed, 1 failed"], steps="fuzz")
sys.exit(1 if wrong else 0)

#!/usr/bin/python3
"""The commands of docs/analysis.md, in their order: each succeeds and prints something. Blocks for
pandas and gnuplot are left out where these are not installed.

    analysis_test.py XOFF
"""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNNERS = {"sh": ["sh", "-e"], "python": [sys.executable], "gnuplot": ["gnuplot"]}
MISSING = {"gnuplot": not shutil.which("gnuplot"),
           "pandas": not importlib.util.find_spec("pandas"),
           "sqlite3 ": not shutil.which("sqlite3")}


with tempfile.TemporaryDirectory() as name:
    base = pathlib.Path(name)
    (base / "scenarios").symlink_to(ROOT / "scenarios")
    (base / "bin").mkdir()
    (base / "bin/xoff").symlink_to(XOFF)
    env = {**os.environ, "PATH": f"{base}/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": name}
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs/analysis.md").read_text(),
                        re.S | re.M)
    said = []
    for kind, text in blocks:
        if not kind:
            check("what is shown is what is printed", text in "".join(said), text)
        elif not any(gone and word in kind + text for word, gone in MISSING.items()):
            run = subprocess.run(RUNNERS[kind], input=text, capture_output=True, text=True, cwd=base,
                                 env=env, timeout=120)
            said.append(run.stdout)
            check(text, run.returncode == 0 and (run.stdout or kind == "gnuplot"),
                  run.stdout + run.stderr)
        else:
            said.append("")
    check("all kinds of blocks are there", [k for k, _ in blocks].count("sh") >= 5 and
          [k for k, _ in blocks].count("python") == 2)
    check("awk and the table say the same", "SIH 73.38 us" in said[1], said[1])
    check("seed by seed", re.search(r"DSH saves 66\.8 us \+- [0-9.]+ us", "".join(said)), said)
    check("one line per variant", len(said[-1].splitlines()) == 4, said[-1])
finish()

#!/usr/bin/python3
"""`xoff report`, and the report `xoff run` leaves: paths, exit codes, figures as in run.sqlite.

    report_command_test.py XOFF
"""
import json
import pathlib
import re
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import check, finish, xoff  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def document(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text,
                                re.S)[1])


def check_figures(folder):
    run = document(folder / "report.html")["runs"][0]
    with sqlite3.connect(folder / "run.sqlite") as db:
        one = lambda sql: db.execute(sql).fetchone()[0]
        check("digest", run["digest"] == one("select digest from run"))
        check("flows", run["flows"]["n"] == one("select count(*) from flow"))
        check("slowest flow", abs(run["flows"]["cdf"]["slowdown"][-1][0] /
                                  one("select max(slowdown) from flow") - 1) < 1e-6)
        check("pauses", run["pauses"]["n"] ==
              one("select count(*) from pause where decision = 'XOFF'"))
        check("longest queue sampled", max(p[2] for s in run["series"] if s["metric"] == "queue"
                                           for p in s["points"]) ==
              one("select max(value) from sample where metric = 'queue_bytes'"))
        check("metrics", {m["name"]: m["unit"] for m in run["metrics"]} ==
              dict(db.execute("select name, unit from metric")))
        # Decisions reach the peer after the link's delay and stop it for about as long.
        decided = sum(r["paused_s"] for r in run["stops"]["rows"])
        felt = one("select sum(pfc_rx_pause_duration_ps) / 1e12 from queue")
        check(f"time paused: {decided} decided, {felt} felt", abs(decided / felt - 1) < 0.02)
        busiest = max(max(l["utilisation_ab"], l["utilisation_ba"])
                      for l in run["topology"]["links"])
        check("utilisation", abs(busiest - one("select max(utilisation) from v_port")) < 1e-5)


def main(folder):
    quick = ROOT / "scenarios/quickstart.yaml"

    run = xoff("run", quick, "-o", folder / "a")
    page = folder / "a" / "report.html"
    check("run leaves a report and says where", run.returncode == 0 and page.exists() and
          f"\nreport: {page}\n" in run.stdout, run)
    check_figures(folder / "a")
    run = xoff("report", folder / "a", "-o", folder / "again.html")
    check("the same page at any time",
          (folder / "again.html").read_text() == page.read_text(), run)

    run = xoff("run", quick, "-o", folder / "a", "--no-report")
    check("--no-report leaves none, not even an old one",
          run.returncode == 0 and not page.exists() and "report:" not in run.stdout, run)
    run = xoff("report", folder / "a" / "run.sqlite")
    check("beside run.sqlite by default", run.returncode == 0 and page.exists() and
          run.stdout == f"report: {page}\n", run)
    run = xoff("report", "a/", cwd=folder)
    check("relative path", run.stdout == "report: a/report.html\n", run)
    run = xoff("report", "run.sqlite", cwd=folder / "a")
    check("in the current folder", run.stdout == "report: report.html\n", run)

    run = xoff("run", quick, "-o", folder / "b", "--set", "switch.pause=none", "-j")
    check("-j prints JSON alone", json.loads(run.stdout) and (folder / "b/report.html").exists(),
          run)
    run = xoff("report", folder / "a", folder / "b", "-o", folder / "ab.html")
    check("two runs", run.returncode == 0 and
          [r["name"] for r in document(folder / "ab.html")["runs"]] == ["a", "b"], run)

    run = xoff("report", "--help")
    check("--help has an example", run.returncode == 0 and "Example: xoff report" in run.stdout,
          run)
    check("nothing given", xoff("report").returncode == 2)
    run = xoff("report", folder / "none")
    check("no such folder", run.returncode == 2 and "none: " in run.stderr and
          "No such file" in run.stderr, run)
    run = xoff("report", quick, "-o", folder / "x.html")
    check("a scenario is no run", run.returncode == 2 and "not a results file" in run.stderr and
          not (folder / "x.html").exists(), run)
    run = xoff("report", folder / "a", "-o", folder / "no/x.html")
    check("cannot be written", run.returncode == 1 and "cannot be written" in run.stderr, run)

    shutil.copytree(folder / "a", folder / "half")
    file = folder / "half/run.sqlite"
    file.write_bytes(file.read_bytes()[:20000])
    run = xoff("report", folder / "a", folder / "half")
    check("one of two is truncated", run.returncode == 2 and
          re.search(r"half/run.sqlite: error: .*truncated: 20000 of \d+ bytes", run.stderr), run)


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
finish()

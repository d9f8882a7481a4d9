#!/usr/bin/python3
"""xoff sweep: each run's figures are those of xoff run; any number of jobs, a kill and shares leave the same bytes;
seeds are added until an interval is tight; runs that fail are told, and the others go on.

    sweep_test.py XOFF
"""
import csv
import json
import math
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish, mpi_environment, xoff  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENARIO = """title: Swept
topology: {kind: star, hosts: 5}
stop: 100us
drain: 10ms
switch: {pause: pfc}
transport: datagram
priorities: {3: {lossless: true}}
traffic:
  - {kind: poisson, name: web, from: h1..h4, to: h0, load: 0.1, sizes: 10KB, priority: 3}
variants:
  - {name: short}
  - {name: long, set: {traffic.0.sizes: 20KB}}
expect: [drops == 0]
"""
SWEEP = """sweep: Load and buffer
scenario: swept.yaml
vary:
  traffic.0.load: {from: 0.1, to: 0.2, steps: 3}
  switch.buffer: [1MB, 2MB]
seeds: 1..2
metrics: [fct.web.p99, throughput, pauses]
page: {x: traffic.0.load, series: switch.buffer, pareto: {min: [fct.web.p99, switch.buffer], max: [throughput]}}
"""


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)


def rows_of(folder):
    with open(folder / "sweep.csv", newline="") as f:
        return list(csv.DictReader(f))


def check_figures(file, folder):
    """Against xoff run, and between the files. Returns the bytes of the CSV."""
    out = folder / "whole"
    run = xoff("sweep", file, "-j", "-o", out)
    check("a sweep runs", run.returncode == 0, run)
    document = json.loads(run.stdout)
    check("sweep.json is what is printed", json.loads((out / "sweep.json").read_text()) == document)
    rows = rows_of(out)
    check("a row for every run, in order", [
        (r["traffic.0.load"], r["switch.buffer"], r["switch.buffer_bytes"], r["variant"], r["seed"])
        for r in rows] == [(load, buffer, size, variant, seed) for load in ("0.1", "0.15", "0.2")
                           for buffer, size in (("1MB", "1000000"), ("2MB", "2000000"))
                           for variant in ("short", "long") for seed in "12"])
    alone = json.loads(xoff("run", folder / "swept.yaml", "--seed", 2, "--set", "traffic.0.load=0.15",
                            "--set", "switch.buffer=2MB", "-j", "--no-report", "-o",
                            folder / "alone").stdout)
    for theirs in alone["runs"]:
        row = next(r for r in rows if (r["traffic.0.load"], r["switch.buffer"], r["variant"], r["seed"])
                   == ("0.15", "2MB", theirs["variant"], "2"))
        check("digest of the run alone", row["digest"] == theirs["digest"])
        check("every metric of the run alone", all(
            float(row[name]) == m["value"] for name, m in theirs["metrics"].items()))
    for cell in document["cells"]:
        values = [float(r["fct.web.p99"]) for r in rows
                  if int(r["point"]) == cell["point"] and r["variant"] == cell["variant"]]
        m = cell["metrics"]["fct.web.p99"]
        check("mean and interval", m["n"] == 2 and near(m["mean"], statistics.fmean(values)) and
              near(m["ci95"], 12.706204736 * statistics.stdev(values) / math.sqrt(2)))
    means = [c["metrics"]["throughput"]["mean"] for c in document["cells"]]
    check("seeds and settings are there", document["seeds"] == [1, 2] and document["settings"] == {}, document["seeds"])
    check("both parameters matter", [p["matters"] for p in document["parameters"]] == [True, True])
    shown = {m["name"]: m for m in document["metrics"]}["throughput"]
    check("of throughput more is better", shown["more_is_better"] and
          means[shown["best"]] == max(means) and means[shown["worst"]] == min(means))
    goals = [(c["metrics"]["fct.web.p99"]["mean"], document["points"][c["point"]]["numbers"][1],
              -c["metrics"]["throughput"]["mean"]) for c in document["cells"]]
    check("the Pareto front", [c["pareto"] for c in document["cells"]] == [
        not any(all(x <= y for x, y in zip(b, a)) and b != a for b in goals) for a in goals])
    with sqlite3.connect(out / "sweep.sqlite") as db:
        found = {(p, v, s): d for p, v, s, d in
                 db.execute("SELECT point_id, variant, seed, digest FROM run WHERE state = 'done'")}
        check("runs of the database", found == {
            (int(r["point"]), r["variant"], int(r["seed"])): r["digest"] for r in rows})
        check("metrics of the database", all(
            float(rows[i][name]) == value
            for i, name, value in db.execute("SELECT run_id, name, value FROM metric")))
        number, = db.execute("SELECT v.number FROM value v JOIN parameter p ON p.id = v.parameter_id "
                             "WHERE v.point_id = 3 AND p.name = 'switch.buffer'").fetchone()
        check("values of the database", number == 2e6)
        mean, = db.execute("SELECT mean FROM spread WHERE point_id = 0 AND variant = 'short' AND "
                           "name = 'fct.web.p99'").fetchone()
        check("spreads of the database", mean == document["cells"][0]["metrics"]["fct.web.p99"]["mean"])
        check("the front in the database", db.execute("SELECT count(*) FROM pareto").fetchone()[0] ==
              sum(c["pareto"] for c in document["cells"]))
    check("a page", "Load and buffer" in (out / "sweep.html").read_text())
    return (out / "sweep.csv").read_bytes()


def check_same(file, folder, whole):
    """Jobs, kills and shares."""
    env = dict(os.environ, XDG_CACHE_HOME=str(folder / "jobs"))
    run = xoff("sweep", file, "--jobs", 1, "-o", folder / "one", env=env)
    check("one job at a time", (folder / "one/sweep.csv").read_bytes() == whole and
          run.stdout.startswith("Load and buffer\n6 points, 2 variants, 24 runs\n") and
          "24 runs, 0 from the cache" in run.stderr, run)
    check("that nothing makes no difference", "makes no difference" not in run.stdout, run)
    cache = folder / "shares"
    for k in (1, 2, 3):
        run = xoff("sweep", file, "--share", f"{k}/3", "--cache", cache, cwd=folder)
        check(f"share {k}", run.returncode == 0 and "8 runs, 0 from the cache" in run.stdout and not run.stderr, run)
        run = xoff("sweep", file, "--share", f"{k}/3", "--cache", cache, "-j", "-o", folder / "part")
        check(f"share {k} as JSON", json.loads(run.stdout) == {
            "share": k, "shares": 3, "runs": 8, "cached": 8, "failed": 0}, run)
        check("that it leaves a folder alone is said", f"{folder / 'part'} is left as it is" in run.stderr and
              not (folder / "part").exists(), run)
        if k == 1:
            run = xoff("sweep", file, "--collect", "--cache", cache, "-o", folder / "early")
            check("shares that are missing are told", run.returncode == 1 and
                  "16 of 24 runs are not in" in run.stderr and not (folder / "early").exists(), run)
    check("a share writes nothing but its cache", not list(folder.glob("sweep-*")))
    run = xoff("sweep", file, "--collect", "--cache", cache, "-o", folder / "collected")
    check("shares merged are the whole", run.returncode == 0 and
          (folder / "collected/sweep.csv").read_bytes() == whole and
          "24 runs, 24 from the cache" in run.stderr, run)
    for name in ("sweep.json", "sweep.html"):
        check(f"{name} is the same, too",
              (folder / "collected" / name).read_bytes() == (folder / "one" / name).read_bytes())


def check_kill(file, folder):
    """Killed again and again, it goes on and comes to the same."""
    slow = folder / "slow.yaml"
    slow.write_text(file.read_text().replace("seeds: 1..2", "seeds: 1..4\nset: {stop: 1ms}"))
    entries = folder / "kills/xoff"
    env = dict(os.environ, XDG_CACHE_HOME=str(folder / "kills"))
    counts = [0]
    for signal_number in (signal.SIGKILL, signal.SIGTERM):
        started = subprocess.Popen([XOFF, "sweep", slow, "-o", folder / "killed", "--jobs", "2"], env=env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(3000):
            n = len(list(entries.glob("[!.]*"))) if entries.is_dir() else 0
            if n > counts[-1] + 3 or started.poll() is not None:
                break
            time.sleep(0.005)
        started.send_signal(signal_number)
        _, said = started.communicate(timeout=60)
        counts.append(len(list(entries.glob("[!.]*"))))
    check("the second end is said", started.returncode == 1 and "repeat the command to go on" in said)
    check(f"both had done something, {counts}", 0 < counts[1] < counts[2] < 48)
    run = xoff("sweep", slow, "-o", folder / "killed", env=env)
    check("it goes on", run.returncode == 0 and
          f"48 runs, {counts[2]} from the cache" in run.stderr, run)
    run = xoff("sweep", slow, "-o", folder / "unharmed", "--fresh", env=env)
    check("killed and resumed is the whole", (folder / "killed/sweep.csv").read_bytes() ==
          (folder / "unharmed/sweep.csv").read_bytes(), run)
    check("nothing is left", not list(folder.glob("killed/.*")))


def check_failing(folder):
    """Points whose network cannot be built: told, and the others go on."""
    file = folder / "failing.yaml"
    file.write_text("sweep: Hosts\nscenario: swept.yaml\nvariants: long\n"
                    "vary: {topology.hosts: [4, 5, 6], switch.buffer: [1MB, 2MB]}\n")
    run = xoff("sweep", file, "-j", "-o", folder / "failing")
    document = json.loads(run.stdout)
    check("a run that fails is told with its place", run.returncode == 1 and
          "topology.hosts=4 switch.buffer=1MB" in run.stderr and "no such host" in run.stderr, run)
    check("and is in the document", [(f["point"], f["seed"]) for f in document["failures"]] ==
          [(0, 1), (1, 1)] and [c["failed"] for c in document["cells"]] == [1, 1, 0, 0, 0, 0])
    rows = rows_of(folder / "failing")
    check("a reason is told once", run.stderr.count("no such host") == 1 and ", and 1 more run\n" in run.stderr, run)
    cache = folder / "failing-cache"
    for k in (1, 2):
        xoff("sweep", file, "--share", f"{k}/2", "--cache", cache)
        run = xoff("sweep", file, "--collect", "--cache", cache, "-o", folder / f"failing{k}")
        check(f"what cannot be built is not missing, {k}", run.returncode == 1 and
              ("2 of 6 runs are not in" in run.stderr) == (k == 1), run)
    check("shares with failed runs are collected", (folder / "failing2/sweep.csv").read_bytes() ==
          (folder / "failing/sweep.csv").read_bytes(), run)
    check("the others went on", [r["state"] for r in rows] == ["failed"] * 2 + ["done"] * 4 and
          rows[0]["drops"] == "" and rows[2]["drops"] == "0" and {r["variant"] for r in rows} == {"long"})


def check_until(file, folder):
    goal = "fct.web.p99 +- 30%"
    run = xoff("sweep", file, "--until", goal, "--max-seeds", 60, "-j", "-o", folder / "tight")
    document = json.loads(run.stdout)
    cells = document["cells"]
    check("seeds are added until all are tight", run.returncode == 0 and all(
        c["tight"] and c["metrics"]["fct.web.p99"]["ci95"] <= 0.3 * c["metrics"]["fct.web.p99"]["mean"]
        and 3 <= c["runs"] <= 60 for c in cells), run)
    check("not more than needed", len({c["runs"] for c in cells}) > 1)
    rows = rows_of(folder / "tight")
    check("seeds count on", [r["seed"] for r in rows if r["point"] == "0" and r["variant"] == "short"] ==
          [str(i + 1) for i in range(cells[0]["runs"])])
    for k in (1, 2):
        xoff("sweep", file, "--until", goal, "--max-seeds", 60, "--share", f"{k}/2", "--cache",
             folder / "until", "--jobs", k)
    run = xoff("sweep", file, "--until", goal, "--max-seeds", 60, "--collect", "--cache", folder / "until",
               "-o", folder / "collected")
    check("shares decide alike", run.returncode == 0 and (folder / "collected/sweep.csv").read_bytes() ==
          (folder / "tight/sweep.csv").read_bytes(), run)
    run = xoff("sweep", file, "--until", "fct.web.p99 +- 1ns", "--max-seeds", 3, "-o", folder / "loose")
    check("where it is not reached is told", run.returncode == 0 and
          "fct.web.p99 is as tight as asked at 0 of 12" in run.stdout and
          "not after 3 seeds" in run.stdout and "traffic.0.load=0.1 switch.buffer=1MB short" in run.stdout, run)
    for tolerance in ("5", "5KB"):
        run = xoff("sweep", file, "--until", f"fct.web.p99 +- {tolerance}", "-o", folder / "unit")
        check("a tolerance in another unit", run.returncode == 2 and run.stderr ==
              "error: --until: wrong or missing unit; a tolerance of fct.web.p99 is a time (ps ns us ms s), or a "
              f"share of the mean such as 5% (given: {tolerance})\n" and not (folder / "unit").exists(), run)


def check_bad(folder):
    bad = folder / "bad.yaml"
    for text, place, message in (
            ("vary: {switch.bufer: [1MB]}", "3:8", "vary.switch.bufer: unknown key; did you mean buffer?"),
            ("vary: {switch.buffer: [1MB, 1m]}", "3:29", "vary.switch.buffer:"),
            ("vary:\n  stop: {from: 1us, to: 9us, steps: 3}\n  switch.buffer: {from: 1, to: 9, steps: 2}", "5:",
             "vary.switch.buffer:"),
            ("vary: {switch.buffer: []}", "3:23", "empty"),
            ("vary: {traffic.1.load: [0.1]}", "3:25", "no such entry"),
            ("vary: {expect: [x]}", "3:17", "cannot be set"),
            ("set: {stopp: 1ms}\nvary: {switch.buffer: [1MB]}", "3:7", "set.stopp: unknown key; did you mean stop?"),
            ("vary: {switch.buffer: [1MB]}\nvariants: [lnog]", "4:12", "did you mean long?"),
            ("vary: {switch.buffer: [1MB]}\nuntil: fct", "4:8", "give a metric and a tolerance"),
            ("vary: {switch.buffer: [1MB]}\nuntil: ''", "4:9", "give a metric and a tolerance"),
            ("vary: {switch.buffer: [1MB]}\nuntil: fct.web.p99 +- 10", "4:8", "is a time (ps ns us ms s)"),
            ("vary: {switch.buffer: [1MB]}\nuntil: throughput +- 1KB", "4:8", "is a rate (bps"),
            ("vary: {switch.buffer: [1MB]}\nuntil: sent.web +- 1us", "4:8", "is a size (B"),
            ("vary: {switch.buffer: [1MB]}\nuntil: drops +- 1KB", "4:8", "is a number without a unit"),
            ("vary: {switch.buffer: [1MB]}\nuntil: curve.q.max +- 1us", "4:8", "no run of the scenario can have"),
            ("vary: {switch.buffer: [1MB]}\nuntil: fct.wbe.p99 +- 1us", "4:8", "did you mean fct.web.p99?"),
            ("vary: {switch.buffer: [1MB]}\nmetrics: [drops, fct.wbe.p99]", "4:18", "did you mean fct.web.p99?"),
            ("vary: {switch.buffer: [1MB]}\npage: {pareto: {min: [drops, fct.web.p98]}}", "4:30", "did you mean"),
            ("vary: {switch.buffer: [1MB]}\npage: {pareto: {min: [drops], max: [jain.wib]}}", "4:37", "jain.web?"),
            ("latin: 4\nvary: {switch.buffer: {from: 1, to: 2}}", "4:", "vary.switch.buffer"),
            ("vary: {switch.buffer: [1MB]}\ncolour: red", "4:1", "unknown key")):
        bad.write_text(f"sweep: Bad\nscenario: swept.yaml\n{text}\n")
        run = xoff("sweep", bad, "-o", folder / "bad")
        check(f"{text}: {place} {message}", run.returncode == 2 and f"{bad}:{place}" in run.stderr and
              message in run.stderr and not run.stdout and run.stderr.count("\n") == 1, run)
    bad.write_text("sweep: Bad\nscenario: swept.yaml\nvary: {switch.buffer: [1MB]}\nset: {stop: 1ns, drain: 0s}\n"
                   "metrics: [fct.web.p99, drops]\n")
    run = xoff("sweep", bad, "--until", "fct.web.p99 +- 5%", "-o", folder / "named")
    check("a metric that runs could have and have not", run.returncode == 1 and f"{bad}:5:11" in run.stderr and
          "no run has this metric" in run.stderr and "no run of 1 has it  switch.buffer=1MB" in run.stdout, run)
    bad.write_text("sweep: Bad\nscenario: swept.yaml\nvary: {switch.bufer: [1MB]}\n")
    for args, message in ((["--share", "0/4"], "K from 1 to N"), (["--share", "5/4"], "K from 1 to N"),
                          (["--share", "1/4x"], "K from 1 to N"), (["--until", "drops"], "--until: give a metric"),
                          (["--until", ""], "--until: give a metric"),
                          (["--max-seeds", "4"], "with --until alone"),
                          (["--collect", "--share", "1/2"], "runs nothing"), (["--seeds", "2..1"], "--seeds"),
                          (["--set", "switch.buffer=1MB"], "the sweep varies this key"),
                          (["--set", "seed=1"], "chosen by seeds"), (["--set", "stpo=1ms"], "did you mean stop?"),
                          (["--jobs", "0"], "from 1 to 1024"), (["--max-seeds", "1"], "from 2 to"),
                          ([bad], "one sweep at a time")):
        run = xoff("sweep", folder / "sweep.yaml", *args, "-o", folder / "bad")
        check(" ".join(map(str, args)), run.returncode not in (0, 1) and message in run.stderr, run)
    run = xoff("sweep", "-o", folder / "bad")
    check("no file", run.returncode == 2 and "no sweep file" in run.stderr, run)
    run = xoff("sweep", folder / "swept.yaml", "-o", folder / "bad")
    check("a scenario is no sweep", run.returncode == 2 and "this is a scenario, not a sweep; run it with xoff run" in
          run.stderr, run)
    run = xoff("sweep", folder, "-o", folder / "bad")
    check("a folder is no sweep", run.returncode == 2 and f"{folder}: error: sweep: is a folder" in run.stderr, run)
    run = xoff("run", folder / "sweep.yaml", "-o", folder / "bad")
    check("a sweep is no scenario", run.returncode == 2 and "run it with xoff sweep" in run.stderr, run)
    check("nothing is left", not (folder / "bad").exists())


def check_folder(file, folder):
    """A folder in use, and one with files of others."""
    slow = folder / "long.yaml"
    slow.write_text(file.read_text() + "set: {stop: 200ms}\n")
    out = folder / "used"
    env = dict(os.environ, XDG_CACHE_HOME=str(folder / "long"))
    first = subprocess.Popen([XOFF, "sweep", slow, "-o", out], env=env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    for _ in range(600):
        if (out / ".xoff-lock").exists() and (out / ".xoff-lock").read_text():
            break
        time.sleep(0.02)
    run = xoff("sweep", file, "-o", out)
    check("who has the folder is told", run.returncode == 2 and f"process {first.pid} on " in run.stderr, run)
    first.send_signal(signal.SIGTERM)
    first.wait(timeout=60)
    out.mkdir(exist_ok=True)
    (out / "notes.txt").write_text("mine")
    run = xoff("sweep", file, "-o", out)
    check("other files are kept", run.returncode == 0 and (out / "notes.txt").read_text() == "mine" and
          {f.name for f in out.iterdir()} == {"notes.txt", "sweep.csv", "sweep.html", "sweep.json",
                                              "sweep.sqlite"}, run)


VERDICTS = """title: Verdicts
topology: {kind: star, hosts: 4}
stop: 100us
drain: 1ms
switch: {pause: pfc, mmu: {kind: sih, allow_loss: true}}
transport: none
priorities: {3: {lossless: true}}
traffic:
  - {kind: incast, name: burst, from: h1..h3, to: h0, size: 300KB, at: 0s, priority: 3}
variants:
  - {name: near}
  - {name: far, set: {topology.host_link.delay: 2us}}
"""


def check_verdicts(folder):
    """Each run's verdict is that of xoff run: expectations, those that compare variants, and troubles."""
    scenario, file = folder / "verdicts.yaml", folder / "judged.yaml"
    file.write_text("sweep: Judged\nscenario: verdicts.yaml\nvary: {switch.mmu.headroom: [5KB, 200KB]}\n"
                    "set: {switch.buffer: 1MB}\nmetrics: [drops.lossless, fct.burst.mean, drops.link-down]\n"
                    "page: {pareto: {min: [drops.lossless, fct.burst.mean]}}\n")
    for name, expects in (("none", []), ("bare", ["drops == 0"]),
                          ("both", ["far.drops == near.drops", "pauses > 0"])):
        scenario.write_text(VERDICTS + (f"expect: [{', '.join(expects)}]\n" if expects else ""))
        run = xoff("sweep", file, "-j", "-o", folder / f"judged-{name}")
        document, rows = json.loads(run.stdout), rows_of(folder / f"judged-{name}")
        check("a failed verdict is no failed run", run.returncode == 0 and {r["state"] for r in rows} == {"done"}, run)
        for headroom in ("5KB", "200KB"):
            alone = xoff("run", scenario, "-j", "--no-report", "-o", folder / "alone", "--set", "switch.buffer=1MB",
                         "--set", f"switch.mmu.headroom={headroom}")
            theirs_alone = [json.loads(alone.stdout)["runs"]]
            if name == "bare":  # xoff run has one sentence for both variants
                theirs_alone = [json.loads(xoff("run", scenario, "-j", "--no-report", "-o", folder / "alone", "--set",
                                                "switch.buffer=1MB", "--set", f"switch.mmu.headroom={headroom}",
                                                "--variant", variant).stdout)["runs"] for variant in ("near", "far")]
            for theirs in sum(theirs_alone, []):
                row = next(r for r in rows if (r["switch.mmu.headroom"], r["variant"]) ==
                           (headroom, theirs["variant"]))
                check(f"verdict of the run alone, {name}", row["why"] == "; ".join(theirs["findings"]) and
                      row["verdict"] == {"pass": "passed", "fail": "failed"}[theirs["verdict"]],
                      f"{row['verdict']} {row['why']}, {theirs['findings']}")
        n = sum(r["verdict"] == "failed" for r in rows)
        check(f"verdicts differ, {name}", 0 < n < 4 and document["verdicts"]["failed"] == n and
              document["verdicts"]["runs"] == 4 and
              [c["verdict_failed"] for c in document["cells"]] == [int(r["verdict"] == "failed") for r in rows], rows)
        with sqlite3.connect(folder / f"judged-{name}/sweep.sqlite") as db:
            check(f"verdicts of the database, {name}", db.execute("SELECT verdict, why FROM run").fetchall() ==
                  [(r["verdict"], r["why"]) for r in rows])
            check("layout of the database", db.execute("PRAGMA user_version").fetchone() == (2,))
        text = xoff("sweep", file, "-o", folder / f"judged-{name}").stdout
        check(f"verdicts are told, {name}", f"{n} of 4 runs failed an expectation or the audit\n" in text and
              {"none": "a lossless class were lost for want of room: ", "bare": "drops == 0: ",
               "both": "far.drops == near.drops: "}[name] in text, text)
    file.write_text(file.read_text() + "variants: near\n")
    rows = rows_of(folder / "judged-both") if xoff("sweep", file, "-o", folder / "judged-both") else []
    check("what compares with a variant that is left out is not tested",
          [r["verdict"] for r in rows] == ["failed", "passed"] and "no expectation of near" in rows[0]["why"], rows)


def check_absent(folder):
    """A metric that some points do not have is not said to be the same everywhere."""
    file = folder / "absent.yaml"
    file.write_text("sweep: Absent\nscenario: swept.yaml\nvariants: short\nset: {drain: 0s}\n"
                    "vary: {stop: [700ns, 100us]}\nmetrics: [fct.web.p99, throughput]\n"
                    "page: {pareto: {min: [fct.web.p99, stop]}}\n")
    text = xoff("sweep", file, "-o", folder / "absent").stdout
    check("where a metric is absent is told", "us at 1 of 2, none at 1\n" in text and "everywhere" not in text and
          "least fct.web.p99, stop: 1 of 2; 1 have not all of these figures\n" in text, text)
    file.write_text(file.read_text().replace("100us]", "100us, 200us]"))
    text = xoff("sweep", file, "-o", folder / "absent").stdout
    check("beside a best and a worst, too", "    none   at 1 of 3\n" in text, text)


def check_text(folder):
    """What is said where there is no table, and where there is no interval."""
    file = folder / "many.yaml"
    for n, seeds in ((24, "1"), (25, "1..2")):
        file.write_text("sweep: Many\nscenario: swept.yaml\nvariants: short\nset: {stop: 2us}\nmetrics: [sent, drops]\n"
                        f"seeds: {seeds}\nvary: {{switch.buffer: {{from: 1MB, to: 2MB, steps: {n}}}}}\n")
        run = xoff("sweep", file, "-o", folder / "many")
        check(f"a table of {n} points, or none", ("  buffer  variant   sent" in run.stdout) == (n == 24) ==
              ("no table of more than 24 rows here: sweep.csv and the page have all 25\n" not in run.stdout), run)
        check(f"intervals are explained where they are, {seeds}", ("+-" in run.stdout) == (n == 25) ==
              ("  +-: the true mean" in run.stdout), run)


def check_order(folder):
    """A mechanism and its parameters hold together, whichever is varied or set first."""
    common = ["switch.mmu.allow_loss", "switch.mmu.alpha"], ["true", "1/16"]
    found = []  # by mechanism and headroom: the shared buffer is what headroom leaves, dsh alone has insurance
    for first, second in (("mmu", "mmu.headroom"), ("mmu.headroom", "mmu")):
        values = {"mmu": "[sih, dsh]", "mmu.headroom": "[20KB, 60KB]"}
        file = folder / f"{first}-first.yaml"
        file.write_text("sweep: Order\nscenario: swept.yaml\nvariants: short\n"
                        f"vary: {{switch.{first}: {values[first]}, switch.{second}: {values[second]}}}\n"
                        f"set: {{{', '.join(': '.join(pair) for pair in zip(*common))}}}\n")
        run = xoff("sweep", file, "-o", folder / f"{first}-first")
        check(f"{first} first", run.returncode == 0, run)
        check("no frame waits there, so that neither matters", run.stdout.count("makes no difference") == 2 and
              "  switch.mmu.headroom makes no difference: every run is the same" in run.stdout, run)
        found.append({(r["switch.mmu"], r["switch.mmu.headroom"]): (float(r["buffer.shared"]), r["insurance.peak"])
                      for r in rows_of(folder / f"{first}-first") if r["state"] == "done"})
    check("a parameter is not undone by its mechanism", found[0] == found[1] and
          len(set(found[0].values())) == 4, found)
    options = [f"{key}={value}" for key, value in zip(*common)]
    options += ["switch.mmu.headroom=20KB", "switch.mmu=dsh"]
    for order in (options, options[::-1]):
        run = xoff("run", folder / "swept.yaml", "--variant", "short", "-j", "--no-report", "-o", folder / "ordered",
                   *(word for option in order for word in ("--set", option)))
        metrics = json.loads(run.stdout)["runs"][0]["metrics"] if run.returncode == 0 else {}
        check(f"a run has them all, {order[0]} first", "insurance.peak" in metrics and
              metrics["buffer.shared"]["value"] == found[0]["dsh", "20KB"][0], run.stderr)


def check_latin(folder):
    file = folder / "latin.yaml"
    file.write_text("sweep: Latin\nscenario: swept.yaml\nlatin: 8\nvariants: [short]\nvary:\n"
                    "  traffic.0.load: {from: 0.1, to: 0.5}\n  switch.mmu: [sih, dsh]\n"
                    "  switch.buffer: {from: 1MB, to: 16MB, scale: log}\n")
    run = xoff("sweep", file, cwd=folder)
    rows = rows_of(folder / "sweep-latin")
    check("each stratum once", run.returncode == 0 and
          sorted(int((float(r["traffic.0.load"]) - 0.1) / 0.05) for r in rows) == list(range(8)) and
          sorted(int(math.log2(float(r["switch.buffer_bytes"]) / 1e6) * 2) for r in rows) == list(range(8)) and
          sorted(r["switch.mmu"] for r in rows) == ["dsh"] * 4 + ["sih"] * 4, run)
    check("what matters is not known there", "makes no difference" not in run.stdout, run)


def check_ranks(file, folder, whole):
    """Over ranks as over cores; the first alone prints and writes."""
    if not shutil.which("mpirun") or not (pathlib.Path(XOFF).parent / "xoff_mpi.so").exists():
        print("no MPI: sweeps over ranks are not tried")
        return
    env = mpi_environment()

    def mpirun(*args, n=2):
        return subprocess.run(["mpirun", "-n", str(n), XOFF, "sweep", *map(str, args)], env=env, timeout=120,
                              capture_output=True, text=True, check=False)

    run = mpirun(file, "--fresh", "-o", folder / "ranks")
    check("ranks come to the same", run.returncode == 0 and
          (folder / "ranks/sweep.csv").read_bytes() == whole and run.stdout.count("24 runs\n") == 1, run)
    run = mpirun(file, "--until", "fct.web.p99 +- 30%", "--max-seeds", 60, "-o", folder / "agreed")
    check("ranks agree on seeds", run.returncode == 0 and (folder / "agreed/sweep.csv").read_bytes() ==
          (folder / "tight/sweep.csv").read_bytes(), run)
    run = mpirun(folder / "failing.yaml", "-o", folder / "failed")
    check("what failed at another rank is told once", run.returncode == 1 and
          (folder / "failed/sweep.csv").read_bytes() == (folder / "failing/sweep.csv").read_bytes() and
          run.stderr.count("error: web.from") == 1, run)
    run = mpirun(folder / "bad.yaml", "--set", "stpo=1ms", "-o", folder / "refused")
    check("bad input is told once", run.returncode == 2 and run.stderr.count("did you mean stop?") == 1 and
          not (folder / "refused").exists(), run)
    run = mpirun(file, "-o", file)
    check("a folder that cannot be is told once", run.returncode == 1 and
          run.stderr.count("error: ") == 1 and file.is_file(), run)
    if "XOFF_QUICK" in os.environ:
        return
    unequal = folder / "unequal.yaml"
    unequal.write_text("sweep: Unequal\nscenario: swept.yaml\nvariants: [short]\n"
                       "vary: {stop: [20ms, 30us, 40us, 50us, 60us]}\n")
    xoff("sweep", unequal, "--fresh", "-o", folder / "unequal")
    for n in (3, 7):
        run = mpirun(unequal, "--fresh", "-o", folder / f"unequal{n}", n=n)
        check(f"{n} ranks for a long run and four short ones", run.returncode == 0 and
              "5 runs, 0 from the cache" in run.stderr and (folder / f"unequal{n}/sweep.csv").read_bytes() ==
              (folder / "unequal/sweep.csv").read_bytes(), run)
    kill_rank(file, folder, env, mpirun)


def kill_rank(file, folder, env, mpirun):
    """Without one of its ranks a sweep ends, and writes nothing; the next one goes on."""
    long = folder / "endless.yaml"
    long.write_text(file.read_text().replace("seeds: 1..2", "seeds: 1..2\nset: {stop: 1ms}"))
    out, entries = folder / "without", folder / "without-cache/xoff"
    env["XDG_CACHE_HOME"] = str(entries.parent)
    started = subprocess.Popen(["mpirun", "-n", "2", XOFF, "sweep", long, "-o", out], env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for _ in range(3000):
        if entries.exists() and len(list(entries.iterdir())) > 3:
            break
        time.sleep(0.002)
    victims = [p for p in pathlib.Path("/proc").glob("[0-9]*") if is_rank(p, 1, long)]
    for victim in victims:
        os.kill(int(victim.name), signal.SIGKILL)
    told = started.communicate(timeout=60)[0]
    kept = len(list(entries.iterdir()))
    check("a rank is killed: all end", victims and started.returncode != 0, told)
    check("a rank is killed: what to do is said", "the runs that had ended are kept; repeat the command to go on" in
          told, told)
    check("a rank is killed: nothing is written", not list(out.glob("[!.]*")), told)
    run = mpirun(long, "-o", out)
    check("what ranks had done is kept", run.returncode == 0 and 3 < kept < 24 and
          f"24 runs, {kept} from the cache" in run.stderr, f"{kept}\n{run.stderr}")
    run = xoff("sweep", long, "--fresh", "-o", folder / "again")
    check("killed and resumed is the whole", (out / "sweep.csv").read_bytes() ==
          (folder / "again/sweep.csv").read_bytes(), run)


def is_rank(process, rank, file):
    """Whether a folder of /proc is that of a rank itself, not of one of its workers."""
    try:
        if f"OMPI_COMM_WORLD_RANK={rank}".encode() not in (process / "environ").read_bytes().split(b"\0"):
            return False
        parent = (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
        of_parent = pathlib.Path("/proc", parent, "environ").read_bytes()
        return str(file).encode() in (process / "cmdline").read_bytes().split(b"\0") and \
            b"OMPI_COMM_WORLD_RANK" not in of_parent
    except OSError:
        return False


def check_shipped(folder):
    """The sweep of the tree, one burst of it: what docs/sweep.md says of headroom."""
    run = xoff("sweep", ROOT / "scenarios/sweep-headroom.yaml", "--seeds", 1, "--set", "stop=700us", "-o",
               folder / "shipped")
    lost = {(int(r["switch.mmu.headroom_bytes"]), r["switch.buffer"]): int(r["drops.lossless"])
            for r in rows_of(folder / "shipped")}
    check("headroom above the worst case loses nothing, less does", run.returncode == 0 and len(lost) == 21 and
          all(lost[60000, b] == 0 < lost[10000, b] for b in ("1MB", "2MB", "4MB")), run)


with tempfile.TemporaryDirectory() as name:
    base = pathlib.Path(name)
    os.environ["XDG_CACHE_HOME"] = str(base / "cache")
    (base / "swept.yaml").write_text(SCENARIO)
    path = base / "sweep.yaml"
    path.write_text(SWEEP)
    csv_bytes = check_figures(path, base)
    check_same(path, base, csv_bytes)
    check_kill(path, base)
    check_failing(base)
    check_until(path, base)
    check_bad(base)
    check_folder(path, base)
    check_verdicts(base)
    check_absent(base)
    check_text(base)
    check_order(base)
    check_latin(base)
    check_ranks(path, base, csv_bytes)
    check_shipped(base)
finish()

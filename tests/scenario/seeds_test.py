#!/usr/bin/python3
"""xoff run --seeds: every seed's figures are those of a run with that seed alone; mean, interval and
spread follow from them; any number of jobs gives the same; an interrupted command goes on.

    seeds_test.py XOFF
"""
import csv
import json
import math
import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish, xoff  # noqa: E402

SCENARIO = """title: Seeds
topology: {kind: star, hosts: 5}
stop: 200us
drain: 10ms
switch: {pause: pfc}
transport: datagram
priorities: {3: {lossless: true}}
traffic:
  - {kind: poisson, name: web, from: h1..h4, to: h0, load: 0.1, sizes: 10KB, priority: 3}
variants:
  - {name: low}
  - {name: high, set: {traffic.0.load: 0.2}}
expect:
  - drops == 0
  - high.delivered > low.delivered
"""
T95 = {1: 12.706204736, 2: 4.302652730, 3: 3.182446305}


def runs_of(run):
    return {r["variant"]: r for r in json.loads(run.stdout)["runs"]}


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)


def check_figures(file, folder):
    """Against runs with one seed each, and against Python's statistics."""
    run = xoff("run", file, "--seeds", "3,1..2", "-j", "-o", folder / "many")
    check("runs with three seeds", run.returncode == 0, run)
    many = runs_of(run)
    alone = [runs_of(xoff("run", file, "--seed", s, "-j", "--no-report", "-o", folder / f"one{s}"))
             for s in (3, 1, 2)]
    for name, whole in many.items():
        seeds = whole["seeds"]
        check("seeds in the order given", seeds["list"] == [3, 1, 2])
        check(f"{name}: digests of the seeds alone",
              seeds["digests"] == [a[name]["digest"] for a in alone])
        check(f"{name}: the run itself is that of the first seed",
              whole["seed"] == 3 and whole["digest"] == seeds["digests"][0])
        for metric, m in seeds["metrics"].items():
            values = [a[name]["metrics"].get(metric, {}).get("value") for a in alone]
            known = [v for v in values if v is not None]
            good = m["values"] == values and m["n"] == len(known) and \
                m["min"] == min(known) and m["max"] == max(known) and \
                near(m["mean"], statistics.fmean(known))
            if len(known) > 1:
                deviation = statistics.stdev(known)
                good &= near(m["stddev"], deviation) and \
                    near(m["ci95"], T95[len(known) - 1] * deviation / math.sqrt(len(known)))
            else:
                good &= m["stddev"] is None and m["ci95"] is None
            check(f"{name}: {metric} {m}", good)
        check("expectations by seed", seeds["expectations"] == [
            {"text": t, "holds": 3, "failed_seeds": []}
            for t in ("drops == 0", "high.delivered > low.delivered")])
    table = xoff("run", file, "--seeds", "3,1..2", "-o", folder / "table")
    lines = table.stdout[table.stdout.index("\n  jain\n"):].splitlines()[2:4]
    check("the table has the figures of each variant, in the order of its headings", all(
        words[0] == name and all(
            math.isclose(float(word), many[name]["seeds"]["metrics"]["jain"][key], rel_tol=1e-3)
            for word, key in zip(words[1:], ("mean", "ci95", "stddev", "min", "max"), strict=True))
        for words, name in zip(map(str.split, lines), many, strict=True)), table)
    with open(folder / "many/metrics.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    check("metrics.csv names the key that differs", list(rows[0]) == [
        "scenario", "variant", "seed", "traffic.0.load", "metric", "unit", "value"])
    check("metrics.csv has every figure of every seed", {
        (r["variant"], int(r["seed"]), r["traffic.0.load"], r["metric"]): float(r["value"])
        for r in rows} == {
            (name, seed, {"low": "0.1", "high": "0.2"}[name], metric): m["value"]
            for seed, one in zip((3, 1, 2), alone) for name, r in one.items()
            for metric, m in r["metrics"].items()})
    with sqlite3.connect(folder / "many/run.sqlite") as db:
        found = dict(db.execute("select name, mean from spread join run on run.id = run_id "
                                "where variant = 'high'"))
    check("the table spread", found == {
        k: m["mean"] for k, m in many["high"]["seeds"]["metrics"].items()})
    check("the page has them, too", (folder / "many/report.html").read_text().count(
        '"spreads":[{"name":"flows"') == 2)
    return run.stdout


def without_times(text):
    runs = json.loads(text)["runs"]
    for r in runs:
        del r["performance"]
    return runs


def check_jobs(file, folder, first):
    """Other numbers of jobs, without and with what the cache has, give the same."""
    for jobs, cache in ((1, "one"), (3, "three"), (3, "three")):
        run = xoff("run", file, "--seeds", "3,1..2", "--jobs", jobs, "-j", "--no-report",
                   "-o", folder / "jobs", env={**os.environ, "XDG_CACHE_HOME": str(folder / cache)})
        check(f"{jobs} jobs give the same", without_times(run.stdout) == without_times(first), run)
    page = xoff("run", file, "--seeds", "3,1..2", "-o", folder / "jobs")
    check("the table", all(w in page.stdout for w in (
        "3 seeds from 3 on", "over 3 seeds", "fct.web.p99", "95 % confidence",
        "holds with all 3 seeds: drops == 0")), page)
    check("no line is wider than 80", all(
        len(line) <= 80 for line in page.stdout.split("\n\nholds")[0].split("\n")), page)


def check_verdicts(file, folder):
    """One seed that fails fails the run, with its number."""
    sent = [m for m in json.loads((folder / "many/summary.json").read_text())["runs"]
            if m["variant"] == "low"][0]["seeds"]["metrics"]["delivered"]["values"]
    most = sorted(sent)[-2:]
    failing = [s for s, v in zip((3, 1, 2), sent) if v == most[1]]
    file.write_text(SCENARIO + f"  - low.delivered < {(most[0] + most[1]) / 2:.0f}B\n")
    run = xoff("run", file, "--seeds", "3,1..2", "--no-report", "-o", folder / "fails", "-j")
    check("an expectation that fails with one seed fails", run.returncode == 1 and
          f"it holds with 2 of 3 seeds, not with {failing[0]}:" in run.stderr, run)
    low = runs_of(run)["low"]
    check("and is in the verdict", low["verdict"] == "fail" and
          low["seeds"]["expectations"][2]["failed_seeds"] == failing, run)
    check("--no-expect", xoff("run", file, "--seeds", "1,2", "--no-expect", "--no-report", "-o",
                              folder / "fails").returncode == 0)
    # Lossless frames are lost, and nobody expects it.
    lossy = folder / "lossy.yaml"
    lossy.write_text(SCENARIO.split("variants:")[0].replace("load: 0.1", "load: 0.95").replace(
        "pause: pfc", "buffer: 320KB, pause: none, mmu: {kind: sih, allow_loss: true}"))
    run = xoff("run", lossy, "--seeds", "1..4", "--no-report", "-o", folder / "lost", "-j")
    found = runs_of(run)[""]
    lost = [s for s, v in zip(found["seeds"]["list"],
                              found["seeds"]["metrics"]["drops.lossless"]["values"]) if v]
    later = [s for s in lost if s != 1]
    check("troubles of later seeds are findings with the seed", later and run.returncode == 1 and
          all(any(f.startswith(f"seed {s}: frames of a lossless") for f in found["findings"])
              for s in later), run)
    file.write_text(SCENARIO)


def check_interruption(file, folder):
    """What had ended is not run again, and nothing is written before all is whole."""
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "stopped")}
    command = ["run", file, "--seeds", "1..40", "--set", "stop=2ms", "--jobs", "1", "-o",
               folder / "slow", "--no-report"]
    started = subprocess.Popen([XOFF, *map(str, command)], env=env, stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    entries = folder / "stopped/xoff"
    for _ in range(600):
        if entries.is_dir() and len(list(entries.iterdir())) > 3:
            break
        time.sleep(0.02)
    started.send_signal(signal.SIGTERM)
    _, said = started.communicate(timeout=60)
    n = len(list(entries.iterdir()))
    check("an end by a signal is said", started.returncode == 1 and
          "nothing is written" in said and not (folder / "slow").exists())
    check("some had ended", 3 < n < 78)
    before = {p.name: p.stat().st_mtime_ns for p in entries.iterdir()}
    run = xoff(*[("1..4" if a == "1..40" else a) for a in command], env=env)
    check("it goes on", run.returncode == 0 and (folder / "slow/summary.json").exists(), run)
    after = {p.name: p.stat().st_mtime_ns for p in entries.iterdir()}
    check("what had ended is taken as it was", all(after[k] == before[k] for k in before))


def check_bad(file, folder):
    for seeds, message in (("", "give seeds such as 1..20 or 1,5,9"), ("x", "such as"),
                           ("1..", "such as"), ("..3", "such as"), ("1,", "such as"),
                           ("1;2", "such as"), ("-1", "such as"), ("1..2..3", "such as"),
                           ("5..4", "from the smaller seed"), ("1,2,1", "given twice"),
                           ("1..5,3", "given twice"), ("1..10001", "at most 10000 seeds"),
                           ("99999999999999999999", "such as")):
        run = xoff("run", file, f"--seeds={seeds}", "-o", folder / "bad")
        check(f"--seeds {seeds!r}", run.returncode not in (0, 1) and message in run.stderr, run)
    for args, message in ((["--seeds", "1,2", "--seed", "3"], "give one of them"),
                          (["--seeds", "1,2", "--set", "seed=3"], "give one of them"),
                          (["--seeds", "1,2", "--jobs", "0"], "from 1 to 1024")):
        run = xoff("run", file, *args, "-o", folder / "bad")
        check(" ".join(args), run.returncode not in (0, 1) and message in run.stderr, run)
    run = xoff("run", "-", "--seeds", "1,2", "-o", folder / "bad", input=SCENARIO)
    check("standard input is read once", run.returncode not in (0, 1) and "give a file" in run.stderr)
    check("nothing is left", not (folder / "bad").exists())
    one = xoff("run", file, "--seeds", "7", "-j", "--no-report", "-o", folder / "one")
    check("one seed is a list, too", one.returncode == 0 and
          runs_of(one)["low"]["seeds"]["list"] == [7], one)


with tempfile.TemporaryDirectory() as name:
    base = pathlib.Path(name)
    os.environ["XDG_CACHE_HOME"] = str(base / "cache")
    path = base / "seeds.yaml"
    path.write_text(SCENARIO)
    check_jobs(path, base, check_figures(path, base))
    check_verdicts(path, base)
    check_interruption(path, base)
    check_bad(path, base)
    run = xoff("run", path, "--seeds", "1,2", cwd=base)
    check("the usual folder", (base / "run-seeds-seeds/report.html").exists(), run)
finish()

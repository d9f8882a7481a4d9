#!/usr/bin/python3
"""results: summary. Figures are those of a run that keeps its flows, and the digest is the same for any
number of threads; a run that stops at a checkpoint goes on; seeds, forks, sweeps, their pages and explanations
work as with all flows; memory does not grow with flows; what needs every flow is refused.

    summary_test.py XOFF
"""
import csv
import json
import math
import pathlib
import re
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import check, finish, xoff  # noqa: E402

# Flows of all kinds: frames are lost and sent again, streams do not end, datagrams that lose a frame
# stay unfinished, and connections outlive their messages.
MIXED = """title: Mixed
topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3, fabric_link: {error: 0.001}}
stop: 300us
drain: 200us
measure: {from: 50us}
transports: {lossy: datagram}
traffic:
  - {kind: poisson, name: web, load: 0.3, sizes: 20KB}
  - {kind: poisson, name: small, load: 0.1, sizes: 1KB, transport: lossy}
  - {kind: cbr, name: stream, from: h0, to: h5, rate: 1Gbps}
  - {kind: cbr, name: late, from: h1, to: h4, rate: 10Mbps, start: 10us}
  - {kind: allreduce, name: reduce, hosts: all, size: 30KB}
expect: [flows.finished > 100, flows.unfinished >= 0, operations.unfinished >= 0]
"""
TINY = """title: Tiny
topology: {kind: star, hosts: 8, host_link: {rate: 400Gbps, delay: 500ns}}
stop: 700us
traffic:
  - {kind: poisson, name: mice, load: 0.6, sizes: 1KB}
"""
# One flow waits for its turn while others of its sender finish: it does not starve.
SERVED = """title: Served
topology: {kind: star, hosts: 3}
stop: 200us
drain: 0s
transport: none
receivers: [{host: h1, rate: 0bps}]
traffic:
  - {kind: flows, name: held, list: [{at: 1us, from: h0, to: h1, size: 20KB}]}
  - {kind: poisson, name: web, from: h0, to: h2, load: 0.3, sizes: 1KB, stop: 150us}
"""
FORKED = """title: Forked
topology: {kind: star, hosts: 6}
switch: {marking: {kind: ecn, kmin: 100KB, kmax: 400KB}}
stop: 100us
traffic:
  - {kind: poisson, name: web, load: 0.8, sizes: 10KB}
variants:
  - {name: plain}
  - {name: lower, set: {switch.marking.kmin: 5KB}}
"""
SWEEP = """sweep: Loads
scenario: forked.yaml
vary: {traffic.0.load: [0.2, 0.7]}
seeds: 1..2
metrics: [fct.web.p99, flows.finished]
"""
# Rates are kept in whole bits per second.
EXACT, ROUNDED, PERCENTILE = 1e-9, 1e-5, 1 / 1024


def is_near(name, a, b):
    most = PERCENTILE if re.search(r"\.p\d+$", name) else \
        ROUNDED if re.match("throughput|min_share|jain", name) else EXACT
    return math.isclose(a, b, rel_tol=most)


def run_json(*args):
    run = xoff("run", *args, "--no-report", "-j")
    check(f"runs {args[1:]}", run.returncode == 0, run)
    return json.loads(run.stdout)["runs"][0]


def values(run):
    return {name: m["value"] for name, m in run["metrics"].items()}


def rows(folder, query):
    with sqlite3.connect(folder / "run.sqlite") as database:
        return database.execute(query).fetchall()


def check_figures(file, tmp):
    summary = ["--set", "results=summary"]
    full = run_json(file, "-o", tmp / "full")
    some = [run_json(file, "-o", tmp / f"some{t}", "--threads", t, *summary) for t in (1, 2, 4)]
    check("one digest for any number of threads", len({r["digest"] for r in some}) == 1)
    check("and the same figures", values(some[0]) == values(some[1]) == values(some[2]))
    kept, summed = values(full), values(some[0])
    n = summed.pop("flows.summarised", 0)
    check("most flows are summarised", 0.9 * kept["flows.finished"] < n <= kept["flows.finished"], n)
    check("the same metrics", kept.keys() == summed.keys(), kept.keys() ^ summed.keys())
    for name, value in kept.items():
        check(f"{name}: {value}, summarised {summed.get(name)}",
              name in summed and is_near(name, value, summed[name]))
    slowest = "SELECT traffic, start_at_ps, finish_at_ps, slowdown FROM flow WHERE traffic = 'web' " \
        "AND slowdown IS NOT NULL ORDER BY slowdown DESC, start_at_ps LIMIT 50"
    check("the slowest flows are there, by name",
          rows(tmp / "full", slowest) == rows(tmp / "some1", slowest))
    unfinished = "SELECT from_node_id, number, delivered_bytes FROM flow WHERE finish_at_ps IS NULL " \
        "ORDER BY 1, 2"
    check("and all that did not finish, the stream among them",
          len(rows(tmp / "full", unfinished)) > 1 and
          rows(tmp / "full", unfinished) == rows(tmp / "some1", unfinished))
    told = xoff("explain", tmp / "some1", "-j").stdout
    check("an explanation says that flows were summarised", "were summarised" in told, told)
    return some[0]


def check_served(file, tmp):
    full = values(run_json(file, "-o", tmp / "served"))
    some = values(run_json(file, "-o", tmp / "served-some", "--set", "results=summary"))
    check("all but one are summarised", some["flows.summarised"] == full["flows"] - 1, some)
    check("it waits for flows that were summarised", full["starved"] == some["starved"] == 0, some)


def check_checkpoint(file, whole, tmp):
    part = tmp / "part"
    run = xoff("run", file, "--set", "results=summary", "--no-report", "-o", part, "--threads", 2,
               "--checkpoint-at", "120us")
    check("stops at a checkpoint", run.returncode == 0 and list(part.glob("checkpoint-*")), run)
    run = xoff("resume", part, "--checkpoint-at", "290us")
    check("stops again", run.returncode == 0 and list(part.glob("checkpoint-*")), run)
    run = xoff("resume", part, "--threads", 2)
    check("goes on", run.returncode == 0, run)
    resumed = json.loads((part / "summary.json").read_text())["runs"][0]
    check("a resumed run has the digest of the whole one", resumed["digest"] == whole["digest"])
    check("and its figures", values(resumed) == values(whole))
    rest = "SELECT * FROM flow ORDER BY from_node_id, number"
    check("and its flows", rows(part, rest) == rows(tmp / "some1", rest))


def check_same(name, some, full):
    """Both are lists of figures by name: of runs that summarise, and of the same with all flows."""
    check(f"{name}: as many", len(some) == len(full) > 1, (len(some), len(full)))
    for s, f in zip(some, full):
        check(f"{name}: flows are summarised", s.pop("flows.summarised", 0) > 0)
        wrong = [m for m in f if m not in s or not is_near(m, float(f[m]), float(s[m]))]
        check(f"{name}: the same figures", not wrong and s.keys() == f.keys(), wrong)


def check_many(file, tmp):
    """Several runs of one command."""
    for name, args in [("seeds", ["--seeds", "1..3"]), ("fork", ["--fork-at", "50us"])]:
        runs = {}
        for results in ("summary", "full"):
            folder = tmp / f"{name}-{results}"
            run = xoff("run", file, *args, "--set", f"results={results}", "-o", folder, "--no-report")
            check(f"{name}: runs", run.returncode == 0, run)
            tables = json.loads((folder / "summary.json").read_text())["runs"]
            runs[results] = [values(t) for t in tables]
        check_same(name, runs["summary"], runs["full"])
    done = xoff("report", tmp / "fork-summary", tmp / "fork-full", "-o", tmp / "both.html")
    check("a page of both", done.returncode == 0 and "summarised" in (tmp / "both.html").read_text(), done)


def check_sweep(tmp):
    figures = {}
    for results in ("summary", "full"):
        file, folder = tmp / f"sweep-{results}.yaml", tmp / f"sweep-{results}"
        file.write_text(SWEEP + f"set: {{results: {results}}}\n")
        run = xoff("sweep", file, "-o", folder)
        check("sweeps", run.returncode == 0, run)
        with open(folder / "sweep.csv", newline="") as text:
            figures[results] = [{k: v for k, v in row.items() if k not in ("variant", "state", "digest", "verdict", "why")
                                 and v}
                                for row in csv.DictReader(text)]
    for row in figures["summary"]:
        row["flows.summarised"] = float(row["flows.summarised"])
    check_same("sweep", figures["summary"], figures["full"])


def check_memory(file, tmp):
    full = run_json(file, "-o", tmp / "full")
    some = run_json(file, "-o", tmp / "some", "--set", "results=summary")
    n = values(full)["flows"]
    check("enough flows to see it", n > 100000, n)
    each = (full["performance"]["peak_rss_bytes"] - some["performance"]["peak_rss_bytes"]) / n
    check("a summarised flow takes no memory", each > 200, each)


def check_refused(file, tmp):
    for args, words in [(["results=summery"], "not known; give one of full, summary"),
                        (["results=summary", "--compat", "ns3"], "results: fct.txt of compat"),
                        (["results=summary", "--capture", "h0"], "captures need the flows"),
                        (["results=summary", "--compare", tmp], "compared one by one")]:
        run = xoff("run", file, "-o", tmp / "no", "--set", *args)
        check(f"refuses {args}", run.returncode == 2 and words in run.stderr, run)
        check("and writes nothing", not (tmp / "no").exists())


def main():
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        mixed, tiny = tmp / "mixed.yaml", tmp / "tiny.yaml"
        mixed.write_text(MIXED)
        tiny.write_text(TINY)
        whole = check_figures(mixed, tmp)
        check_checkpoint(mixed, whole, tmp)
        served, forked = tmp / "served.yaml", tmp / "forked.yaml"
        served.write_text(SERVED)
        check_served(served, tmp)
        forked.write_text(FORKED)
        check_many(forked, tmp)
        check_sweep(tmp)
        check_memory(tiny, tmp)
        check_refused(tiny, tmp)
    finish()


main()

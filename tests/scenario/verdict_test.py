#!/usr/bin/python3
"""A lossless loss, a deadlock or a flow that never finishes fails the variant it happens in, unless
an expectation covers it.

    verdict_test.py XOFF
"""
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

XOFF = str(pathlib.Path(sys.argv[1]).resolve())
wrong = []

# Four hosts send 1 MB each to one, through a buffer of 200 KB.
LOSSY = """\
stop: 1ms
topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps, delay: 1us}}
priorities: {3: {lossless: true}}
switch: {buffer: 200KB, pause: none}
traffic: [{kind: incast, from: h1..h4, to: h0, size: 1MB, priority: 3}]
"""
# A pauses in time; B has no pauses, and A's buffer.
PAIR = """\
variants:
  - {name: A, set: {switch.buffer: 2MB, switch.pause: pfc}}
  - {name: B}
"""
# A ring in which every frame goes two hops clockwise.
RING = """\
stop: 2ms
topology: {kind: ring, switches: 4, hosts_per_switch: 1, host_link: {rate: 100Gbps, delay: 1us}}
switch: {buffer: 2MB, mmu: {kind: static, xoff: 20KB, xon: 10KB}, pause: pfc}
priorities: {3: {lossless: true}}
routes: [{on: s0, to: h2, via: [s1]}, {on: s1, to: h3, via: [s2]}, {on: s2, to: h0, via: [s3]},
         {on: s3, to: h1, via: [s0]}]
traffic: [{kind: cbr, pattern: shift, shift: 2, priority: 3}]
deadlock: {after: 500us}
"""
# The adapter of h2 stops for ever: flows to it, and those behind them, never finish.
STUCK = """\
stop: 1ms
drain: 5ms
topology: {kind: star, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}}
switch: {buffer: 4MB, pause: pfc}
priorities: {3: {lossless: true}}
receivers: [{host: h2, rate: [100Gbps, 200us: 0bps], buffer: 500KB}]
traffic: [{kind: poisson, name: all, load: 0.3, sizes: 100KB, priority: 3}]
"""


def check(folder, what, text, status, verdicts):
    """Runs it; `verdicts` by variant, the same in all that the run leaves."""
    file, out = folder / "s.yaml", folder / "out"
    file.write_text(text)
    run = subprocess.run([XOFF, "run", file, "-j", "-o", out], capture_output=True, text=True,
                         timeout=120)
    found = {}
    if run.returncode != 2:
        with sqlite3.connect(out / "run.sqlite") as db:
            found["run.sqlite"] = dict(db.execute("select variant, verdict from run"))
        found["summary.json"] = {r["variant"]: r["verdict"] for r in
                                 json.loads((out / "summary.json").read_text())["runs"]}
        page = (out / "report.html").read_text()
        found["report.html"] = verdicts if all(f'"verdict":"{v}"' in page for v in
                                               verdicts.values()) else page.count('"verdict"')
    if run.returncode != status or any(f != verdicts for f in found.values()):
        wrong.append(what)
        print(f"wrong: {what}: exit {run.returncode}, {found}\n{run.stderr}")
    return run


def main(folder):
    check(folder, "flows that never finish", STUCK, 1, {"": "fail"})
    # The longest of those that finished is not known, since fct.max counts the others, too.
    text = subprocess.run([XOFF, "run", folder / "s.yaml", "--no-report", "-o", folder / "out"],
                          capture_output=True, text=True, timeout=120).stdout
    lines = [line.split() for line in text.splitlines() if re.match(r"  all#0 .* of |    all, by age ", line)]
    if len(lines) != 2 or lines[0][-1] != "-" or lines[1][-1] == "-":
        wrong.append(f"the longest of flows that finished: {lines}\n{text}")
    check(folder, "flows that an expectation says never finish",
          STUCK + "expect: [flows.unfinished > 10]\n", 0, {"": "pass"})
    cut = STUCK.replace("drain: 5ms", "drain: 0s")
    check(folder, "flows that the end of the run cuts off", cut.replace("200us: 0bps", "200us: 90Gbps"),
          0, {"": "pass"})
    streams = cut.replace("kind: poisson, name: all, load: 0.3, sizes: 100KB", "kind: cbr, name: all, from: h0..h1, to: h2")
    for what, text in (("a network that stands, in a run that does not wait",
                        cut.replace("host: h2", "host: h0..h3")), ("streams that starve", streams)):
        run = check(folder, what, text, 1, {"": "fail"})
        if "flows starve" not in run.stderr:
            wrong.append(f"nothing is said of flows that starve: {run.stderr}")
        check(folder, what + ", and an expectation says so", text + "expect: [starved > 0]\n", 0,
              {"": "pass"})
    ring = STUCK.replace("kind: poisson, name: all, load: 0.3, sizes: 100KB",
                         "kind: allreduce, name: all, size: 100KB, transport: dcqcn")
    run = check(folder, "an all-reduce that stands", ring + "expect: [flows.unfinished > 0]\n", 1,
                {"": "fail"})
    if "operations did not finish" not in run.stderr:
        wrong.append(f"nothing is said of an all-reduce that stands: {run.stderr}")
    check(folder, "an all-reduce that an expectation says stands",
          ring + "expect: [operations.unfinished == 4, flows.unfinished > 0]\n", 0, {"": "pass"})
    run = check(folder, "a loss that nothing is said of", LOSSY, 1, {"": "fail"})
    lost = json.loads(run.stdout)["runs"][0]["metrics"]["drops.lossless"]["value"]
    if lost < 1000:
        wrong.append(f"only {lost} lossless frames are lost: the test shows nothing")
    for metric, covers in (("drops", True), ("drops.bytes", True), ("drops.lossless", True),
                           ("drops.buffer", True), ("drops.receiver", False),
                           ("drops.corrupt", False), ("drops.link-down", False)):
        check(folder, f"the loss, where {metric} is spoken of",
              LOSSY + f"expect: [{metric} >= 0]\n", 0 if covers else 1,
              {"": "pass" if covers else "fail"})
    check(folder, "drops.corrupt == 0 holds, and the loss fails", LOSSY +
          "expect: [drops.corrupt == 0]\n", 1, {"": "fail"})

    for expect, status, a, b in (("A.drops == 0", 1, "pass", "fail"),
                                 ("B.drops > 0", 0, "pass", "pass"),
                                 ("drops >= 0", 0, "pass", "pass"),
                                 ("B.drops > A.drops", 0, "pass", "pass"),
                                 ("A.drops == 0, B.drops.corrupt == 0", 1, "pass", "fail"),
                                 ("A.drops == 0, B.drops.lossless > 0", 0, "pass", "pass")):
        check(folder, f"two variants, {expect}", LOSSY + PAIR + f"expect: [{expect}]\n", status,
              {"A": a, "B": b})

    check(folder, "a deadlock that nothing is said of", RING, 1, {"": "fail"})
    check(folder, "a deadlock where it is expected", RING + "expect: [deadlocks > 0]\n", 0,
          {"": "pass"})
    check(folder, "a deadlock and a word on drops", RING + "expect: [drops == 0]\n", 1,
          {"": "fail"})
    check(folder, "a deadlock of a variant nothing is said of", RING +
          "variants: [{name: A, set: {'routes.3.via': [s2]}}, {name: B}]\n"
          "expect: [A.deadlocks == 0]\n", 1, {"A": "pass", "B": "fail"})


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
print(f"{len(wrong)} wrong")
sys.exit(1 if wrong else 0)

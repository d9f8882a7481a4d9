#!/usr/bin/python3
"""Traces of whole runs against themselves and the run's own tables.

    trace_test.py XOFF

What comes in goes out or is dropped, queues are as long as their events say, the trace is the same
for any number of threads, and tracing changes nothing. Lines of the ns-3 RDMA family are compared
in compat_test.py.
"""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish  # noqa: E402

SCENARIOS = pathlib.Path(__file__).resolve().parent.parent.parent / "scenarios"

SMALL = """title: Two to one, with everything that a trace shows
stop: 300us
topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}
switch: {buffer: 200KB, fabric: FABRIC, processing_delay: DELAY, pause: PAUSE, marking: ecn}
transport: dcqcn
priorities: {3: {lossless: LOSSLESS}}
traffic:
  - {kind: incast, from: h0..h2, to: h3, size: 200KB, at: 1us, priority: 3}
"""


def xoff(*args, status=0):
    done = subprocess.run([XOFF, *map(str, args)], capture_output=True, text=True, timeout=240)
    check(f"{args}: exit status {status}", done.returncode == status,
          f"{done.returncode}: {done.stderr}")
    return done


def digest(done):
    return [run["digest"] for run in json.loads(done.stdout)["runs"]]


def read(path):
    """Lists of fields: time, node, port, queue, bytes queued, event, ecn, addresses, the rest."""
    rows = []
    for line in path.read_text().splitlines():
        at, node, place, queued, event, ecn, *rest = line.split()
        port, queue = place.split(":")
        rows.append((int(at), int(node[2:]), int(port), int(queue), int(queued), event, ecn, rest))
    return rows


def size_of(rest):
    return int(rest[-1].split("(")[0])


def consistent(name, rows, n_hosts, is_exact):
    times = [row[0] for row in rows]
    check(f"{name}: in order of time", times == sorted(times))
    queues = collections.Counter()
    counts = collections.Counter()
    for at, node, port, queue, queued, event, ecn, rest in rows:
        is_pause = "P" in rest
        counts[event, is_pause] += 1
        if node < n_hosts or is_pause:
            continue
        key = node, port, queue
        if event == "Enqu":
            check(f"{name}: queue before {at} at {key}", queues[key] == queued, queued)
            queues[key] += size_of(rest)
        elif event == "Dequ":
            queues[key] -= size_of(rest)
            check(f"{name}: queue behind {at} at {key}", queues[key] == queued, queued)
    if is_exact:  # the run ended at rest
        check(f"{name}: nothing is left in a queue", not any(queues.values()))
        check(f"{name}: what is sent comes in", counts["Dequ", False] == counts["Recv", False],
              counts)
    return counts


def tables(folder):
    with sqlite3.connect(folder / "run.sqlite") as db:
        sent, = db.execute("SELECT sum(queue_packets) FROM queue").fetchone()
        pauses, = db.execute("SELECT sum(pause_tx_pkts) FROM port").fetchone()
        drops, = db.execute("SELECT coalesce(sum(frames), 0) FROM drop_place").fetchone()
    return sent, pauses, drops


def small(folder):
    kinds = [(f, d, "pfc", "true") for f in ("shared", "output-queued", "cioq")
             for d in ("0s", "500ns")]
    kinds.append(("shared", "0s", "none", "false"))
    for fabric, delay, pause, lossless in kinds:
        name = f"{fabric} {delay} {pause}"
        file, out = folder / "small.yaml", folder / "trace.txt"
        file.write_text(SMALL.replace("FABRIC", fabric).replace("DELAY", delay)
                        .replace("PAUSE", pause).replace("LOSSLESS", lossless))
        plain = xoff("run", file, "-j", "--no-report", "-o", folder / "plain")
        traced = xoff("run", file, "-j", "--no-report", "-o", folder / "traced", "--trace", out)
        check(f"{name}: tracing changes nothing", digest(plain) == digest(traced))
        counts = consistent(name, read(out), 4, True)
        sent, pauses, drops = tables(folder / "traced")
        check(f"{name}: frames sent", counts["Dequ", False] == sent, (counts, sent))
        check(f"{name}: pause frames", counts["Dequ", True] == pauses, (counts, pauses))
        check(f"{name}: drops", counts["Drop", False] == drops, (counts, drops))
        check(f"{name}: something happens", (drops if pause == "none" else pauses) > 0)


def threads(folder):
    texts = []
    for n in (1, 2, 4):
        out = folder / f"trace-{n}.txt"
        done = xoff("run", SCENARIOS / "quickstart.yaml", "-j", "--no-report", "-o", folder / "q",
                    "--trace", out, "--trace-until", "250us", "--threads", n)
        texts.append((digest(done), out.read_bytes()))
    check("the trace does not depend on threads", texts[0] == texts[1] == texts[2])
    rows = read(folder / "trace-1.txt")
    consistent("quickstart", rows, 8, False)
    check("it ends where it should", 249_000 < rows[-1][0] < 250_000, rows[-1])
    check("it has pauses", any("P" in row[7] for row in rows))


def refused(folder):
    quick, out = SCENARIOS / "quickstart.yaml", folder / "no.txt"
    for args, says in (
            (("run", SCENARIOS / "pause-vs-pfc.yaml", "--trace", out), "--variant"),
            (("run", quick, "--trace", ""), "name of a file"),
            (("run", quick, quick, "--trace", out), ""),
            (("run", quick, "--trace-until", "1us"), "--trace"),
            (("run", quick, "--trace", out, "--trace-until", "0s"), "above 0"),
            (("run", quick, "--trace", out, "--trace-until", "soon"), "500us")):
        done = subprocess.run([XOFF, *map(str, args)], capture_output=True, text=True,
                              cwd=folder, timeout=60)
        check(f"{args} is refused", done.returncode not in (0, 1) and says in done.stderr,
              (done.returncode, done.stderr))
    check("nothing is written then", not out.exists())
    nowhere = folder / "nowhere" / "trace.txt"
    done = xoff("run", quick, "--no-report", "-o", folder / "new", "--trace", nowhere, status=2)
    check("a file that cannot be written is named before the run",
          str(nowhere) in done.stderr and not (folder / "new").exists(), done.stderr)
    done = xoff("run", quick, "--no-report", "-o", folder / "full", "--trace", "/dev/full",
                "--trace-until", "10us", status=1)
    check("a full disk is named, and the results stay", "/dev/full" in done.stderr and
          (folder / "full" / "run.sqlite").exists(), done.stderr)
    out.write_text("old")
    xoff("run", quick, "--no-report", "-o", folder / "q", "--trace", out, "--trace-until", "10us")
    check("an old file is replaced", out.read_text() != "old")
    check("nothing else is left", not [n for n in os.listdir(folder) if n.endswith(".part")])


def main(folder):
    small(folder)
    threads(folder)
    refused(folder)


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
finish()

#!/usr/bin/python3
"""Every allocation and every system call for files fails once: the n-th, for all n; and kills.

    fault_test.py XOFF LIBRARY [CASE...]

LIBRARY (failing_calls.c) is preloaded and lets one call fail. Afterwards the files of the command are all
as before or all new, the status is that of a failure (or success, with new files), a failure names
its cause by the names of final places, and nothing is left aside. Then commands are killed at
random times: their files are old or new, and the next command works and clears up.

Calls of one kind are many: a share of them, evenly spread, fails here, and all of them with
XOFF_FAULTS=all; XOFF_FAULTS=2/8 is the second of eight shares that are all together. XOFF_KILLS:
how often each command is killed (default 12). JOBS: how many cases at a time.
"""
import concurrent.futures
import contextlib
import errno
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish  # noqa: E402

LIBRARY = str(pathlib.Path(sys.argv[2]).resolve())
SHARE = os.environ.get("XOFF_FAULTS", "").replace("all", "1/1")
KILLS = int(os.environ.get("XOFF_KILLS", "12"))
MOST = {"alloc": 50}  # of a kind, unless all; the first and the last are among them
MOST_OTHERS = 8
# Kinds of calls, how each fails, and the words for that of the system or the database.
ENDED = ["not enough memory", "Cannot allocate memory", "out of memory"]
CAUSES = {
    "alloc": (errno.ENOMEM, ENDED), "map": (errno.ENOMEM, ENDED),
    "open": (errno.EMFILE, ["Too many open files", "unable to open"]),
    "write": (errno.ENOSPC, ["No space left", "disk is full", "cannot write to standard output"]),
    "sync": (errno.EIO, ["Input/output error", "disk I/O error"]),
    "rename": (errno.EIO, ["Input/output error"]),
    "remove": (errno.EIO, ["Input/output error", "disk I/O error"]),
    "mkdir": (errno.EACCES, ["Permission denied"]),
    "truncate": (errno.EIO, ["Input/output error", "disk I/O error"]),
    "close": (errno.EIO, ["Input/output error", "disk I/O error"])}
# What differs between two runs of the same.
VARIES = re.compile(rb'"(wall_s|packet_hops_per_s|peak_rss_bytes)": ?[-+.e\d]+')

SCENARIO = """topology: {kind: star, hosts: 3}
stop: 20us
traffic: [{kind: incast, from: h1..h2, to: h0, size: 3KB}]
"""
SWEEP = "sweep: W\nscenario: s.yaml\nvary: {switch.buffer: [1MB, 2MB]}\n"
IMPORT = {
    "topology.txt": "3 1 2\n2\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0\n",
    "flow.txt": "1\n0 1 3 100 3000 2\n",
    "config.txt": "ENABLE_QCN 0\nCC_MODE 0\nHAS_WIN 0\nTOPOLOGY_FILE topology.txt\n"
                  "FLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 2.001\nENABLE_TRACE 0\nBUFFER_SIZE 2\n"}
PAPER = {
    "papers/tiny/s.yaml": SCENARIO,
    "papers/tiny/claims.yaml": """paper: tiny
title: A small paper
source: written for a test
claims:
  - id: lossless
    kind: number
    strength: independent
    quote: Nothing is lost.
    place: "1"
    statement: nothing is lost
    scenario: s.yaml
    seeds: 2
    measure: drops
    unit: frames
    published: 0
    tolerance: 0
    tolerance_why: none is none
    verdict: holds
"""}
# name: (files that are there, commands that make the earlier results, command, files that are left
# by each test of its own). Files of a command change together; those of the last kind one by one.
CASES = {
    "run": ({"s.yaml": SCENARIO}, [["run", "s.yaml", "-o", "x", "--seed", "7"]],
            ["run", "s.yaml", "-o", "x"], False),
    "run-import": (IMPORT, [["run", "config.txt", "-o", "x", "--seed", "7"]],
                   ["run", "config.txt", "--compat", "ns3", "--capture", "n2:0", "-o", "x"], False),
    "run-trace": ({"s.yaml": SCENARIO, "t.txt": "old\n"}, [],
                  ["run", "s.yaml", "--no-report", "-o", "x", "--trace", "t.txt"], True),
    "resume": ({"s.yaml": SCENARIO}, [["run", "s.yaml", "-o", "x", "--checkpoint-at", "500ns"]],
               ["resume", "x", "--checkpoint", "1h"], False),
    "report": ({"s.yaml": SCENARIO, "page.html": "old\n"}, [["run", "s.yaml", "-o", "x"]],
               ["report", "x", "-o", "page.html"], False),
    "reproduce": (PAPER | {"out/reproduce.json": "{}", "out/reproduce.html": "old\n"}, [],
                  ["reproduce", "--jobs", "1", "--cache", "cache", "-o", "out"], False),
    "sweep": ({"s.yaml": SCENARIO, "w.yaml": SWEEP, "out/sweep.json": "{}", "out/sweep.html": "old\n"}, [],
              ["sweep", "w.yaml", "--jobs", "1", "--cache", "cache", "-o", "out"], False),
    "convert": (IMPORT | {"out.yaml": "old\n"}, [],
                ["convert", "hpcc", "config.txt", "-o", "out.yaml"], False),
    "encode": ({"out.pcapng": "old\n"}, [],
               ["encode", "pfc", "--pause", "3:9", "--count", "9", "--pcap", "out.pcapng"], False),
    "conform": ({"e/PFC.1.5.pcapng": "old\n"}, [], ["conform", "-t", "PFC.1.5", "-e", "e"], True),
    "decode": ({}, [["encode", "pfc", "--pause", "3:9", "--pcap", "in.pcapng"]],
               ["decode", "in.pcapng"], False),
    "check": ({"s.yaml": SCENARIO}, [], ["check", "s.yaml"], False)}
KILLED = ("run", "run-import", "report", "reproduce", "sweep")


def shape(path, content):
    """What is compared of a file: its bytes, but for what varies."""
    if path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            names = [n for n, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return (db.execute("PRAGMA quick_check").fetchall(),
                    db.execute("SELECT seed FROM run").fetchall(),
                    [db.execute(f'SELECT count(*) FROM "{n}"').fetchone() for n in sorted(names)])
    return VARIES.sub(b"", content)


class Place:
    """A folder of its own for a case, its earlier files, and the new ones."""

    def __init__(self, name, base):
        given, before, command, self.is_apart = CASES[name]
        self.name, self.folder, self.kept = name, base / "now", base / "kept"
        self.command, self.counts = [XOFF, *command], base / "counts"
        self.callers = base / "callers"
        self.seen = {} # the last content of each file, with its shape
        for file, text in given.items():
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).write_text(text)
        self.folder.mkdir(exist_ok=True)
        for args in before:
            subprocess.run([XOFF, *args], cwd=self.folder, capture_output=True, check=True)
        shutil.copytree(self.folder, self.kept)
        self.old = self.tree()
        self.calls = self.count()
        self.new = self.tree()
        self.prepare()

    def prepare(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder)

    def run(self, fault=None, counts=None):
        extra = {"LD_PRELOAD": LIBRARY, "XOFF_FAULT": fault,
                 "XOFF_FAULT_CALLERS": str(self.callers)} if fault else {}
        if counts:
            extra["XOFF_FAULT_COUNTS"] = str(counts)
        return subprocess.run(self.command, capture_output=True, text=True, cwd=self.folder,
                              timeout=300, check=False, env=os.environ | extra)

    def count(self):
        run = self.run("alloc:0:0", self.counts)
        if run.returncode == 77:
            print("no filter for system calls here: nothing tested")
            sys.exit(77)
        check(f"{self.name}: works", run.returncode == 0, run)
        return {kind: int(n) for kind, n in map(str.split, self.counts.read_text().splitlines())}

    def tree(self):
        """Files of the folder. The cache of `reproduce` is no result."""
        found = {}
        for path in self.folder.rglob("*"):
            name = str(path.relative_to(self.folder))
            if path.is_file() and not name.startswith("cache/") and ".xoff-" not in name:
                content = path.read_bytes()
                if self.seen.get(name, (None,))[0] != content:
                    self.seen[name] = content, shape(path, content)
                found[name] = self.seen[name][1]
        return found

    def aside(self):
        return [p for p in self.folder.rglob("*") if ".xoff-" in p.name]

    def is_new(self):
        """True for new files, False for old ones, None for neither."""
        now = self.tree()
        if now in (self.old, self.new):
            return now == self.new
        # A page that cannot be made of good results is left out, with a message.
        if now == {k: v for k, v in self.new.items() if not k.endswith("report.html")}:
            return True
        # The scoreboard is written when runs failed, and says of each claim that needs them "error".
        if self.name == "reproduce" and set(now) == set(self.new) and \
                all(b'"verdict":"error"' in now[k].replace(b": ", b":") for k in now
                    if k.startswith("out/")):
            return True
        # A sweep, too, with what failed.
        if self.name == "sweep" and set(now) == set(self.new) and b'"error"' in now["out/sweep.json"]:
            return True
        if self.is_apart and set(now) <= {*self.old, *self.new} and set(self.old) <= set(now) and \
                all(v in (self.old.get(k), self.new.get(k)) for k, v in now.items()):
            return False
        return None


def chosen_of(n, most):
    """Which of n calls are to fail."""
    if SHARE:
        first, step = map(int, SHARE.split("/"))
        return range(first, n + 1, step)
    step = max(1, -(-(n - 1) // (most - 1)))
    return sorted({*range(1, n + 1, step), *([n] if n else [])})


def fail_each(place, kind):
    """Lets calls of a kind fail; returns how many, by the command's status."""
    number, words = CAUSES[kind]
    n, told = place.calls[kind], {}
    for nth in chosen_of(n, MOST.get(kind, MOST_OTHERS)):
        run = place.run(f"{kind}:{nth}:{number}")
        where = f"{place.name}: {kind} {nth} of {n}"
        state, aside = place.is_new(), place.aside()
        has_crashed = run.returncode == -signal.SIGSEGV or "Segmentation fault" in run.stderr
        if has_crashed and kind == "alloc" and state is not None and \
                "libfyaml" in place.callers.read_text():
            told["libfyaml"] = told.get("libfyaml", 0) + 1 # it takes memory for granted
            place.prepare()
            continue
        check(f"{where}: whole, old or new", state is not None, run)
        check(f"{where}: status {run.returncode}", run.returncode in (0, 1, 2), run)
        check(f"{where}: success means new", run.returncode or state, run)
        check(f"{where}: a failure names its cause", run.returncode == 0 or
              any(word in run.stderr for word in words), run)
        check(f"{where}: by the names of final places", ".xoff-" not in run.stderr or
              "-lock" in run.stderr, run)
        # What cannot be removed, or listed to remove it, is left to the next command.
        is_left = kind == "remove" or (kind == "open" and run.returncode == 0)
        check(f"{where}: nothing is left aside: {aside}", not aside or is_left, run)
        told[run.returncode] = told.get(run.returncode, 0) + 1
        if state is not False or aside or place.is_apart or place.name in ("reproduce", "sweep"):
            place.prepare()
    return told


def fail_case(name):
    with tempfile.TemporaryDirectory(dir=SCRATCH) as base:
        place = Place(name, pathlib.Path(base))
        told = {kind: fail_each(place, kind) for kind in CAUSES}
        n = sum(sum(t.values()) for t in told.values())
        failed = n - sum(t.get(0, 0) for t in told.values())
        crashed = told["alloc"].get("libfyaml", 0)
        print(f"{name:10}  {sum(place.calls.values()):6} calls, {place.calls['alloc']:6} of them "
              f"allocations; {n} failed, {failed} times the command, too" +
              (f"; {crashed} times libfyaml crashed" if crashed else ""), flush=True)


def kill_case(name):
    with tempfile.TemporaryDirectory(dir=SCRATCH) as base:
        place = Place(name, pathlib.Path(base))
        lasts = 1e9
        for _ in range(5):
            place.prepare()
            began = time.monotonic()
            place.run()
            lasts = min(lasts, time.monotonic() - began)
        place.prepare()
        source, counts, n_aside = random.Random(5), [0, 0], 0
        for i in range(KILLS):
            process = subprocess.Popen(place.command, cwd=place.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(source.uniform(0, 1.2 * lasts))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
            state = place.is_new()
            check(f"{name}: killed, {i}: old or new", state is not None)
            n_aside += bool(place.aside())
            if i % 4 == 3 or state is None: # else what was left is there the next time
                run = place.run()
                check(f"{name}: works after a kill", run.returncode == 0 and place.is_new(), run)
                check(f"{name}: and clears up: {place.aside()}", not place.aside(), run)
            if state is not False or i % 4 == 3:
                place.prepare()
            counts[bool(state)] += 1
            lasts *= 0.9 if state else 1.1 # so that about as many come early as late
        print(f"{name:10}  killed {KILLS} times: {counts[0]} times old, {counts[1]} times new, "
              f"{n_aside} times files aside, which the next command removes", flush=True)


SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None # fsync takes no time there
chosen = sys.argv[3:] or list(CASES)
with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
    tasks = [pool.submit(fail_case, name) for name in chosen]
    tasks += [pool.submit(kill_case, name) for name in chosen if name in KILLED]
    for task in tasks:
        task.result()
finish()

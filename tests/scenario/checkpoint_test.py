#!/usr/bin/python3
"""Checkpoints: a run that is stopped, interrupted or killed and goes on leaves what one that was left
alone does; files that cannot be gone on from are refused and stay as they are.

    checkpoint_test.py XOFF              the quick share
    checkpoint_test.py XOFF --all SEED [NAME...]
                                         all scenarios, or these, each stopped at three random times
"""
import json
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish, tables, xoff

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONG = {"timeout": 900}


def told(folder):
    """What a run has left, without what depends on the machine."""
    files = {p.name: p.read_bytes() for p in folder.iterdir()
             if p.suffix in (".csv", ".pcapng", ".tr")}
    if (folder.parent / "frames.tr").exists():
        files["frames.tr"] = (folder.parent / "frames.tr").read_bytes()
    files |= {f"table {name}": rows for name, rows in tables(folder).items()}
    summary = json.loads((folder / "summary.json").read_text())
    summary.pop("performance", None)
    for run in summary["runs"]:
        run.pop("performance")
    return files | {"summary.json": summary}


def is_same(what, folder, whole):
    is_there = (folder / "summary.json").exists()
    found = told(folder) if is_there else {}
    check(f"{what}: the results are those of a run without interruption", found == whole,
          [name for name in whole if found.get(name) != whole[name]])
    check(f"{what}: the checkpoints are gone", not list(folder.glob("checkpoint-*")))


def stopped_and_resumed(scenario, args, times, tmp):
    """Stops a run at each of the times, and goes on with other numbers of threads each time."""
    name = pathlib.Path(scenario).stem
    (tmp / "frames.tr").unlink(missing_ok=True)
    common = [*args, "--csv", "--no-report"]
    ended = xoff("run", scenario, *common, "-o", tmp / "whole", **LONG)
    check(f"{name}: runs", ended.returncode < 2, ended)
    whole = told(tmp / "whole")
    end = max(run["end_time_s"] for run in whole["summary.json"]["runs"])
    part = tmp / "part"
    threads = [2, 1, 4, 1]
    at = [f"{round(share * end * 1e12)}ps" for share in sorted(times)]
    p = xoff("run", scenario, *common, "-o", part, "--threads", threads[0], "--checkpoint-at", at[0],
             **LONG)
    check(f"{name}: stops at all", list(part.glob("checkpoint-*")), p)
    for k in range(1, 20):
        if not list(part.glob("checkpoint-*")):
            break
        check(f"{name}: stops at {at[k - 1] if k <= len(at) else ''}",
              p.returncode == 0 and "goes on from here" in p.stderr, p)
        more = ["--checkpoint-at", at[k]] if k < len(at) else []
        p = xoff("resume", part, "--threads", threads[k % 4], *more, **LONG)
    check(f"{name}: ends as the whole run did", p.returncode == ended.returncode, p)
    is_same(f"{name} {at}", part, whole)


def variants_of(path, tmp):
    """The options for each variant of a scenario."""
    xoff("run", path, "--no-report", "-o", tmp / "variants", **LONG)
    runs = json.loads((tmp / "variants/summary.json").read_text())["runs"]
    return [["--variant", run["variant"]] for run in runs] if len(runs) > 1 else [[]]


def all_scenarios(seed, names, tmp):
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        draw = random.Random(f"{seed} {path.stem}")
        if path.stem.startswith("sweep-") or names and path.stem not in names:
            continue
        for variant in variants_of(path, tmp): # a stop is one of the first variant to come to it
            stopped_and_resumed(path, variant, [draw.random() for _ in range(3)], tmp)
        print(path.stem, flush=True)


def killed(tmp):
    """A run that is killed after each checkpoint comes to its end all the same."""
    scenario = [ROOT / "scenarios/quickstart.yaml", "--set", "stop=20ms"]
    common = [*scenario, "--csv", "--no-report"]
    xoff("run", *common, "-o", tmp / "whole")
    part, n = tmp / "part", 0
    command = ["run", *common, "-o", part, "--checkpoint", "30ms", "--threads", "2"]
    for _ in range(200):
        seen = {p: p.stat().st_mtime_ns for p in part.glob("checkpoint-*")}
        p = subprocess.Popen([XOFF, *map(str, command)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        while p.poll() is None:
            now = {f: f.stat().st_mtime_ns for f in part.glob("checkpoint-*") if f.exists()}
            if now != seen and now and n < 4:
                p.kill()
                p.wait()
                n += 1
            time.sleep(0.002)
        if p.returncode == 0:
            break
        command = ["resume", part, "--threads", str(1 + n % 2)]
    check("a run is killed and ends in the end", n >= 1 and p.returncode == 0, f"{n} kills")
    is_same("killed", part, told(tmp / "whole"))


def interrupted(tmp):
    scenario = [ROOT / "scenarios/quickstart.yaml", "--set", "stop=200ms"]
    part = tmp / "part"
    p = subprocess.Popen([XOFF, "run", *map(str, scenario), "-o", part, "--no-report",
                          "--no-expect", "--checkpoint", "20ms"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    while p.poll() is None and not list(part.glob("checkpoint-*")):
        time.sleep(0.005)
    busy = xoff("resume", part)
    check("a folder that a run writes to is not resumed",
          busy.returncode == 2 and "is writing results there" in busy.stderr, busy)
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate()
    check("an interrupt leaves a checkpoint, and no results",
          p.returncode == 1 and re.search(r"interrupted at .*: xoff resume .* goes on", err) and
          [f.name for f in part.iterdir()] == ["checkpoint-0.xoff"], err)


# The first variant has so many flows that collecting its results takes a moment.
TWO = """topology: {kind: star, hosts: 16}
stop: 300ns
traffic: [{kind: poisson, load: 0.9, sizes: 1B}]
variants: [{name: a}, {name: b, set: {stop: 1ns}}]
"""


def between(tmp):
    """An interrupt after the end of a variant, which its checkpoint tells, and before the next begins."""
    file, part = tmp / "two.yaml", tmp / "part"
    file.write_text(TWO)
    common = [file, "--csv", "--no-report", "-o"]
    xoff("run", *common, tmp / "whole")
    p = subprocess.Popen([XOFF, "run", *map(str, common), part, "--checkpoint", "1h"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while p.poll() is None and not (part / "checkpoint-0.xoff").exists():
        time.sleep(0.001)
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate()
    check("an interrupt between two variants leaves the first one's state",
          p.returncode == 1 and "interrupted: xoff resume" in err and
          [f.name for f in part.iterdir()] == ["checkpoint-0.xoff"], err)
    done = xoff("resume", part)
    check("and the second is run then", done.returncode == 0, done)
    is_same("between two variants", part, told(tmp / "whole"))


# Samples fill the memory while the network drains for long, at rest from early on.
GROWS = """topology: {kind: star, hosts: 16}
stop: 20us
drain: 4ms
priorities: {0: {lossless: true}}
receivers: [{host: h0, rate: 0bps}]
measure: {every: 100ns, series: [queue, throughput, pause]}
deadlock: {after: 0s}
traffic: [{kind: cbr, from: h1..h15, to: h0, transport: none}]
"""


def short_of_memory(tmp):
    """A run that takes more than it may leaves a checkpoint, from which one that may take more goes on."""
    file, part = tmp / "grows.yaml", tmp / "part"
    file.write_text(GROWS)
    common = [file, "--no-report", "-o"]
    whole = xoff("run", *common, tmp / "whole")
    p = xoff("run", *common, part, "--memory", "80MB", "--checkpoint", "1h")
    check("a run that takes too much memory leaves a checkpoint, and no results", p.returncode == 1 and
          re.search(r"out of memory \(--memory\) at .*: xoff resume .* --memory SIZE goes on", p.stderr) and
          [f.name for f in part.iterdir()] == ["checkpoint-0.xoff"], p)
    p = xoff("resume", part)
    check("with no more memory it ends there again", p.returncode == 1 and
          "out of memory (--memory) at" in p.stderr and (part / "checkpoint-0.xoff").exists(), p)
    p = xoff("resume", part, "--memory", "8GB")
    check("with more it goes on", p.returncode == whole.returncode, p)
    is_same("short of memory", part, told(tmp / "whole"))


def mix64(x):
    """xoff_mix64 of rng.h."""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & (1 << 64) - 1
    x = (x ^ x >> 27) * 0x94d049bb133111eb & (1 << 64) - 1
    return x ^ x >> 31


def digest(octets):
    """digest_bytes of base/digest.h."""
    state = 0
    for at in range(0, len(octets), 8):
        word = int.from_bytes(octets[at:at + 8], "little")
        state = mix64((state ^ word) + 0x9e3779b97f4a7c15 & (1 << 64) - 1)
    return mix64((state ^ len(octets)) + 0x9e3779b97f4a7c15 & (1 << 64) - 1)


def refused(tmp):
    folder = tmp / "part"
    flows = tmp / "flows.txt"
    (tmp / "s.yaml").write_text(
        "topology: {kind: star, hosts: 3}\nstop: 100us\n"
        "traffic: [{kind: flows, file: flows.txt}]\n"
        "variants: [{name: a, set: {}}, {name: b, set: {seed: 2}}]\n")
    flows.write_text("0,h0,h1,1000000\n")
    p = xoff("run", tmp / "s.yaml", "-o", folder, "--checkpoint-at", "50us")
    file = folder / "checkpoint-0.xoff"
    check("a run with a flow file stops", file.exists(), p)
    if not file.exists():
        return
    good = file.read_bytes()

    def resume(what, octets, words):
        file.write_bytes(octets)
        p = xoff("resume", folder)
        check(f"{what} is refused", p.returncode == 2 and words in p.stderr, p)
        check(f"{what}: the file stays as it is", file.read_bytes() == octets)
        check(f"{what}: nothing else is written", len(list(folder.iterdir())) == 1)

    resume("nothing", b"", "is no checkpoint of xoff")
    resume("another file", b"SQLite format 3" + good[15:], "is no checkpoint of xoff")
    resume("another form", good[:16] + struct.pack("<I", 7) + good[20:], "its form is number 7")
    for n in (24, 40, len(good) // 2, len(good) - 1):
        resume(f"{n} bytes", good[:n], "is cut off after")
    resume("a byte too many", good + b"x", "is damaged: 1 bytes too long")
    for at in (len(good) - 1, len(good) // 2, 60):
        resume(f"byte {at} changed", good[:at] + bytes([good[at] ^ 1]) + good[at + 1:], "is damaged")
    size, _ = struct.unpack_from("<QQ", good, 24)
    program = good[40:40 + size]
    for what, other, words in (
            ("another version", b"0.0.1".ljust(32, b"\0") + program[32:],
             "was written by xoff 0.0.1"),
            ("another build", program[:32] + bytes([program[32] ^ 1]) + program[33:],
             "was written by another build")):
        resume(what, good[:24] + struct.pack("<QQ", size, digest(other)) + other + good[40 + size:],
               words)
    file.write_bytes(good)
    p = xoff("resume", folder, "--threads", "0")
    check("what is wrong with resume is told of resume", p.returncode == 2 and "xoff resume --help" in p.stderr, p)
    p = xoff("resume", tmp / "nowhere")
    check("a folder that is not there", p.returncode == 2 and "No such file or directory" in p.stderr, p)
    flows.write_text("0,h0,h1,1000001\n")
    resume("a flow file that has changed", good, "is of another scenario")
    flows.write_text("0,h0,h1,1000000\n")
    (tmp / "s.yaml").write_text("its text is in the checkpoint")
    p = xoff("resume", folder)
    check("a scenario that has changed since is run as it was", p.returncode == 0, p)

    none = tmp / "none"
    none.mkdir()
    for dir in (none, folder):
        p = xoff("resume", dir)
        check("a folder without a checkpoint is refused",
              p.returncode == 2 and "there is no checkpoint" in p.stderr, p)
    for args, words in ((["--checkpoint", "0s"], "give a time above 0"),
                        (["--checkpoint", "5 weeks"], "give a time above 0"),
                        (["--checkpoint-at", "0s"], "give a simulated time above 0"),
                        (["--checkpoint", "1s", "--seeds", "1..3"], "one scenario with one seed")):
        p = xoff("run", ROOT / "scenarios/quickstart.yaml", *args, "-o", none)
        check(f"{args} are refused", p.returncode == 2 and words in p.stderr, p)


# Who is told of a full queue is drawn from the frames of four senders that lie in it.
DRAWN = """topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps}}
stop: 2ms
drain: 0s
switch: {buffer: 2MB, marking: {kind: qcn, sampling: occupancy}}
transport: qcn
priorities: {3: {lossless: true}}
traffic: [{kind: cbr, from: h1..h4, to: h0, priority: 3}]
"""
# Whether a frame is marked is drawn, at an output and at the receive queue of a slow host.
MARKED = """topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps}}
stop: 1ms
drain: 0s
switch: {buffer: 2MB, marking: {kind: ecn, kmin: 5KB, kmax: 2MB}}
transport: dcqcn
priorities: {3: {lossless: true}}
receivers: [{host: h4, rate: 2Gbps, marking: {kind: ecn, kmin: 5KB, kmax: 2MB, at: enqueue}}]
traffic: [{kind: cbr, from: h1..h3, to: h0, priority: 3}, {kind: cbr, from: h3, to: h4, priority: 3}]
"""
# Frames at the inputs have the pool from early on, and so a pipeline waits for itself. That is found
# 500 us later.
STOPPED = """topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}
stop: 20us
drain: 5ms
switch:
  buffer: 120KB
  processing_delay: 100ns
  fabric: {kind: pipeline, full: stop}
  mmu: {kind: two-sided, dedicated: 0B, pool: 1518B}
priorities: {3: {lossless: true}}
transport: none
deadlock: {after: 500us}
traffic: [{kind: all-to-all, size: 20KB, priority: 3}]
"""
FORKED = """topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2}
stop: 400us
switch: {marking: {kind: ecn, kmin: 100KB, kmax: 400KB}}
transport: dcqcn
traffic: [{kind: poisson, load: 0.8, sizes: websearch}, {kind: incast, to: h0, size: 200KB}]
variants: [%s]
"""


def runs_of(file, folder, *args):
    p = xoff("run", file, "-o", folder, "--no-report", "--no-expect", *args)
    check(f"{args} run", p.returncode == 0, p)
    return {run["variant"]: run for run in json.loads((folder / "summary.json").read_text())["runs"]}


def shipped_fork(tmp):
    """The shipped fork: one past, what the file expects of each variant, and one digest of the first."""
    file = ROOT / "scenarios/fork-ecn.yaml"
    p = xoff("run", file, "-j", "-o", tmp / "fork", "--no-report", "--fork-at", "10ms")
    check("the shipped fork is as it expects", p.returncode == 0, p)
    runs = json.loads(p.stdout)["runs"]
    check("variants have one past", len({r["metrics"]["curve.before.mean"]["value"] for r in runs}) == 1 and
          len({r["digest"] for r in runs}) == 3, p)


def too_late(tmp):
    """A time after the end stops nothing, and is told."""
    p = xoff("run", ROOT / "scenarios/quickstart.yaml", "-o", tmp / "late", "--no-report", "--checkpoint-at", "1s")
    check("a checkpoint after the end is told of", p.returncode == 0 and
          "has come to its end before or at --checkpoint-at" in p.stderr and
          not list((tmp / "late").glob("checkpoint-*")), p)


def forked(tmp):
    """Variants that go on from one state, and what they may differ in."""
    file, early = tmp / "s.yaml", ["--fork-at", "1ps"]
    file.write_text(FORKED % "{name: a}, {name: same}, "
                    "{name: low, set: {switch.marking.kmin: 5KB, switch.marking.kmax: 9KB}}, "
                    "{name: mmu, set: {switch.mmu.alpha: 1/64}}, "
                    "{name: rp, set: {transport.ai: 400Mbps}}")
    plain, fork = runs_of(file, tmp / "plain"), runs_of(file, tmp / "fork", "--fork-at", "200us")
    digests = {name: run["digest"] for name, run in fork.items()}
    check("the first variant, and one that is equal, are as ever",
          digests["a"] == digests["same"] == plain["a"]["digest"])
    check("parameters hold from the fork on", digests["a"] not in (digests["low"], digests["rp"]),
          digests)
    check("the past is that of the first one", digests["low"] != plain["low"]["digest"], digests)
    check("nothing is wrong with any", all(run["verdict"] == "pass" for run in fork.values()))
    again = runs_of(file, tmp / "fork", "--fork-at", "200us", "--threads", "2")
    check("threads do not change that",
          digests == {name: run["digest"] for name, run in again.items()})
    at_once = runs_of(file, tmp / "fork", *early)
    check("from the start on a fork changes nothing, where states do not hold a parameter",
          all(at_once[v]["digest"] == plain[v]["digest"] for v in ("a", "same", "low", "mmu")))
    for setting, key in (("seed: 2", "seed"), ("switch.buffer: 1MB", "switch.buffer"),
                         ("switch.mmu: dsh", "switch.mmu.kind"), ("stop: 1ms", "stop"),
                         ("traffic.0.load: 0.1", "traffic.0.load"), ("transport: hpcc", "kind"),
                         ("topology.hosts_per_leaf: 3", "topology.hosts_per_leaf"),
                         ("switch.marking.at: enqueue", "switch.marking.at"),
                         ("switch.mmu.reserved: 2KiB", "switch.mmu.reserved")):
        file.write_text(FORKED % ("{name: a}, {name: b, set: {%s}}" % setting))
        p = xoff("run", file, "-o", tmp / "none", *early)
        check(f"{setting} is refused by name", p.returncode == 2 and "in variant b" in p.stderr and
              key in p.stderr and not (tmp / "none").exists(), p)
    file.write_text(FORKED % ("{name: a, set: {switch.path: flowlet}}, "
                              "{name: b, set: {switch.path: {kind: flowlet, entries: 64}}}"))
    p = xoff("run", file, "-o", tmp / "none", *early)
    check("a state of another size is refused", p.returncode == 2 and "another shape" in p.stderr and
          "the choice of paths" in p.stderr and not (tmp / "none").exists(), p)
    p = xoff("run", file, "-o", tmp / "none", *early, "--variant", "a")
    check("one variant is no fork", p.returncode == 2 and "has no variants" in p.stderr, p)
    file.write_text(FORKED % "{name: a}, {name: b}")
    for args, words in ((["--fork-at", "0s"], "give a simulated time above 0"),
                        (["--fork-at", "1s"], "comes to its end before or at this time"),
                        (["--fork-at", "400us", "--set", "drain=0s"], "comes to its end before or at this time"),
                        ([*early, "--checkpoint", "1s"], "goes neither with --seeds nor with"),
                        ([*early, "--seeds", "1..2"], "goes neither with --seeds nor with")):
        p = xoff("run", file, "-o", tmp / "none", *args)
        check(f"{args} are refused", p.returncode == 2 and words in p.stderr, p)


# Two outputs hold back one input, with frames of two priorities; frames that wait for their
# processing, or cross in several cells.
OUTPUTS = """topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 5us}}
stop: 2ms
switch: {buffer: 3MB, FABRIC, pause: {kind: pfc, trigger: egress, xoff: 60KB, xon: 30KB}}
priorities: {3: {lossless: true}, 4: {lossless: true}}
transport: datagram
traffic:
  - {kind: incast, from: [h0, h3], to: h1, size: 400KB, at: 0s, priority: 3}
  - {kind: incast, from: h3..h5, to: h2, size: 400KB, at: 30us, priority: 3}
  - {kind: incast, from: h3..h5, to: h2, size: 100KB, at: 30us, priority: 4}
"""
OUTPUT_FABRICS = {"outputs": "fabric: output-queued, processing_delay: 2us",
                  "crossbar": "fabric: {kind: cioq, cell: 256B}",
                  "ahead": "fabric: {kind: cioq, cell: 256B, grants: ahead}"}

# Together they have every part of an image that a run can do without for a while, at the times at
# which it matters: as shares of the run. An argument may have the folder of the test in it.
SHIPPED = (
    ("quickstart", [0.2, 0.6], "--set stop=500us --capture leaf0:0"),
    ("quickstart", [0.3, 0.7], "--set stop=500us --set results=summary"),
    ("quickstart", [0.3, 0.7], "--set stop=200us --trace {tmp}/frames.tr --wire-check=all"),
    ("quickstart", [0.3, 0.7], "--set stop=500us --set compat=ns3"),
    ("dcb-interop", [0.25, 0.6], "--variant exact"),
    ("incast-pfc", [0.3, 0.6], "--set compat=ns3"),
    ("dcbx-push-down", [0.3, 0.6], "--variant later --capture core:0"),
    ("pause-vs-pfc", [0.3, 0.6], "--variant PAUSE"),
    ("link-failure", [0.3, 0.55, 0.7],
     "--variant slow --set reroute_after=200us --set links.0.at=200us --set links.1.at=300us"),
    ("ring-deadlock", [0.4, 0.6], "--variant clockwise"),
    ("load-balancers", [0.45, 0.6], "--variant scatter --set stop=5ms"),
    ("load-balancers", [0.3, 0.6], "--variant flowlet --set stop=2ms"),
    ("hotspot", [0.5, 0.6], "--variant occupancy-input --set stop=40ms"),
    ("cioq", [0.3, 0.6], "--variant voq --set stop=500us"),
    ("cioq", [0.3, 0.6], "--variant longest --set stop=500us"),
    ("cioq-hogging", [0.2, 0.6], "--variant longest"),
    ("pipeline", [0.1, 0.2], "--variant stop"),
    ("pipeline", [0.1, 0.9], "--variant drop --set switch.fabric.packet_rate=300k"),
    ("pipeline", [0.1, 0.2], "--variant shared"),
    ("slow-receiver", [0.3, 0.6], "--variant PFC"),
    ("rate-control-race", [0.1, 0.5], "--variant fecn --set stop=20ms"),
    ("rate-control-race", [0.1, 0.5], "--variant e2cm --set stop=20ms"),
    ("fecn", [0.2, 0.5], "--variant four --set stop=10ms"),
    ("receive-queue", [0.4, 0.7], "--variant occupancy --set stop=20ms"),
    ("shared-limit", [0.3, 0.7], "--variant full --set stop=2ms"),
    ("collectives", [0.3, 0.7], "--variant ets"),
    ("tpfc", [0.3, 0.7], "--variant random"),
)

with tempfile.TemporaryDirectory() as name:
    tmp = pathlib.Path(name)
    if len(sys.argv) > 2:
        all_scenarios(sys.argv[3], sys.argv[4:], tmp)
        finish()
    for scenario, times, args in SHIPPED:
        stopped_and_resumed(ROOT / f"scenarios/{scenario}.yaml",
                            [arg.format(tmp=tmp) for arg in args.split()], times, tmp)
    texts = [("drawn", DRAWN, [0.4, 0.7]), ("marked", MARKED, [0.4, 0.7]),
             ("stopped", STOPPED, [0.04, 0.8])]
    for name, fabric in OUTPUT_FABRICS.items():
        texts.append((name, OUTPUTS.replace("FABRIC", fabric), [0.1, 0.25, 0.5]))
    for name, text, times in texts:
        (tmp / f"{name}.yaml").write_text(text)
        stopped_and_resumed(tmp / f"{name}.yaml", [], times, tmp)
    for part in (killed, interrupted, between, short_of_memory, refused, too_late, forked, shipped_fork):
        (tmp / part.__name__).mkdir()
        part(tmp / part.__name__)
    finish()

#!/usr/bin/python3
"""xoff run under mpirun: every table is that of one process, for any number of ranks and threads,
however the network is cut; an error or a dead rank ends all with one message and writes nothing.

    ranks_test.py XOFF [MODULE | --share | --all]

MODULE is xoff_mpi.so of MPICH, with which a share of the tests is run again. --all runs every shipped
scenario with 1 to 4 ranks of 1 and 2 threads, the shortest first. MPIRUN in the environment is the mpirun to use.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish, mpi_environment, tables, xoff

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MPIRUN = os.environ.get("MPIRUN", "mpirun")
ENV = mpi_environment()

# Short cables, two lines per frame, TCP with losses, pauses, a failing link, closed loops,
# deadlock checks, samples.
SCENARIO = """title: Ranks
topology:
  kind: leaf-spine
  leaves: 3
  spines: 2
  hosts_per_leaf: 2
  host_link: {rate: 100Gbps, delay: 300ns, error: 1e-4}
  fabric_link: {rate: 100Gbps, delay: 500ns}
stop: 80us
drain: 150us
reroute_after: 10us
switch: {buffer: 300KB, pause: pfc}
transport: dctcp
priorities: {3: {lossless: true}}
links:
  - {link: leaf0-spine0, at: 30us, fail: true}
  - {link: leaf0-spine0, at: 50us, repair: true}
traffic:
  - {kind: poisson, name: web, load: 0.5, sizes: 20KB, priority: 0}
  - {kind: incast, name: burst, from: h1..h5, to: h0, size: 60KB, at: 10us, every: 20us, count: 3,
     priority: 3, transport: datagram}
  - {kind: allreduce, name: reduce, hosts: all, size: 30KB, priority: 3}
measure: {every: 10us, series: [queue, throughput, pause]}
deadlock: {after: 10us}
"""

# LLDP frames pass three switches, which follow the last frame, over links of which one fails; what is
# administered changes twice, and data with two lines per frame is lost without PFC.
DCBX = """title: DCBX over ranks
topology:
  kind: leaf-spine
  leaves: 2
  spines: 1
  hosts_per_leaf: 2
  host_link: {rate: 10Gbps, delay: 500ns}
  fabric_link: {rate: 10Gbps, delay: 700ns}
stop: 300us
drain: 100us
reroute_after: 10us
switch: {buffer: 300KB, mmu: sih, pause: pfc, scheduler: ets, marking: int}
priorities: {0: {weight: 50}, 3: {lossless: true, weight: 50}, 4: {lossless: true}}
transport: hpcc
lldp: {second: 2us, forward: all}
links:
  - {link: leaf0-spine0, at: 100us, fail: true}
  - {link: leaf0-spine0, at: 130us, repair: true}
dcbx:
  - {at: h0, pfc: [4]}
  - {at: h0, pfc: [3, 4], from: 60us}
  - {at: h0, pfc: [3], from: 200us}
  - {at: h1..h3, pfc: [], willing: all, follows_last: true}
  - {at: leaf1, pfc: [3]}
traffic:
  - {kind: incast, name: burst, from: h1..h3, to: h0, size: 60KB, at: 10us, every: 40us, count: 5,
     priority: 3, transport: datagram}
  - {kind: incast, name: more, from: h2..h3, to: h1, size: 30KB, at: 20us, every: 50us, count: 4,
     priority: 4}
measure: {every: 10us, series: [queue, throughput, pause]}
deadlock: {after: 10us}
"""


# What switches tell the sources of short messages comes when these have been received whole and
# summarised, on both sides of a long link.
LATE = """title: Late
results: summary
topology:
  kind: dumbbell
  left: 4
  right: 4
  host_link: {rate: 10Gbps, delay: 1us}
  fabric_link: {rate: 40Gbps, delay: 50us}
stop: 1ms
drain: 500us
switch: {buffer: 4MB, marking: {kind: qcn, qeq: 5KB, base: 5KB, jitter: 0}}
transport: {kind: qcn, reliability: datagram}
priorities: {3: {lossless: true}}
traffic:
  - {kind: incast, from: h0..h3, to: h4, size: 20KB, every: 100us, count: 8, priority: 3}
  - {kind: incast, from: h4..h7, to: h0, size: 20KB, every: 100us, count: 8, priority: 3}
"""


def mpirun(n, *args, starter=MPIRUN, **more):
    usual = {"capture_output": True, "text": True, "timeout": 300, "check": False, "env": ENV}
    return subprocess.run([starter, "-n", str(n), XOFF, *map(str, args)], **usual | more)


def compare(what, file, n, tmp, wanted, *args):
    out = tmp / "ranks"
    run = mpirun(n, "run", file, "-o", out, "--no-report", *args)
    check(f"{what}: same exit status", run.returncode == wanted[0], run)
    if not (out / "run.sqlite").exists():
        check(f"{what}: has results", False, run)
        return
    found = tables(out)
    for name, rows in wanted[1].items():
        check(f"{what}: table {name} is that of one process", found.get(name) == rows, run)
    shutil.rmtree(out)


def alone(file, tmp, *args):
    out = tmp / "alone"
    run = xoff("run", file, "-o", out, "--no-report", *args)
    check(f"{file}: runs in one process", (out / "run.sqlite").exists(), run)
    found = tables(out)
    shutil.rmtree(out)
    return run.returncode, found


def layers(file, *args):
    """The distance of each node from the first, hosts first: links lead from layer to layer."""
    run = xoff("topology", file, "--json", *args)
    net = json.loads(run.stdout)
    names = [n["name"] for n in net["nodes"]]
    peers = {n: set() for n in names}
    for link in net["links"]:
        a, b = link["endpoints"]
        peers[a].add(b)
        peers[b].add(a)
    depth, queue = {names[0]: 0}, [names[0]]
    for name in queue:
        for peer in sorted(peers[name] - set(depth)):
            depth[peer] = depth[name] + 1
            queue.append(peer)
    return [depth[n] for n in names]


def test_equal(tmp, file, share=False):
    wanted = alone(file, tmp)
    for n, threads in ((2, 1), (3, 2), (4, 1))[:2 if share else 3]:
        compare(f"{n} ranks, {threads} threads", file, n, tmp, wanted, "--threads", threads)
    if share:
        return
    n_nodes = 11
    parts = tmp / "parts"
    for what, n, numbers in (("every node a rank of its own or so", 3, [i % 3 for i in
                                                                        range(n_nodes)]),
                             ("nothing at the last rank", 2, [0] * n_nodes),
                             ("nothing at the first rank", 2, [1] * n_nodes)):
        parts.write_text(" ".join(map(str, numbers)))
        compare(what, file, n, tmp, wanted, "--parts", parts)
    parts.write_text(" ".join(str(d % 2) for d in layers(file)))
    compare("a cut through every link", file, 2, tmp, wanted, "--parts", parts)


def test_summary(tmp, file):
    """Flows are summarised where they start, though their receivers are elsewhere."""
    summary = "--set", "results=summary"
    wanted = alone(file, tmp, *summary)
    check("summary: flows are summarised", len(wanted[1]["flow_bin"]) > 10 and
          len(wanted[1]["flow"]) < len(alone(file, tmp)[1]["flow"]), wanted[1].keys())
    parts = tmp / "parts"
    parts.write_text(" ".join(str(i % 3) for i in range(11)))
    compare("summary: 2 ranks, 2 threads", file, 2, tmp, wanted, *summary, "--threads", 2)
    compare("summary: 3 ranks anyhow", file, 3, tmp, wanted, *summary, "--parts", parts)
    late = tmp / "late.yaml"
    late.write_text(LATE)
    compare("summary: late notifications", late, 2, tmp, alone(late, tmp))


def find_rank(file):
    """The process of rank 1 that runs the file; None: there is none."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "environ").read_bytes().split(b"\0")
            line = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if (b"OMPI_COMM_WORLD_RANK=1" in words or b"PMI_RANK=1" in words) and \
                str(file).encode() in line:
            return int(entry.name)
    return None


def test_checkpoint(tmp, file):
    """A run over ranks stops, or is killed, and goes on over as many."""
    out = tmp / "stopped"
    variants = tmp / "variants.yaml"
    variants.write_text(file.read_text() + "variants: [{name: a}, {name: b, set: {seed: 2}}]\n")
    dcbx = tmp / "dcbx.yaml"
    dcbx.write_text(DCBX)
    for what, scenario, n, n_nodes, more in (
            ("first half", file, 2, 11, ()), ("all nodes cut", file, 3, 11, ("--threads", 2)),
            ("two variants", variants, 2, 11, ()), ("LLDP frames on cut links", dcbx, 2, 7, ()),
            ("summary", file, 2, 11, ("--set", "results=summary")),
            ("ns3", file, 2, 11, ("--set", "compat=ns3"))):
        wanted = alone(scenario, tmp, *more)
        at = 15 if what == "first half" else 61
        cut = ()
        if "cut" in what:
            (tmp / "parts").write_text(" ".join(str(i % n) for i in range(n_nodes)))
            cut = ("--parts", tmp / "parts")
        run = mpirun(n, "run", scenario, "-o", out, "--no-report", "--checkpoint-at", f"{at}us",
                     *more, *cut)
        check(f"{what}: stops", run.returncode == 0, run)
        check(f"{what}: says how to go on", f"mpirun -n {n} xoff resume {out}" in run.stderr, run)
        check(f"{what}: has a checkpoint", [f.name for f in out.iterdir()] ==
              ["checkpoint-0.xoff"], run)
        for other in (1, n + 1) if cut else ():
            run = mpirun(other, "resume", out)
            check(f"{what}: {other} ranks refused", run.returncode == 2 and
                  run.stderr.count(f"over {n} ranks: resume it by mpirun -n {n}") == 1, run)
        if cut:  # ranks run the nodes that they had, whatever they are told now
            (tmp / "parts").write_text(" ".join(str((i + 1) % n) for i in range(n_nodes)))
        run = mpirun(n, "resume", out, "--threads", 2)
        check(f"{what}: same exit status", run.returncode == wanted[0], run)
        found = tables(out) if (out / "run.sqlite").exists() else {}
        check(f"{what}: all tables are those of one process", found == wanted[1], run)
        check(f"{what}: the checkpoint is gone", not list(out.glob("checkpoint*")), run)
        shutil.rmtree(out)
    run = xoff("run", file, "-o", out, "--no-report", "--checkpoint-at", "15us")
    run = mpirun(2, "resume", out)
    check("checkpoint of one process: refused", run.returncode == 2 and
          run.stderr.count("of one process: resume it without mpirun") == 1, run)
    shutil.rmtree(out)


def test_resume_refused(tmp):
    """What has changed since is told, not what follows from it; a rank that fails alone says so."""
    out = tmp / "stopped"
    flows = tmp / "flows.txt"
    flows.write_text("0,h0,h1,1000000\n")
    file = tmp / "listed.yaml"
    file.write_text("topology: {kind: star, hosts: 3}\nstop: 100us\n"
                    "traffic: [{kind: flows, file: flows.txt}]\n")
    run = mpirun(2, "run", file, "-o", out, "--no-report", "--checkpoint-at", "50us")
    check("a list of flows: stops", (out / "checkpoint-0.xoff").exists(), run)
    run = subprocess.run([MPIRUN, "-n", "1", XOFF, "resume", out, ":", "-n", "1", XOFF, "resume",
                          tmp / "none"], capture_output=True, text=True, timeout=60, check=False, env=ENV)
    check("one rank sees no folder: told", run.returncode == 2 and
          run.stderr.count("No such file or directory") == 1, run)
    flows.write_text("0,h0,h1,1000001\n")
    run = mpirun(2, "resume", out)
    check("a list that has changed: told once", run.returncode == 2 and
          run.stderr.count("is of another scenario: a file that it names") == 1, run)
    flows.write_text("0,h0,h1,1000000\n")
    run = mpirun(2, "resume", out)
    check("the list as it was: goes on", run.returncode == 0 and (out / "run.sqlite").exists(), run)
    shutil.rmtree(out)
    # With another number of nodes the parts of the checkpoint do not fit the network, either.
    (tmp / "config.txt").write_text("TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 2.01\n"
                                    "CC_MODE 0\n")
    (tmp / "flow.txt").write_text("1\n0 1 3 100 1000000 2.000001\n")
    for n in (3, 4):
        (tmp / "topology.txt").write_text(f"{n + 1} 1 {n}\n{n}\n" +
                                          "".join(f"{h} {n} 100Gbps 0.001ms 0\n" for h in range(n)))
        args = ("resume", out) if n > 3 else ("run", tmp / "config.txt", "-o", out, "--no-report",
                                              "--checkpoint-at", "30us")
        run = mpirun(2, *args)
    check("a topology that has changed: parts are not blamed", run.returncode == 2 and
          "is of another scenario" in run.stderr and "--parts" not in run.stderr, run)
    shutil.rmtree(out)


def test_killed_with_checkpoint(tmp, file):
    out = tmp / "killed"
    long = tmp / "minutes.yaml"
    long.write_text(file.read_text().replace("stop: 80us", "stop: 8ms")
                    .replace("size: 60KB, at: 10us, every: 20us, count: 3",
                             "size: 60KB, at: 10us, every: 200us, count: 30"))
    wanted = alone(long, tmp)
    process = subprocess.Popen([MPIRUN, "-n", "2", XOFF, "run", str(long), "-o", str(out),
                                "--no-report", "--checkpoint", "20ms"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
    kept = out / "checkpoint-0.xoff"
    for _ in range(6000):
        time.sleep(0.01)
        if kept.exists() or process.poll() is not None:
            break
    victim = find_rank(long)
    check("killed with a checkpoint: a rank was found", victim)
    if victim:
        os.kill(victim, signal.SIGKILL)
    told = "".join(process.communicate(timeout=60))
    check("killed with a checkpoint: mpirun fails", process.returncode != 0, told)
    check("killed with a checkpoint: it stays", kept.exists(), told)
    check("killed with a checkpoint: no results", not (out / "run.sqlite").exists(), told)
    run = mpirun(2, "resume", out)
    check("killed with a checkpoint: goes on", run.returncode == wanted[0], run)
    found = tables(out) if (out / "run.sqlite").exists() else {}
    check("killed with a checkpoint: tables of one process", found == wanted[1], run)
    shutil.rmtree(out, ignore_errors=True)


def test_dcbx(tmp):
    """What LLDP frames say comes with them to other ranks, and goes on from there."""
    file = tmp / "dcbx.yaml"
    file.write_text(DCBX)
    parts = tmp / "parts"
    names = ("dcb-interop", "dcbx-baseline", "dcbx-forwarding", "dcbx-push-down",
             "dcbx-unwilling", "fcoe-lossy-link")
    cases = [(ROOT / "scenarios" / f"{name}.yaml", ()) for name in names]
    # With two spines LLDP frames go around, and come back to the rank they are from.
    for path, args in [*cases, (file, ()), (file, ("--set", "topology.spines=2"))]:
        what = " ".join([path.stem, *args[1:]])
        wanted = alone(path, tmp, *args)
        check(f"{what}: frames are understood",
              any(row[1] == "dcbx.received" and row[2] > 50 for row in wanted[1]["metric"]))
        depth = layers(path, *args)
        parts.write_text(" ".join(str(d % 2) for d in depth))
        compare(f"{what}, a cut through every link", path, 2, tmp, wanted, *args, "--parts", parts)
        if path != file:  # --all runs them in other ways
            continue
        compare(f"{what}, 2 ranks, 2 threads", path, 2, tmp, wanted, *args, "--threads", 2)
        parts.write_text(" ".join(str(i % 4) for i in range(len(depth))))
        compare(f"{what}, 4 ranks anyhow", path, 4, tmp, wanted, *args, "--parts", parts,
                "--threads", 2)


def test_one_sequence(tmp, file):
    """compat: ns3 is not divided: the first rank runs all nodes, and says so."""
    ns3 = "--set", "compat=ns3"
    words = "the first rank runs all nodes and the others have nothing to do"
    wanted = alone(file, tmp, *ns3)
    check("ns3: packets and pauses", wanted[1]["run"][0][4] > 1000 and wanted[1]["pause"])
    for n, threads in ((2, 1), (3, 2)):
        compare(f"ns3: {n} ranks, {threads} threads", file, n, tmp, wanted, *ns3, "--threads",
                threads)
    variants = tmp / "variants.yaml"
    variants.write_text(file.read_text() + "variants:\n  - {name: a}\n  - {name: b}\n")
    for what, path, args, n_said in (("ns3", file, ns3, 1), ("ns3 twice", variants, ns3, 1),
                                     ("another network", file, (), 0)):
        run = mpirun(2, "run", path, "-o", tmp / "said", "--no-report", *args)
        check(f"{what}: said {n_said} times", run.stderr.count(words) == n_said, run)
        shutil.rmtree(tmp / "said", ignore_errors=True)
    run = xoff("run", file, "-o", tmp / "said", "--no-report", *ns3)
    check("ns3 in one process: nothing is said", words not in run.stderr, run)
    shutil.rmtree(tmp / "said", ignore_errors=True)
    parts = tmp / "parts"
    parts.write_text(" ".join(["0"] * 11))
    run = mpirun(2, "run", file, "-o", tmp / "said", "--parts", parts, *ns3)
    check("ns3: parts are refused", run.returncode == 2 and
          run.stderr.count("--parts: not with compat: ns3") == 1, run)


def test_refused(tmp, file):
    out = tmp / "refused"
    small = tmp / "small.yaml"
    small.write_text("topology: {kind: star, hosts: 2}\nstop: 10us\n"
                     "traffic:\n  - {kind: cbr, from: h0, to: h1, rate: 1Gbps}\n")
    wrong_parts = tmp / "wrong"
    wrong_parts.write_text("0 1 2")
    for what, n, args, words in (
            ("more ranks than nodes", 4, ("run", small), "more ranks than nodes"),
            ("a capture", 2, ("run", file, "--capture", "h0"), "--capture"),
            ("a trace", 2, ("run", file, "--trace", tmp / "t"), "--trace"),
            ("parts of another network", 2, ("run", file, "--parts", wrong_parts), "11 numbers"),
            ("a missing file", 2, ("run", tmp / "none.yaml"), "none.yaml"),
            ("another verb", 2, ("check", file), "mpirun is for xoff run, resume, sweep and bench")):
        run = mpirun(n, *args, *(("-o", out) if args[0] == "run" else ()))
        check(f"{what}: refused", run.returncode != 0, run)
        check(f"{what}: said once", run.stderr.count(words) == 1, run)
        check(f"{what}: no place in the scenario", f"{file.name}:" not in run.stderr, run)
        check(f"{what}: nothing is written", not out.exists(), run)
    run = xoff("run", file, "--parts", wrong_parts)
    check("parts of one process: refused", run.returncode == 2 and "--parts" in run.stderr, run)


def test_seeds(tmp, file):
    """Ranks run the first seed together and share the others: figures are those of one process."""
    wanted = xoff("run", file, "--seeds", "1..4", "-o", tmp / "seeds", "--no-report",
                  env=ENV | {"XDG_CACHE_HOME": str(tmp / "cache1")})
    run = mpirun(3, "run", file, "--seeds", "1..4", "-o", tmp / "shared", "--no-report",
                 env=ENV | {"XDG_CACHE_HOME": str(tmp / "cache3")})
    check("seeds: status of one process", run.returncode == wanted.returncode < 2, run)
    check("seeds: tables of one process", tables(tmp / "shared") == tables(tmp / "seeds") and
          tables(tmp / "shared")["spread"], run)
    check("seeds: one cache for all", len(list((tmp / "cache3/xoff").iterdir())) == 3, run)
    run = mpirun(2, "run", file, "--seeds", "1..2", "--set", "traffic.0.load=7", "-o", tmp / "no")
    check("seeds: bad input is told once", run.returncode == 2 and run.stderr.count("error: ") == 1, run)


def test_without_module(tmp, file):
    """A build without MPI that mpirun starts must not run the same scenario several times."""
    binary = tmp / "xoff"
    shutil.copy(XOFF, binary)
    run = subprocess.run([binary, "run", str(file), "-o", str(tmp / "out")], capture_output=True,
                         text=True, check=False, timeout=60,
                         env=os.environ | {"PMI_SIZE": "2", "PMI_RANK": "0"})
    check("no module: refused", run.returncode == 2 and "has no MPI" in run.stderr, run)
    check("no module: nothing is written", not (tmp / "out").exists())


def test_plain(tmp, file):
    """mpirun gives the first rank a terminal, and sends what is written to it into this pipe."""
    for n in (1, 2):
        run = mpirun(n, "run", file, "-o", tmp / "plain", "--no-report")
        check(f"{n} ranks: output has a digest", "digest" in run.stdout, run)
        check(f"{n} ranks: output is plain", "\033" not in run.stdout + run.stderr, run)
        shutil.rmtree(tmp / "plain", ignore_errors=True)


def test_mpich(tmp, file, module):
    """Another mpirun than that of the MPI xoff was built with is refused; with its own it works."""
    run = mpirun(2, "run", file, "-o", tmp / "other", starter="mpirun.mpich")
    check("mpirun of another MPI: refused", run.returncode == 2, run)
    check("mpirun of another MPI: said once", run.stderr.count("built with, Open MPI") == 1, run)
    check("mpirun of another MPI: nothing is written", not (tmp / "other").exists(), run)
    folder = tmp / "mpich"
    folder.mkdir()
    shutil.copy(XOFF, folder / "xoff")
    shutil.copy(module, folder / "xoff_mpi.so")
    run = subprocess.run([sys.executable, __file__, folder / "xoff", "--share"],
                         env=os.environ | {"MPIRUN": "mpirun.mpich"}, check=False,
                         capture_output=True, text=True, timeout=200)
    check("MPICH: a share of these tests", run.returncode == 0, run)


def test_killed(tmp, file):
    out = tmp / "killed"
    long = tmp / "long.yaml"
    # Ranks share what they know of deadlocks so often that most kills hit that.
    long.write_text(file.read_text().replace("stop: 80us", "stop: 10s")
                    .replace("deadlock: {after: 10us}", "deadlock: {after: 1us}"))
    process = subprocess.Popen([MPIRUN, "-n", "2", XOFF, "run", str(long), "-o", str(out)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
    victim = None
    for _ in range(200):
        time.sleep(0.1)
        victim = find_rank(long)
        if victim and list(tmp.glob("*killed*")):
            break
    time.sleep(0.5)
    check("killed: a rank was found", victim)
    if victim:
        os.kill(victim, signal.SIGKILL)
    try:
        told = "".join(process.communicate(timeout=60))
    except subprocess.TimeoutExpired:
        process.kill()
        told = "".join(process.communicate())
        check("killed: the others end", False, told)
    check("killed: mpirun fails", process.returncode != 0, told)
    # mpirun of MPICH kills all ranks at once: a folder without results may stay, to be used again.
    check("killed: nothing is written", not list(out.glob("[!.]*")), told)
    if "mpich" not in MPIRUN:
        check("killed: no folder is left", not out.exists(), told)
    again = xoff("run", file, "-o", out, "--no-report")
    check("killed: another run can write there", (out / "run.sqlite").exists(), again)
    shutil.rmtree(out)
    check("killed: it is said", "nothing is written" in told or "signal 9" in told, told)


def test_memory(tmp):
    """Each rank has its own part of the hosts and switches in memory."""
    file = tmp / "large.yaml"
    file.write_text("topology: {kind: leaf-spine, leaves: 128, spines: 32, hosts_per_leaf: 32}\n"
                    "stop: 1us\ndrain: 1us\npriorities: {3: {lossless: true}}\n"
                    "traffic:\n  - {kind: cbr, from: h0, to: h1, rate: 1Gbps}\n")
    script = ("import os, resource, subprocess, sys\n"
              "subprocess.run(sys.argv[2:], check=False, stdout=subprocess.DEVNULL)\n"
              "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
              "open(sys.argv[1] + '.' + str(os.getpid()), 'w').write(str(peak))\n")

    def peaks(n):
        for old in tmp.glob("peak.*"):
            old.unlink()
        subprocess.run([MPIRUN, "-n", str(n), sys.executable, "-c", script, str(tmp / "peak"),
                        XOFF, "run", str(file), "-o", str(tmp / "large"), "--no-report"],
                       env=ENV, timeout=120, check=False, capture_output=True)
        return [int(p.read_text()) for p in tmp.glob("peak.*")]

    one, four = peaks(1), peaks(4)
    print(f"peak memory in KB: one process {one}, four ranks {four}")
    check("memory: as many peaks as ranks", [len(one), len(four)] == [1, 4])
    # The first rank has all results; the others show what a part takes, and MPI beside it.
    check("memory: a part takes less", sorted(four)[2] < 0.75 * one[0], f"{one} {four}")


def test_bench(tmp):
    """The networks of the bench have the same digests over ranks, and its figures are there."""
    run = mpirun(2, "bench", "-r", 1, "-j", timeout=3600)
    ranks = (json.loads(run.stdout)["ranks"] if run.returncode == 0 else
             {"networks": [], "round_us": {}})
    check("bench: three networks", len(ranks["networks"]) == 3, run)
    for network in ranks["networks"]:
        file = tmp / "row.yaml"
        file.write_text(xoff("bench", "--print", network["name"]).stdout)
        digest = alone(file, tmp)[1]["run"][0][0]
        check(f"bench: digest of {network['name']}", digest == network["digest"], f"{digest}")
    check("bench: a round takes time", min(ranks["round_us"].values(), default=0) > 0, run)


def seconds(file, tmp):
    began = time.monotonic()
    alone(file, tmp)
    return time.monotonic() - began


def test_all(tmp):
    files = [f for f in (ROOT / "scenarios").glob("*.yaml") if not f.name.startswith("sweep-")]
    for file in sorted(files, key=lambda file: seconds(file, tmp)):
        wanted = alone(file, tmp)
        for n in (1, 2, 3, 4):
            for threads in (1, 2):
                run = mpirun(n, "run", file, "-o", tmp / "try", "--no-report", "--threads",
                             threads, timeout=3600)
                if "more ranks than" in run.stderr:
                    print(f"{file.name}: {n} ranks refused")
                    continue
                found = tables(tmp / "try") if (tmp / "try").exists() else {}
                check(f"{file.name}: {n} ranks of {threads} threads", found == wanted[1], run)
                shutil.rmtree(tmp / "try", ignore_errors=True)
        print(file.name, flush=True)


def main():
    if not shutil.which(MPIRUN) or not (pathlib.Path(XOFF).parent / "xoff_mpi.so").exists():
        print("without MPI: skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        file = tmp / "ranks.yaml"
        file.write_text(SCENARIO)
        if "--all" in sys.argv:
            test_bench(tmp)
            test_all(tmp)
        elif "--share" in sys.argv:
            test_equal(tmp, file, share=True)
            test_killed(tmp, file)
        else:
            test_equal(tmp, file)
            test_summary(tmp, file)
            test_dcbx(tmp)
            test_one_sequence(tmp, file)
            test_refused(tmp, file)
            test_seeds(tmp, file)
            test_checkpoint(tmp, file)
            test_resume_refused(tmp)
            test_killed_with_checkpoint(tmp, file)
            test_without_module(tmp, file)
            test_plain(tmp, file)
            test_killed(tmp, file)
            test_memory(tmp)
            for module in sys.argv[2:]:
                test_mpich(tmp, file, module)
    finish()


main()

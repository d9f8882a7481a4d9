#!/usr/bin/python3
"""Memory: estimated before a run, kept while it runs, and a clear end when there is none.

    memory_test.py XOFF
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish, xoff  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# 64 senders at 90 Gb/s of payload start 11.25 G flows of a byte each second: 7.2 M in 10 us.
FLOWS = """topology: {kind: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 16}
stop: 10us
traffic: [{kind: poisson, load: 0.9, sizes: 1B}]
"""
# Never at rest: pauses hold a lossless class up for ever behind a receiver that stands still.
DRAINS = """topology: {kind: star, hosts: 32}
stop: 20us
drain: 1000s
priorities: {0: {lossless: true}}
receivers: [{host: h0, rate: 0bps}]
measure: {every: 20ns, series: [queue, throughput, pause]}
traffic: [{kind: cbr, from: h1..h31, to: h0, transport: none}]
expect: [drops == 0]
"""


def check_trial(folder):
    """--estimate: figures of a trial, a status that says whether the run fits, and no results."""
    file = folder / "trial.yaml"
    file.write_text(FLOWS)
    shorter = ("--set", "stop=200ns")
    run = xoff("run", file, "--estimate", *shorter, cwd=folder)
    check("a trial", run.returncode == 0 and "64 hosts, 8 switches, 160 ports" in run.stdout and
          "it fits" in run.stdout, run)
    run = xoff("run", file, "--estimate", "-j", *shorter, cwd=folder)
    figures = json.loads(run.stdout)[0]
    check("its figures", figures["fits"] and figures["trial_simulated_s"] >= 2e-7 and
          figures["network_bytes"] < figures["bytes"] < 1e9 and figures["packet_hops_per_s"] > 0, run)
    # As much as the network has, and nothing for what the run adds.
    run = xoff("run", file, "--estimate", *shorter, "--memory", f"{figures['network_bytes']}B",
               cwd=folder)
    check("too much", run.returncode == 2 and
          ("it does not fit" in run.stdout or "the run would take" in run.stderr), run)
    check("nothing is written", [p.name for p in folder.iterdir()] == ["trial.yaml"], run)
    file.unlink()


def check_forecast(folder):
    """What --estimate says of memory is what the run takes, within a factor of 1.5: of
    flows that are kept, of flows that are summarised, and of samples. Sanitizers have memory of their own."""
    file = folder / "forecast.yaml"
    file.write_text(FLOWS)
    sampled = ("--set", "measure.every=50ns", "--set", "measure.series=[queue, throughput]")
    for name, more in (("flows", ()), ("summarised", ("--set", "results=summary")), ("samples", sampled)):
        args = ("run", file, "-j", "--set", "stop=100us", "--set", "traffic.0.sizes=1KB",
                "--set", "traffic.0.load=0.3", *more)
        run = xoff(*args, "--estimate")
        said = json.loads(run.stdout)[0]["bytes"]
        process = subprocess.Popen([XOFF, *map(str, args), "--no-report", "-o", folder / "forecast"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took = 1024 * os.wait4(process.pid, 0)[2].ru_maxrss
        process.returncode = 0
        check(f"{name}: {said:.0f} B were said, {took} B were taken",
              is_sanitized() or took / 1.5 < said < took * 1.5)
        shutil.rmtree(folder / "forecast")
    file.unlink()


# As in `xoff bench`, with a half of the time.
WEB = """topology: {kind: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 16, host_link: {rate: 100Gbps, delay: 1us},
           fabric_link: {rate: 400Gbps, delay: 1us}}
stop: 2ms
drain: 0s
switch: {buffer: 16MB, pause: pfc, marking: ecn}
transport: none
priorities: {3: {lossless: true}}
traffic: [{kind: poisson, load: 0.6, sizes: websearch, priority: 3}]
"""


def check_same_rule(folder):
    """What --estimate says is needed is what --memory lets a run have; with less it is ended, or not begun."""
    file = folder / "web.yaml"
    for name, text, more in (("frames that wait", WEB, ()),
                             ("flows", FLOWS, ("--set", "stop=100us", "--set", "traffic.0.sizes=1KB"))):
        file.write_text(text)
        said = json.loads(xoff("run", file, "--estimate", "-j", *more).stdout)[0]
        for part, is_enough in ((1.1, True), (0.75, False)):
            limit = int(part * said["limit_bytes"])
            again = xoff("run", file, "--estimate", *more, "--memory", f"{limit}B")
            run = xoff("run", file, "--no-report", "-o", folder / "same", *more, "--memory", f"{limit}B")
            ended = "out of memory" in run.stdout + run.stderr or "the run would take" in run.stderr
            check(f"{name}: {part} of what is needed, estimate", is_sanitized() or
                  (again.returncode == 0) == is_enough, again)
            check(f"{name}: {part} of what is needed, run", is_sanitized() or ended != is_enough, run)
    shutil.rmtree(folder / "same")
    file.unlink()


def check_size():
    """Memory and time of networks of 1024 and 4096 hosts that are only built: nothing grows by
    accident. They take 4.7 KB per port and a tenth of a second; sanitizers take more of both."""
    slow = is_sanitized()
    for kind, ports in (("{kind: fat-tree, k: 16}", 6144),
                        ("{kind: leaf-spine, leaves: 128, spines: 8, hosts_per_leaf: 32}", 10240)):
        text = f"topology: {kind}\nstop: 1ns\nswitch: {{buffer: 64MB}}\n" \
               "priorities: {3: {lossless: true}}\n" \
               "traffic: [{kind: poisson, load: 0.3, sizes: websearch, priority: 3}]\n"
        run = xoff("run", "-", "--estimate", "-j", input=text)
        figures = json.loads(run.stdout)[0] if run.returncode == 0 else {}
        check(f"{kind}: memory per port", figures and figures["ports"] == ports and
              (slow or figures["network_bytes"] / ports < 6000), run)
        check(f"{kind}: time to build", figures and (slow or figures["built_s"] < 10), run)


def check_estimate(folder):
    file = folder / "flows.yaml"
    file.write_text(FLOWS)
    for memory, status in (("1GB", 2), ("4GB", 0)):
        run = xoff("check", file, "--memory", memory)
        check(f"flows by their number, {memory}", run.returncode == status and
              ("traffic: the run would take about 1." in run.stderr) == (status == 2) and
              ("fewer flows than 7.2e+06" in run.stderr) == (status == 2), run)
    run = xoff("check", file, "--memory", "1MB")
    check("the network itself", run.returncode == 2 and
          "topology: the run would take" in run.stderr, run)
    run = xoff("check", file, "--memory", "4")
    check("a size without unit", run.returncode == 2 and "such as 4GB" in run.stderr, run)

    file = folder / "drains.yaml"
    file.write_text(DRAINS)
    run = xoff("check", file, "--memory", "1GB")
    check("samples while the run drains", run.returncode == 0 and
          "warning: measure.every: samples take up to" in run.stderr, run)
    run = xoff("check", file, "--memory", "1GB", "--set", "drain=100us")
    check("of a short drain", run.returncode == 0 and not run.stderr, run)
    run = xoff("check", file, "--memory", "12MB")
    check("samples before", run.returncode == 2 and
          "measure.every: the run would take" in run.stderr, run)


def check_budget(folder):
    file, out = folder / "drains.yaml", folder / "drained"
    limit = 100
    with open(folder / "told", "w+", encoding="utf-8") as told:
        process = subprocess.Popen([XOFF, "run", file, "-o", out, "--no-report", "--memory",
                                    f"{limit}MB"],
                                   stdout=told, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        text = told.read()
    check("a run that takes too much ends", process.returncode == 1 and
          "out of memory (--memory): the results up to here are written" in text and
          "INTERRUPTED" in text)
    summary = json.loads((out / "summary.json").read_text())["runs"][0]
    check("and is marked", summary["interrupted"] and summary["verdict"] != "pass" and
          20e-6 < summary["end_time_s"] < 1)
    peak = usage.ru_maxrss * 1024
    print(f"peak {peak / 1e6:.0f} MB of {limit} MB")
    if not is_sanitized():
        check(f"within its limit, {peak / 1e6} MB", peak < limit * 1e6)


def is_sanitized():
    return b"__asan_init" in pathlib.Path(XOFF).read_bytes() or \
        b"__tsan_init" in pathlib.Path(XOFF).read_bytes()


def check_endless(folder):
    os.mkfifo(folder / "pipe")
    for name in ("/dev/zero", folder / "pipe"):
        file = folder / "endless.yaml"
        file.write_text(f"topology: {{kind: star, hosts: 4}}\n"
                        f"traffic: [{{kind: flows, file: {name}}}]\n")
        run = xoff("check", file)
        check(f"flows of {name}", run.returncode == 2 and f"{name}: error: " in run.stderr and
              "a file of at most 2 GiB" in run.stderr, run)


def check_limit(folder):
    """Address space that is too small, at many sizes: never a crash, and the cause is told."""
    if is_sanitized():
        print("address space is not limited: the sanitizer needs it")
        return
    out, ends = folder / "limited", set()
    for mega in (24, 28, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 4096):
        def set_limit(size=mega << 20):
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        run = xoff("run", ROOT / "scenarios/incast-pfc.yaml", "-o", out, preexec_fn=set_limit)
        ends.add(run.returncode)
        check(f"{mega} MiB of addresses", run.returncode == 0 or
              (run.returncode == 1 and "memory" in run.stderr), run)
    check(f"enough and not enough: {ends}", ends == {0, 1})
    check("and nothing is left", sorted(p.name for p in out.iterdir()) ==
          ["metrics.csv", "report.html", "run.sqlite", "summary.json"])


with tempfile.TemporaryDirectory() as name:
    base = pathlib.Path(name)
    check_trial(base)
    check_size()
    check_forecast(base)
    check_same_rule(base)
    check_estimate(base)
    check_budget(base)
    check_endless(base)
    check_limit(base)
finish()

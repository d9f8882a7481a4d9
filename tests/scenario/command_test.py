#!/usr/bin/python3
"""The command as a user meets it: exit codes, places named, nothing half-written, Ctrl-C.

    command_test.py XOFF
"""
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish, xoff  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


SHORT = """\
stop: 100us
topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 2,
           host_link: {rate: 100Gbps, delay: 2us}, fabric_link: {rate: 100Gbps, delay: 2us}}
priorities: {3: {lossless: true}}
port: {response: 60, max_frame: 1500B}
switch:
  buffer: 4MB
  mmu: {kind: sih, headroom: 57679B, allow_loss: true}
traffic: [{kind: incast, from: h1..h3, to: h0, size: 10KB, priority: 3}]
variants:
  - {name: one, set: {seed: 1}}
  - {name: same, set: {seed: 2}}
  - {name: less, set: {switch.mmu.headroom: 10001B}}
  - {name: enough, set: {switch.mmu.headroom: 57680B}}
"""


def check_warnings(folder):
    """Headroom below the worst case, where loss is allowed: accepted, and said once."""
    file = folder / "short.yaml"
    file.write_text(SHORT)
    words = ("may lose frames of lossless priorities: after XOFF is decided up to 57680B can "
             "arrive at leaf0 and 4 more")
    places = [f"{file}:8:8: warning: switch.mmu.headroom: {n}B: {words}" for n in (57679, 10001)]
    texts = [place.replace(" warning:", "") for place in places]
    run = xoff("check", file)
    check("check warns of each variant's headroom once",
          run.returncode == 0 and run.stderr.splitlines() == places, run)
    run = xoff("check", "-j", file)
    check("and has the warnings in its JSON", json.loads(run.stdout)["warnings"] == texts, run)
    run = xoff("run", file, "-j", "-o", folder / "short")
    check("so does run, variant by variant", run.returncode == 0 and
          run.stderr.splitlines() == places and
          [r["warnings"] for r in json.loads(run.stdout)["runs"]] ==
          [texts[:1], texts[:1], texts[1:], []], run)
    run = xoff("check", file, "--set", "switch.mmu.allow_loss=false")
    check("without allow_loss it is refused", run.returncode == 2 and
          "error: switch.mmu.headroom" in run.stderr and "57680B" in run.stderr, run)
    run = xoff("topology", file)
    check("topology shows what the buffer has beside the worst case",
          "worst case" in run.stdout and run.stdout.count("57679B     57680B") == 18, run)
    run = xoff("topology", file, "--set", "switch.mmu.headroom=auto")
    check("and one figure where they are the same",
          "worst case" not in run.stdout and run.stdout.count("57680B") == 18, run)
    run = xoff("run", file, "--print-config")
    check("as does the printed configuration", "57680B; the buffer has 57679B\n" in run.stdout, run)


def check_stops(folder):
    """The summary tells how often and how long pipelines were stopped, if they were."""
    file = ROOT / "scenarios/pipeline.yaml"
    out = ["-o", folder / "stops", "--no-report", "--set", "stop=2ms"]
    run = xoff("run", file, *out, "--variant", "drop")
    check("a pipeline that never stops", "pauses (XOFF)" in run.stdout and
          "stops of pipelines" not in run.stdout, run)
    run = xoff("run", file, *out, "--variant", "stop")
    metrics = json.loads((folder / "stops" / "summary.json").read_text())["runs"][0]["metrics"]
    stops = int(metrics["stops"]["value"])
    check("one that does", stops > 0 and
          re.search(rf"\n  stops of pipelines +{stops}\n    time, all switches +[0-9.]+ [mu]s\n",
                    run.stdout), run)


def check_cut_off(folder):
    """A host whose link fails for good is named; one whose link is repaired in time is not."""
    file = folder / "cut-off.yaml"
    file.write_text("topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps}}\n"
                    "stop: 20us\ndrain: 1ms\n"
                    "traffic: [{kind: incast, from: h1..h2, to: h0, size: 200KB}]\n"
                    "links: [{link: h2-s0, at: 7us, fail: true}, {link: h2-s0, at: 30us, repair: true}]\n")
    words = "cut off h2: its link failed at 7 us and was not repaired; flows to or from it cannot finish"
    out = ["-o", folder / "cut-off", "--no-report"]
    run = xoff("run", file, *out)
    check("a link that is repaired", run.returncode == 0 and "cut off" not in run.stdout, run)
    run = xoff("run", file, *out, "--set", "links.1.at=2ms")
    check("and too late", words in run.stdout, run)


def check_variant(folder):
    """One variant of many, with what is expected of it and of all."""
    file = folder / "variants.yaml"
    file.write_text("topology: {kind: star, hosts: 2}\nstop: 10us\n"
                    "variants: [{name: a}, {name: a-b}, {name: c}]\n"
                    "expect: [drops == 0, a.drops == 0, a-b.drops == c.drops, c.flows == 7]\n")
    run = xoff("run", file, "-o", folder / "v", "--no-report", "--variant", "a")
    check("one variant is run, with its expectations", run.returncode == 0 and
          run.stdout.count("holds: ") == 2 and "holds: a.drops == 0" in run.stdout, run)
    run = xoff("run", file, "-j", "-o", folder / "v", "--no-report", "--variant", "c",
               "--variant", "a-b")
    check("two, in the order of the file", run.returncode == 1 and
          [r["variant"] for r in json.loads(run.stdout)["runs"]] == ["a-b", "c"], run)
    run = xoff("run", file, "--variant", "b")
    check("an unknown one is refused with those that are there", run.returncode == 2 and
          "there are a, a-b, c" in run.stderr, run)
    file.write_text("topology: {kind: star, hosts: 2}\nstop: 10us\n"
                    "variants: [{name: 0}, {name: drops}]\n"
                    "expect: [flows < 0.5, drops.lossless == 0, 0.drops == 0]\n")
    run = xoff("run", file, "-o", folder / "v", "--no-report", "--variant", "drops")
    check("neither a number nor a metric is the name of a variant", run.returncode == 0 and
          run.stdout.count("holds: ") == 2, run)


def check_manual():
    """Every option of every verb is in the manual page, and completed."""
    manual = (ROOT / "docs/xoff.1").read_text().replace("\\-", "-")
    source = f"source {ROOT}/tools/completion/xoff.bash; "
    verbs = re.findall(r"^  ([a-z]+) ", xoff("--help").stdout, re.M)
    check("the verbs are known", {"run", "headroom"} <= set(verbs))
    for verb in verbs:
        check(f"the manual page lacks {verb}", f".B {verb}\n" in manual)
        options = set(re.findall(r"--[a-z][a-z-]*", xoff(verb, "--help").stdout)) - {"--usage"}
        missing = sorted(o for o in options if not re.search(o + r"\b(?!-)", manual))
        check(f"the manual page lacks {missing} of {verb}", not missing)
        words = f"COMP_WORDS=({XOFF} {verb} --); COMP_CWORD=2; _xoff; echo ${{COMPREPLY[*]}}"
        run = subprocess.run(["bash", "-c", source + words], capture_output=True, text=True)
        check(f"completion of {verb}", options <= set(run.stdout.split()), run)
    words = f"COMP_WORDS=({XOFF} reproduce q); COMP_CWORD=2; _xoff; echo ${{COMPREPLY[*]}}"
    run = subprocess.run(["bash", "-c", source + words], capture_output=True, text=True, cwd=ROOT)
    check("completion of papers", run.stdout == "qcn-occupancy-sampling\n", run)


def check_kinds():
    """What each switch got, where switches differ."""
    leaf = ROOT / "scenarios/two-kinds-of-leaf.yaml"
    run = xoff("topology", leaf)
    words = run.stdout.split()
    check("topology has a block for each kind of switch", all(
        [name, switch, "buffer", buffer, "fabric", "shared", "mmu", mmu, "pause", "pfc", "scheduler",
         "ets", "marking", "none", "path", "ecmp"] == words[(at := words.index(name)):at + 16]
        for name, switch, buffer, mmu in (("switch", "leaf1", "16MB", "sih"),
                                          ("switches.0", "spine0", "32MB", "sih"),
                                          ("switches.1", "leaf0", "16MB", "dsh"))), run)
    nodes = {n["name"]: n for n in json.loads(xoff("topology", "-j", leaf).stdout)["nodes"]}
    check("and in JSON the settings of each", [(nodes[n]["settings"], nodes[n]["buffer_bytes"],
          nodes[n]["mmu"]) for n in ("leaf0", "leaf1", "spine0")] ==
          [(2, 16000000, "dsh"), (0, 16000000, "sih"), (1, 32000000, "sih")] and
          "mmu" not in nodes["h0"], run)
    run = xoff("run", "--print-config", leaf)
    check("the printed configuration says which switches an entry is for",
          "# switch: leaf1\n# switches.0: spine0\n# switches.1: leaf0\n" in run.stdout, run)


def check_headroom():
    """By hand, 100 Gb/s over 200 m: W = 1538 + 72 + 1526 + 25000 + 25216 = 34 * 1538 + 1060; the
    profile is a line that sonic-buildimage ships for Spectrum."""
    run = xoff("headroom", "--rate", "100G", "--length", "200m")
    check("headroom with its parts", run.returncode == 0 and all(
        re.search(f"{what} .* {n}$", run.stdout, re.M) for what, n in
        (("decided", 1518), ("our port", 1538), ("pause frame", 72), ("there and back", 25000),
         ("394 quanta", 25216), ("the peer has", 1526), ("less gaps", -700),
         ("worst case", 54170))), run)
    run = xoff("headroom", "--rate", "100Gbps", "--length", "300m", "--sonic")
    check("SONiC's line", "100000   300m    123904   19456 104448    0\n" in run.stdout, run)
    # 1024 + 2 (9100 + 37878.8 + 819.2 + 3891.2) = 104402.4
    check("and its rounding", "# of xoff 45 B come from rounding up" in run.stdout, run)
    run = xoff("headroom", "--rate", "100G", "--length", "200m", "-j")
    check("headroom in JSON", json.loads(run.stdout)["headroom_bytes"] == 54170, run)
    for args in ((), ("--rate", "0G"), ("--rate", "100G", "--length", "5"), ("--rate", "1G", "file"),
                 ("--rate", "1G", "--mtu", "63"), ("--rate", "1G", "--response", "65536")):
        run = xoff("headroom", *args)
        check(f"headroom {args} is refused", run.returncode == 2 and run.stderr, run)


def check_summary(folder):
    """The point of a scenario is in the table: by entry of the traffic, against the first variant;
    no line is wider than the terminal, whatever the number of variants."""
    dsh = ROOT / "scenarios" / "dsh.yaml"
    run = xoff("run", dsh, "-o", folder / "dsh")
    messages = run.stdout.split("\n  messages\n")[1].split("\n  slowdown")[0]
    check("messages of dsh.yaml by variant, with the change of their p99",
          re.search(r"SIH +1221 .* 64\.51 us", messages) and
          re.search(r"DSH +1221 .* 6\.755 us .* -90 %", messages), run)
    for columns in (80, 140):
        for name in ("dsh", "pause-policies", "slow-receiver", "quickstart"):
            run = xoff("run", ROOT / "scenarios" / f"{name}.yaml", "-o", folder / "narrow",
                       env={**os.environ, "COLUMNS": str(columns)})
            tables = run.stdout.split("holds:")[0]
            check(f"{name} fits {columns} columns",
                  max(map(len, tables.splitlines())) <= columns, run)
    narrow = {**os.environ, "COLUMNS": "80"}
    for args in (("topology", ROOT / "scenarios/pipeline.yaml"),
                 ("topology", ROOT / "scenarios/gateway.yaml"), ("conform", "--list"),
                 ("reproduce", "capfc", "--quick", "--papers", ROOT / "papers", "-o", folder / "r")):
        run = xoff(*args, env=narrow)
        check(f"{args} fits 80 columns", max(map(len, run.stdout.splitlines())) <= 80, run)
    run = xoff("run", ROOT / "scenarios/pipeline.yaml", "-o", folder / "narrow", env=narrow)
    check("so do the places of losses, and digests", all(
        len(line) <= 80 for line in run.stdout.splitlines()
        if not line.startswith(("holds:", "results:", "report:"))), run)
    run = xoff("run", ROOT / "scenarios/quickstart.yaml", "-o", folder / "narrow",
               env={**os.environ, "COLUMNS": "140"})
    check("one run on a wide terminal has what its figures mean",
          "decisions to pause" in run.stdout, run)
    run = xoff("run", ROOT / "scenarios" / "slow-receiver.yaml", "-o", folder / "narrow")
    check("a loss names variant and peer", "none: drop h2 port 0 (to s0), priority 3" in
          run.stdout, run)


def check_threads(folder):
    """Threads beyond the cores are warned about, and beyond four for each core not used."""
    core = min(os.sched_getaffinity(0))
    for asked, used, words in ((1, 1, ""), (2, 2, "there is 1 core;"), (4, 4, "are no faster\n"),
                               (5, 4, ", 4 are used")):
        run = xoff("run", ROOT / "scenarios/incast-pfc.yaml", "--threads", asked, "-j", "--no-report",
                   "-o", folder / "threads", preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        check(f"{asked} threads on one core", words in run.stderr and
              ("warning: --threads" in run.stderr) == (asked > 1) and
              json.loads(run.stdout)["performance"]["threads"] == used, run)
    run = xoff("run", ROOT / "scenarios/incast-pfc.yaml", "--no-report", "-o", folder / "threads")
    check("the time to write is told", re.search(r"^written in [0-9.]+ s$", run.stdout, re.M), run)


def main(folder):
    incast = ROOT / "scenarios/incast-pfc.yaml"
    quick = ROOT / "scenarios/quickstart.yaml"

    run = xoff("run", incast, "-o", folder / "a")
    check("incast with PFC passes", run.returncode == 0, run)
    run = xoff("run", incast, "--set", "switch.pause=none", "-o", folder / "b")
    check("incast without PFC fails and names the place",
          run.returncode == 1 and "s0 port" in run.stdout and "lossless" in run.stdout, run)
    check("and says that expectations do not know of --set", "--no-expect" in run.stdout, run)
    light = ("--set", "traffic.0.load=0.01", "--set", "traffic.1.size=1KB")
    run = xoff("run", quick, *light, "-o", folder / "b")
    check("expectations fail after a --set", run.returncode == 1 and "failed: expected" in
          run.stdout, run)
    run = xoff("run", quick, *light, "--no-expect", "-o", folder / "b")
    check("and are left out on request", run.returncode == 0 and "holds" not in run.stdout and
          "expected" not in run.stdout, run)
    run = xoff("run", incast, "--set", "switch.pause=none", "-j", "-o", folder / "b")
    check("its JSON is valid", run.returncode == 1 and json.loads(run.stdout)["runs"], run)

    one = xoff("run", quick, "--threads", "1", "-j", "-o", folder / "c")
    two = xoff("run", quick, "--threads", "2", "-j", "-o", folder / "d")
    check("one digest on one and two threads",
          json.loads(one.stdout)["runs"][0]["digest"] == json.loads(two.stdout)["runs"][0]["digest"])
    other = xoff("run", quick, "--seed", "2", "-j", "-o", folder / "d")
    check("another seed, another digest",
          json.loads(one.stdout)["runs"][0]["digest"] !=
          json.loads(other.stdout)["runs"][0]["digest"])
    with sqlite3.connect(folder / "c" / "run.sqlite") as db:
        flows = db.execute("select count(*) from flow").fetchone()[0]
    check("run.sqlite has the flows",
          flows == json.loads(one.stdout)["runs"][0]["metrics"]["flows"]["value"])

    again = folder / "again"
    xoff("run", incast, "-o", again, "--csv", "--capture", "h0")
    check("a capture and tables are left", (again / "capture-h0-0.pcapng").exists() and
          (again / "flows.csv").exists())
    xoff("run", incast, "-o", again, "--set", "switch.pause=none", "--no-report")
    check("nothing of an earlier run is left beside another's", sorted(
        p.name for p in again.iterdir()) == ["metrics.csv", "run.sqlite", "summary.json"])
    run = xoff("report", again, "-o", again / "run.sqlite")
    check("a page does not take the place of results", run.returncode == 2 and
          "file of results" in run.stderr, run)
    with sqlite3.connect(again / "run.sqlite") as db:
        verdict, findings = db.execute(
            "select verdict, (select group_concat(text) from finding) from run").fetchone()
        check("an expectation that does not hold is a finding, and the verdict says so",
              verdict == "fail" and "expected drops" in findings)

    run = xoff("run", quick, "--print-config")
    (folder / "config.yaml").write_text(run.stdout)
    again = xoff("run", folder / "config.yaml", "--print-config")
    check("the printed configuration reads back to itself",
          run.returncode == 0 and run.stdout == again.stdout, again)
    full = xoff("run", folder / "config.yaml", "-j", "-o", folder / "e")
    check("and runs to the same digest", full.returncode == 0 and
          json.loads(full.stdout)["runs"][0]["digest"] ==
          json.loads(one.stdout)["runs"][0]["digest"], full)

    check_warnings(folder)
    check_variant(folder)
    check_cut_off(folder)
    check_summary(folder)
    check_threads(folder)
    check_headroom()
    check_manual()
    check_kinds()
    check_stops(folder)

    for verb in ("run", "check", "topology", "decode", "encode", "bench", "schema"):
        run = xoff(verb, "--help")
        again = xoff("help", verb)
        check(f"help {verb} is the same", again.stdout == run.stdout, again)
        check(f"{verb} --help has an example", run.returncode == 0 and "Example:" in run.stdout, run)
    for args in ([], ["fly"], ["run"], ["run", quick, "--threads", "0"], ["run", quick, "--set", "x"],
                 ["run", folder / "none.yaml"], ["run", folder], ["run", "--nonsense", quick],
                 ["run", quick, "--set", "switch.buffr=1MB"], ["run", quick, "--seed", "x"],
                 ["topology", quick, incast], ["check"]):
        run = xoff(*args)
        check(f"exit 2 for {args}", run.returncode == 2 and run.stderr.strip(), run)
    run = xoff("check", "--deadlock", ROOT / "scenarios/quickstart.yaml")
    check("leaf-spine has no cycle", run.returncode == 0, run)
    found = xoff("check", "--deadlock", "-j", ROOT / "scenarios/ring-deadlock.yaml")
    answer = json.loads(found.stdout)
    check("a cycle in JSON names its ports", found.returncode == 1 and not answer["good"] and
          answer["cycles"][0]["variant"] == "clockwise" and
          answer["cycles"][0]["channels"][0] == {"node": "s0", "port": 1, "to": "s1"}, found)
    for path in ("ecmp", "scatter", "flowlet", "adaptive"):  # all take shortest paths
        for name, code in (("ring-deadlock", 1), ("load-balancers", 0)):
            run = xoff("check", "--deadlock", ROOT / f"scenarios/{name}.yaml", "--set",
                       f"switch.path={path}")
            check(f"cycles of {name} with {path}", run.returncode == code, run)
    for full, code in (("drop", 0), ("stop", 1)):
        run = xoff("check", "--deadlock", ROOT / "scenarios/quickstart.yaml", "--set",
                   f"switch.fabric={{kind: pipeline, full: {full}}}")
        check(f"pipelines that {full} in a leaf-spine", run.returncode == code, run)

    (folder / "file").write_text("")
    run = xoff("run", quick, "-o", folder / "file" / "sub")
    check("an unwritable folder: exit 1 and the path", run.returncode == 1 and "file/sub" in
          run.stderr, run)
    run = subprocess.run(["sh", "-c", f"ulimit -f 8; trap '' XFSZ; exec {XOFF} run {quick} -o "
                          f"{folder}/full"], capture_output=True, text=True, timeout=120)
    left = list((folder / "full").glob("*")) if (folder / "full").exists() else []
    check("a full disk: exit 1, nothing left", run.returncode == 1 and not left, run)

    for args in (["-o", ""], ["--set", "measure.every=1ps"]):
        run = xoff("run", quick, *args)
        check(f"exit 2 for {args}", run.returncode == 2 and run.stderr.strip(), run)
    (folder / "quickstart.yaml").write_text(quick.read_text())
    run = xoff("run", quick, folder / "quickstart.yaml")
    check("two files for one folder are refused", run.returncode == 2, run)
    with open("/dev/full", "w") as full:
        run = subprocess.run([XOFF, "topology", quick], stdout=full, stderr=subprocess.PIPE,
                             text=True, timeout=60)
    check("a full standard output is told", run.returncode == 1 and run.stderr, run)
    run = subprocess.run(["sh", "-c", f"ulimit -v 4000000; exec {XOFF} run {quick} -j -o "
                          f"{folder}/small"], capture_output=True, text=True, timeout=120)
    check("little address space will do", run.returncode == 0 or "Sanitizer" in run.stderr, run)

    # Ctrl-C, or its like: results up to here, marked; what had not begun is left alone.
    long = folder / "long.yaml"
    long.write_text(quick.read_text().replace("stop: 2ms", "stop: 60s").split("measure:")[0])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = subprocess.Popen([XOFF, "run", str(long), str(quick), "-j", "--threads", "2"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=folder)
        time.sleep(1.0)
        process.send_signal(number)
        out, _ = process.communicate(timeout=120)
        check(f"{number.name} writes what there is, marked as interrupted, and is no success",
              process.returncode == 1 and json.loads(out)["runs"][0]["interrupted"] is True and
              (folder / "run-long" / "run.sqlite").exists() and
              not (folder / "run-quickstart").exists())
        shutil.rmtree(folder / "run-long", ignore_errors=True)

    # Ctrl-C while the second file is read, which takes a third of a second: none of its plans has a
    # result.
    many = folder / "many.yaml"
    many.write_text(
        "stop: 10us\ntopology: {kind: star, hosts: 4}\ntraffic:\n" +
        "  - {kind: incast, from: h1, to: h0, size: 1KB}\n" * 500 + "variants:\n" +
        "".join(f"  - {{name: v{i}, set: {{seed: {i}}}}}\n" for i in range(256)))
    process = subprocess.Popen([XOFF, "run", str(quick), str(many), "--no-report"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=folder)
    first = folder / "run-quickstart"
    while process.poll() is None and ((first / ".xoff-lock").exists() or
                                      not (first / "run.sqlite").exists()):
        time.sleep(0.01)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    check("Ctrl-C before the first result of a file leaves that file alone",
          process.returncode == 1 and "digest" in out and
          err == f"interrupted: {many} has not been run\n" and
          not (folder / "run-many").exists())


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
finish()

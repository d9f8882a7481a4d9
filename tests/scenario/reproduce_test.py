#!/usr/bin/python3
"""xoff reproduce as a user meets it, on a small paper of its own and on those of the tree.

    reproduce_test.py XOFF

With XOFF_QUICK set (under sanitizers) the papers of the tree run with one seed, and two scenarios
not to their end: all of them run, and what they then say does not count.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

SCENARIO = """
title: Four to one
seed: 3
stop: 300us
topology: {kind: star, hosts: 5, host_link: {rate: 100Gbps, delay: 1us}}
switch: {buffer: 600KB, pause: pfc}
transport: datagram
priorities: {3: {lossless: true}}
traffic:
  - {kind: incast, from: h1..h4, to: h0, size: 400KB, at: 10us, priority: 3}
  - {kind: poisson, name: noise, from: h1..h4, to: h0, load: 0.1, sizes: 10KB, priority: 0}
measure: {every: 10us, series: throughput, at: s0}
curves:
  out: {of: throughput, at: s0:0, to: 100us}
variants:
  - {name: on}
  - {name: off, set: {switch.pause: none}}
"""

CLAIMS = """
paper: tiny
title: A small paper
source: written for a test
readings:
  - {id: losing, title: PFC is off, after_the_fact: true}
claims:
  - id: lossless
    kind: number
    strength: independent
    chapter: 1 Losses
    quote: Nothing is lost.
    place: "1.1"
    statement: nothing of the lossless class is lost with PFC
    scenario: s.yaml
    quick: {stop: 100us}
    seeds: 3
    measure: on.drops.lossless
    unit: frames
    published: 0
    tolerance: 0
    tolerance_why: none is none
    direction: on.drops.lossless < off.drops.lossless
    verdict: holds
    readings:
      - reading: losing
        measure: off.drops.lossless
        direction: off.drops.lossless > 0
        verdict: direction
        why: off is off
  - id: sends-alike
    kind: number
    strength: tuned
    tuned: the noise; 0.05 to 0.2
    quote: As much is sent.
    place: "1.2"
    statement: as much is sent with and without
    scenario: s.yaml
    seeds: 3
    measure: on.sent / 1e6
    unit: MB
    published: 3
    tolerance: 20 %
    tolerance_why: noise
    verdict: direction
    direction: on.sent == off.sent within 1%
    why: the noise is not of the paper
  - id: more
    kind: direction
    strength: independent
    quote: Pauses happen.
    place: "1.3"
    statement: pauses happen, however many
    scenario: s.yaml
    quick: false
    published: null
    direction: on.pauses > off.pauses
    verdict: holds
  - {id: hosts, kind: own, strength: independent, place: "2", statement: about hosts, verdict: untestable, why: no hosts here}
figures:
  - id: f1
    title: Losses
    kind: bar
    scenario: s.yaml
    seeds: 2
    x: {label: PFC}
    y: {label: lost, unit: frames}
    series:
      - name: lost
        points: [{x: "on", value: on.drops}, {x: "off", value: off.drops}]
    marks:
      - {name: paper, points: [["on", 0], ["off", 800]]}
  - id: over-time
    title: Throughput
    kind: time
    scenario: s.yaml
    x: {label: time, unit: us}
    y: {label: throughput, unit: Gb/s}
    scale: 1e-9
    series:
      - {name: with PFC, variant: "on", curve: out}
  - id: lost
    title: Losses
    kind: cdf
    scenario: s.yaml
    seeds: 3
    x: {label: lost, unit: frames}
    y: {label: share of runs}
    series:
      - {name: lost, value: off.drops}
      - {name: onset, value: off.deadlock.onset}
      - {name: headroom, variant: "on", distribution: headroom.maxima}
"""


class Place:
    """A folder with a paper, an output and a cache of its own."""

    def __init__(self, folder, claims=CLAIMS, scenario=SCENARIO):
        self.folder = folder
        (folder / "papers/tiny").mkdir(parents=True)
        (folder / "papers/tiny/claims.yaml").write_text(claims)
        (folder / "papers/tiny/s.yaml").write_text(scenario)

    def claims(self, text):
        (self.folder / "papers/tiny/claims.yaml").write_text(text)

    def reproduce(self, *args):
        return subprocess.run([XOFF, "reproduce", "--cache", "cache", *map(str, args)],
                              capture_output=True, text=True, timeout=240, cwd=self.folder)

    def json(self, *args):
        run = self.reproduce("-j", *args)
        return run, json.loads(run.stdout) if run.stdout.startswith("{") else None


def claims_of(board):
    return {c["id"]: c for c in board["papers"][0]["claims"]}


def check_scoreboard(folder):
    place = Place(folder)
    run = place.reproduce()
    check("the scoreboard is printed and all is as recorded", run.returncode == 0 and
          re.search(r" 1 Losses\n +lossless +1\.1 +number +0 frames +0 frames +3 +holds\n",
                    run.stdout) and
          re.search(r"sends-alike .* MB \(.* \.\. .*\) +3 +holds, better than recorded", run.stdout) and
          re.search(r"hosts .* cannot be tested\n +why: no hosts here\n", run.stdout) and
          "4 claims: 3 hold, 1 cannot be tested; 1 better than recorded" in run.stdout, run)
    check("totals by kind and strength; what is tuned, own or untested is not reproduced",
          re.search(r"^reproduced: 2 of 2 independent claims that the papers state\n"
                    r"  held +independent +returned +tuned\n"
                    r"  number +1 of 1 +- +1 of 1\n  direction +1 of 1 +- +-\n"
                    r"  own +0 of 1 +- +-\n", run.stdout, re.M), run)
    check("the reason for a strength stands beside the verdict",
          "    tuned: the noise; 0.05 to 0.2\n" in run.stdout, run)
    check("readings stand side by side",
          re.search(r" 1 Losses\n  claim +plain +losing *\n  lossless +holds 0 +direction \d+ *\n"
                    r"  plain: 1 of 1 hold; as the text says\n"
                    r"  losing: 0 of 1 hold \(plain: 1 of the same 1\); PFC is off; "
                    r"found after the fact\n", run.stdout), run)
    check("every run is done once", "6 runs, 0 from the cache" in run.stderr, run)
    check("the page is there", (folder / "reproduce/reproduce.html").stat().st_size > 100)
    first = (folder / "reproduce/reproduce.json").read_text()
    again, board = place.json()
    check("the second time all comes from the cache",
          "6 runs, 6 from the cache" in again.stderr, again)
    check("and is the same", (folder / "reproduce/reproduce.json").read_text() == first and
          json.loads(first) == board)
    fresh, board_fresh = place.json("--fresh", "--jobs", 1)
    other, board_other = place.json("--fresh", "--jobs", 2)
    check("--fresh runs again; one job or two, the same bytes",
          "6 runs, 0 from the cache" in fresh.stderr and fresh.stdout == other.stdout == again.stdout
          and board_fresh == board_other, other)
    figure = board["papers"][0]["figures"][0]
    on, off = figure["series"][0]["points"]
    check("the figure has our points and the paper's", figure["state"] == "drawn" and
          figure["x"]["categories"] == ["on", "off"] and on == [0, 0, 0, 0] and
          off[0] == 1 and 0 < off[2] <= off[1] <= off[3] and
          figure["marks"][0]["points"] == [[0, 0], [1, 800]])
    _, over_time, lost = board["papers"][0]["figures"]
    points = over_time["series"][0]["points"]
    check("the curve of the first seed over time", over_time["seeds"] == 1 and
          [x for x, _ in points] == list(range(10, 101, 10)) and
          all(0 < y < 110 for _, y in points[1:]))
    steps, none, maxima = lost["series"]
    check("a distribution over the seeds, and one that no seed has a value for",
          steps["n"] == steps["of"] == 3 and steps["points"][-1][1] == 1 and
          steps["points"] == sorted(steps["points"]) and none["n"] == 0 and not none["points"])
    shares = [y for _, y in maxima["points"]]
    check("a distribution that the runs have", "of" not in maxima and shares[-1] == 1 and
          0 < len(shares) <= 1000 and shares == sorted(shares) and
          all(0 < x <= 1 for x, _ in maxima["points"]))
    totals, reading = board["totals"], board["papers"][0]["readings"][1]
    check("totals and readings are in the JSON",
          totals["reproduced"] == {"held": 2, "all": 2} and totals["left_out"] == 0 and
          totals["number"]["tuned"] == {"held": 1, "all": 1} and
          totals["own"]["independent"] == {"held": 0, "all": 1} and
          board["papers"][0]["totals"] == totals and reading["id"] == "losing" and
          (reading["held"], reading["all"], reading["plain_held"]) == (0, 1, 1) and
          claims_of(board)["lossless"]["readings"][0]["verdict"] == "direction" and
          claims_of(board)["lossless"]["quote"] == "Nothing is lost." and
          claims_of(board)["sends-alike"]["strength_why"] == "the noise; 0.05 to 0.2")
    values = claims_of(board)["sends-alike"]["measured"]
    check("the spread is that of three seeds", len(set(values["values"])) == 3 and
          min(values["values"]) == values["min"] < values["max"] == max(values["values"]))


def check_selection(place):
    run, board = place.json("--quick")
    quick = claims_of(board)
    check("--quick leaves out and takes two seeds", quick["more"]["verdict"] == "left-out" and
          len(quick["lossless"]["measured"]["values"]) == 2, run)
    run, board = place.json("--seeds", 4, "tiny/sends-alike")
    check("one claim, four seeds", list(claims_of(board)) == ["sends-alike"] and
          len(claims_of(board)["sends-alike"]["measured"]["values"]) == 4 and
          "8 runs" in run.stderr, run)
    run, board = place.json("tiny/f1")
    check("a figure with the claims on its scenario", run.returncode == 0 and
          list(claims_of(board)) == ["lossless", "sends-alike", "more"] and
          board["papers"][0]["figures"][0]["id"] == "f1", run)
    run = place.reproduce("tiny/f2")
    check("an unknown figure: those there are", run.returncode == 2 and "figure f1" in run.stderr
          and "claim lossless" in run.stderr, run)
    run = place.reproduce("nothing")
    check("an unknown paper: those there are",
          run.returncode == 2 and "no such paper" in run.stderr and "  tiny\n" in run.stderr, run)
    run = place.reproduce("--papers", "nowhere")
    check("no papers", run.returncode == 2 and "nowhere" in run.stderr, run)
    for args in (["--jobs", 0], ["--seeds", "x"], ["--set", "x"], ["--set", "seed=2"], ["-o", ""],
                 ["--set", "switch.pauze=none"]):
        run = place.reproduce(*args)
        check(f"exit 2 for {args}", run.returncode == 2 and run.stderr.strip(), run)
    (place.folder / "file").write_text("")
    run = place.reproduce("-o", "file/x")
    check("a folder that cannot be made", run.returncode == 1 and "file/x" in run.stderr, run)
    run = place.reproduce("--cache", "file/x", "--fresh", "tiny/more")
    check("a cache that cannot be written is a warning", run.returncode == 0 and
          "warning" in run.stderr and "file/x" in run.stderr, run)


def check_broken_mechanism(place):
    """Breaking a mechanism turns its claim red, and the exit code to 1."""
    run = place.reproduce("--set", "switch.pause=none")
    check("without pause the claim does not hold and the command fails", run.returncode == 1 and
          re.search(r"lossless +1\.1 .*does not hold, worse than recorded", run.stdout), run)
    run, board = place.json("--set", "switch.pause=none")
    check("so does its JSON", run.returncode == 1 and board["summary"]["worse"] == 2 and
          claims_of(board)["lossless"]["verdict"] == "fails" and
          claims_of(board)["lossless"]["changed"] == "worse" and
          board["settings"] == {"switch.pause": "none"}, run)
    place.claims(CLAIMS.replace("verdict: direction\n        why: off is off", "verdict: holds"))
    run = place.reproduce("tiny/lossless")
    check("a reading that comes out worse than recorded fails the command", run.returncode == 1 and
          "direction" in run.stdout and "worse!" in run.stdout and
          "1 worse than recorded" in run.stdout, run)
    place.claims(CLAIMS)
    run = place.reproduce()
    check("the cache does not mix it up with the mechanism as it is", run.returncode == 0, run)


def check_summary(place):
    """Flows that are kept in sums only, by a setting or by the scenario, give the same claims."""
    scenario = place.folder / "papers/tiny/s.yaml"
    _, full = place.json()
    run, board = place.json("--set", "results=summary")
    check("summarised flows: runs of their own", "6 runs, 0 from the cache" in run.stderr and
          board and board["settings"] == {"results": "summary"}, run)
    check("summarised flows: the same claims and figures", run.returncode == 0 and board and
          board["papers"] == full["papers"], run)
    scenario.write_text(SCENARIO + "results: summary\n")
    run, board = place.json()
    check("a scenario that summarises its flows: the same claims and figures",
          run.returncode == 0 and "6 runs, 0 from the cache" in run.stderr and board and
          board["papers"] == full["papers"], run)
    scenario.write_text(SCENARIO)


def check_changes(place):
    scenario = place.folder / "papers/tiny/s.yaml"
    scenario.write_text(SCENARIO.replace("400KB", "399KB"))
    run = place.reproduce("tiny/more")
    check("a changed scenario is run again", "2 runs, 0 from the cache" in run.stderr, run)
    entry = next((place.folder / "cache").iterdir())
    for entry in (place.folder / "cache").iterdir():
        entry.write_bytes(entry.read_bytes()[:-30])
    run = place.reproduce("tiny/more")
    check("damaged entries are not believed", run.returncode == 0 and
          "2 runs, 0 from the cache" in run.stderr, run)


def check_shipped(folder):
    """Results of a full run are written beside the claims; a reduced run shows them."""
    place = Place(folder)
    paper = folder / "papers/tiny"
    for args in (["--write", "--quick"], ["--write", "--seeds", 2], ["--readme", "--set", "a=b"],
                 ["--write", "tiny/f1"], ["--write", "--readme"]):
        run = place.reproduce(*args)
        check(f"exit 2 for {args}", run.returncode == 2 and run.stderr.strip(), run)
    run = place.reproduce("--readme")
    check("without results there is no page", run.returncode == 2 and not run.stdout and
          "not in results.json" in run.stderr, run)
    run = place.reproduce("--write")
    check("a verdict that is not as recorded is not shipped", run.returncode == 1 and
          "as recorded" in run.stderr and not (paper / "results.json").exists(), run)
    good = CLAIMS.replace("    verdict: direction\n    direction", "    verdict: holds\n    direction")
    place.claims(good)
    run = place.reproduce("--write")
    readme, results = paper / "README.md", paper / "results.json"
    check("the results and their page are written", run.returncode == 0 and readme.exists() and
          "written:" in run.stderr and len(list(paper.iterdir())) == 4, run)
    first = results.read_text()
    place.reproduce("--write", "--fresh", "--jobs", 1)
    check("and are the same bytes again", results.read_text() == first)
    run = place.reproduce("--readme")
    check("the page is made again without a run", run.returncode == 0 and not run.stderr and
          run.stdout == readme.read_text() and "**2 of 2 independent claims hold.**" in run.stdout, run)
    run, board = place.json("--quick")
    data, tiny = json.loads(first), board["papers"][0]
    more = claims_of(board)["more"]
    check("a reduced run shows what it left out", more["verdict"] == "left-out" and
          more["shipped"]["verdict"] == "holds" and
          tiny["results"] == {"xoff_version": data["xoff_version"], "digest": data["digest"]}, run)
    place.claims(good.replace("    scenario: s.yaml\n    seeds: 2\n    x:",
                              "    scenario: s.yaml\n    quick: false\n    seeds: 2\n    x:"))
    run, board = place.json("--quick")
    figure = board["papers"][0]["figures"][0]
    check("and its figures", figure["state"] == "shipped" and figure["seeds"] == 2 and
          figure["series"][0]["points"][0] == [0, 0, 0, 0] and
          figure["series"][0]["points"][1][0] == 1, run)
    place.claims(good.replace("id: more", "id: many").replace("tolerance: 20 %", "tolerance: 21 %"))
    run = place.reproduce("--readme")
    check("a claim that the results do not know is named, and one that was changed",
          run.returncode == 1 and re.search(r"claims.yaml:\d+:\d+: error: many: not in", run.stderr)
          and re.search(r"claims.yaml:\d+:\d+: warning: sends-alike: changed", run.stderr), run)
    (paper / "s.yaml").write_text(SCENARIO + "# more\n")
    place.claims(good)
    run = place.reproduce("--readme")
    check("a changed scenario is named", run.returncode == 0 and
          "warning: s.yaml was changed" in run.stderr, run)
    results.write_text("{,")
    run = place.reproduce("--quick")
    check("damaged results have a place", run.returncode == 2 and "results.json:1:" in run.stderr,
          run)


def check_shipped_tree():
    """The shipped results know every claim, and the papers' pages are made of them."""
    for results in sorted((ROOT / "papers").glob("*/results.json")):
        name = results.parent.name
        run = subprocess.run([XOFF, "reproduce", "--readme", "--papers", ROOT / "papers", name],
                             capture_output=True, text=True, timeout=60)
        check(f"papers/{name}/results.json knows every claim", run.returncode == 0, run)
        check(f"papers/{name}/README.md is what xoff reproduce {name} --readme prints",
              run.stdout == (results.parent / "README.md").read_text(), run)
        check(f"papers/{name}/results.json is small", results.stat().st_size < 400e3)


def check_mistakes(folder):
    bad = [("    kind: direction\n", "", "claims.yaml:48:5", "kind: missing"),
           ("measure: on.drops.lossless", "measure: on.drops.losless", "claims.yaml:18:14",
            "no metric drops.losless"),
           ("measure: on.drops.lossless", "measure: onn.drops.lossless", "claims.yaml:18:14",
            "no metric onn.drops.lossless"),
           ("measure: on.drops.lossless", "measure: 2 * drops.lossless", "claims.yaml:18:18",
            "name one"),
           ("measure: on.drops.lossless", "measure: on.drops + ", "claims.yaml:18:24", "ends"),
           ("measure: off.drops.lossless", "measure: off.drops.lossles", "claims.yaml:27:18",
            "no metric drops.lossles"),
           ("reading: losing", "reading: loosing", "claims.yaml:26:18", "accepted: losing"),
           ("quick: {stop: 100us}", "quick: {stopp: 100us}", "claims.yaml:16:12", "stopp"),
           ("scenario: s.yaml\n    quick: {", "scenario: t.yaml\n    quick: {",
            "claims.yaml:15:15", "t.yaml cannot be read"),
           ("verdict: holds\n    readings", "verdict: true\n    readings", "claims.yaml:24:14",
            "accepted: holds"),
           ("on.drops}", "on.jane}", "claims.yaml:70:35", "jane"),
           ("curve: out", "curve: our", "claims.yaml:81:48", "the scenario has out"),
           ('variant: "on"', 'variant: "no"', "claims.yaml:81:36", "the scenario has on, off"),
           ("off.deadlock.onset", "off.deadlock.onzet", "claims.yaml:91:30", "onzet")]
    for number, (old, new, where, part) in enumerate(bad):
        assert old in CLAIMS
        place = Place(folder / str(number), CLAIMS.replace(old, new))
        run = place.reproduce("--quick")
        check(f"'{new}' is found at {where}", run.returncode == 2 and where in run.stderr and
              part in run.stderr, run)
        check(f"and nothing is written for '{new}'", not (place.folder / "reproduce").exists())
    place = Place(folder / "scenario", scenario=SCENARIO.replace("to: h0, load", "to: h9, load"))
    run = place.reproduce()
    check("a scenario's mistake that only building shows", run.returncode == 2 and
          re.search(r"s\.yaml:\d+:\d+: .*h9", run.stderr) and "error\n" in run.stdout, run)


def check_interrupt(folder):
    place = Place(folder, scenario=SCENARIO.replace("stop: 300us", "stop: 60s"))
    process = subprocess.Popen([XOFF, "reproduce", "--cache", "cache"], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    # Workers hold standard error open: that it ends means that they are gone.
    out, err = process.communicate(timeout=30)
    check("Ctrl-C ends the workers and writes nothing", process.returncode == 1 and not out and
          "interrupted" in err and not (place.folder / "reproduce").exists())


def check_large(folder):
    """The large network of the DSH slides is too long for the reduced set; its beginning is not.
    Under sanitizers it begins only: what comes of it needs the fan-in to end."""
    names = ("SIH-PowerTCP-40", "DSH-PowerTCP-40")
    is_quick = "XOFF_QUICK" in os.environ
    run = subprocess.run([XOFF, "run", ROOT / "papers/dsh/large-scale.yaml", "-j", "--no-report",
                          "-o", folder / "large", "--variant", names[0], "--variant", names[1],
                          *(["--set", "stop=50us", "--set", "drain=0s", "--no-expect"] if is_quick
                            else ["--set", "stop=500us"])], capture_output=True, text=True)
    runs = {r["variant"]: r for r in json.loads(run.stdout)["runs"]} if run.stdout else {}
    check("the large network runs", run.returncode == 0 and set(runs) == set(names), run)
    if is_quick or set(runs) != set(names):
        return
    sih, dsh = ({k: m["value"] for k, m in runs[n]["metrics"].items()} for n in names)
    check("shared headroom pauses less there", dsh["pause_time"] < sih["pause_time"] / 2, run)
    check("and its fan-in ends sooner", dsh["fct.fanin.mean"] < sih["fct.fanin.mean"], run)
    check("static headroom is hardly used", 0 < sih["headroom.maxima.p50"] < 0.15, run)
    check("all of it arrives", all(m["drops"] == 0 and m["flows"] == m["flows.finished"]
                                   for m in (sih, dsh)), run)


def reproduce_tree(folder, *args):
    return subprocess.run([XOFF, "reproduce", "--quick", "--cache", folder / "cache", "-o",
                           folder / "out", "--papers", ROOT / "papers", *args],
                          capture_output=True, text=True)  # Meson limits its time


def check_tree(folder):
    run = reproduce_tree(folder)
    check("the papers of the tree are as recorded", run.returncode == 0 and
          "better than recorded" not in run.stdout, run)


# Two scenarios take two thirds of the time of all: under sanitizers only their beginning runs.
LONG = {"dsh/deadlock.yaml": "1ms", "fairness-in-a-data-center/mpi-alone.yaml": "10ms"}


def check_tree_quickly(folder):
    """Every scenario of the papers runs, for the first claim about it and with one seed; verdicts
    need the others."""
    names, seen = [], set()
    for claims in (ROOT / "papers").glob("*/claims.yaml"):
        for entry in re.split(r"^  - (?=id:)", claims.read_text(), flags=re.M)[1:]:
            scenario = re.search(r"^    scenario: (\S+)", entry, re.M)
            file = f"{claims.parent.name}/{scenario[1]}" if scenario else None
            if file and file not in LONG and file not in seen:
                names.append(claims.parent.name + "/" + entry.split()[1].strip('"'))
                seen.add(file)
    run = reproduce_tree(folder, "--seeds", "1", *names)
    check("the papers of the tree run", len(names) > 40 and run.returncode in (0, 1) and
          "0 from the cache" in run.stderr and
          not re.search(r"^\d+ claims: .*error|, error$", run.stdout, re.M), run)
    for file, stop in LONG.items():
        run = subprocess.run([XOFF, "run", ROOT / "papers" / file, "-j", "--no-report", "-o",
                              folder / "long-run", "--set", f"stop={stop}", "--set", "drain=0s"],
                             capture_output=True, text=True)
        check(f"{file} begins", run.returncode in (0, 1) and
              len(json.loads(run.stdout or "{}").get("runs", [])) > 1, run)


def main(folder):
    run = subprocess.run([XOFF, "reproduce", "--help"], capture_output=True, text=True, timeout=60)
    check("--help has an example", run.returncode == 0 and "Example:" in run.stdout, run)
    check_scoreboard(folder / "a")
    place = Place(folder / "b")
    check_selection(place)
    check_broken_mechanism(place)
    check_summary(place)
    check_changes(Place(folder / "c"))
    check_shipped(folder / "shipped")
    check_shipped_tree()
    check_mistakes(folder / "bad")
    check_interrupt(folder / "long")
    if "XOFF_QUICK" in os.environ:
        check_tree_quickly(folder)
    else:
        check_tree(folder)
    check_large(folder)


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
finish()

#!/usr/bin/python3
"""What verbs print with -j is as schemas/ says, and nothing else.

    json_test.py XOFF [BENCH_JSON]

BENCH_JSON: figures of a whole `make bench`, which takes too long to run here. Exit status 77 (skipped) without
python3-jsonschema.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is missing")
    sys.exit(77)

XOFF = str(pathlib.Path(sys.argv[1]).resolve())
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENARIOS = ROOT / "scenarios"
wrong = []
used = set()


def validator(name):
    used.add(name)
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def look(name, what, document):
    errors = list(validator(name).iter_errors(document))
    wrong.extend(f"{what}: {e.json_path}: {e.message}" for e in errors[:3])


def check(name, *args, status=0, lines=False, given=None):
    """The output of a verb; returns the document, or a list of one for each line."""
    run = subprocess.run([XOFF, *map(str, args), "-j"], capture_output=True, text=True, timeout=120,
                         input=given)
    if run.returncode != status:
        wrong.append(f"{args}: exit status {run.returncode}: {run.stderr}")
    found = [json.loads(line) for line in run.stdout.splitlines()] if lines else [
        json.loads(run.stdout)]
    if not found:
        wrong.append(f"{args}: prints nothing")
    for document in found:
        look(name, args, document)
    return found if lines else found[0]


def check_run(folder):
    for name, status in (("incast-pfc", 0), ("ring-deadlock", 0), ("stuck-nic", 1)):
        document = check("run", "run", SCENARIOS / f"{name}.yaml", "-o", folder / name, "--no-report",
                         status=status)
        look("run", "summary.json", json.loads((folder / name / "summary.json").read_text()))
        check("explain", "explain", folder / name)
        del document["runs"][0]["verdict"]
        if validator("run").is_valid(document):
            wrong.append("a run without a verdict is valid")


    document = check("run", "run", SCENARIOS / "quickstart.yaml", "-o", folder / "kept", "--checkpoint-at", "1ms")
    if document["checkpoint"]["resume"] != f"xoff resume {folder / 'kept'}":
        wrong.append(f"a run that stops at a checkpoint: {document}")
    run = subprocess.run([XOFF, "run", SCENARIOS / "quickstart.yaml", "-o", bytes(folder) + b"/kept\xff",
                          "--checkpoint-at", "1ms", "-j"], capture_output=True, check=False)
    look("run", "a folder whose name is not UTF-8", json.loads(run.stdout or "{}"))
    check("run", "run", SCENARIOS / "incast-pfc.yaml", "--seeds", "1..2", "-o", folder / "seeds",
          "--no-report")


def check_rest(folder):
    bad = folder / "bad.yaml"
    bad.write_text("topology: star\nstop: 5\n")
    check("estimate", "run", "--estimate", SCENARIOS / "quickstart.yaml")
    check("check", "check", SCENARIOS / "quickstart.yaml", SCENARIOS / "dsh.yaml", lines=True)
    found = check("check", "check", bad, status=2, lines=True)
    if found[0].get("error", {}).get("line") != 2 or found[0]["good"]:
        wrong.append(f"the error of a bad file is not told: {found}")
    check("check", "check", "--deadlock", SCENARIOS / "ring-deadlock.yaml", status=1, lines=True)
    topology = check("topology", "topology", SCENARIOS / "two-kinds-of-leaf.yaml")
    text = subprocess.run([XOFF, "topology", SCENARIOS / "two-kinds-of-leaf.yaml"],
                          capture_output=True, text=True, check=True).stdout
    for link in topology["links"]:
        for name, port, room in zip(link["endpoints"], link["ports"], link["headroom_bytes"]):
            if room is None and not name.startswith("h"):
                wrong.append(f"no headroom at {name} port {port}")
            if room is not None and f"{room}B" not in text:
                wrong.append(f"{name} port {port}: the text has no headroom of {room} B")
    check("topology", "topology", SCENARIOS / "tpfc.yaml", "--set", "priorities.3.lossless=false",
          "--set", "switch.pause=none")
    check("headroom", "headroom", "--rate", "400G", "--length", "100m", "--mtu", "9216")
    check("headroom", "headroom", "--rate", "400G", "--length", "100m", "--mtu", "9216", "--sonic")
    hexes = subprocess.run([XOFF, "encode", "pfc", "--pause", "3:65535"], capture_output=True,
                           text=True, check=True).stdout
    check("decode", "decode", lines=True, given=hexes)
    check("decode", "decode", lines=True, given="0180c2000001 020000000001 8808 0101\n", status=1)
    check("conform", "conform", "--list")
    check("conform", "conform", "--explain", "PFC.1.1")
    check("conform", "conform", "--suite", "ets")
    check("conform", "conform", "--test", "PFC.1.1", "--device", "broken-two-classes", status=1)
    subprocess.run([XOFF, "run", SCENARIOS / "incast-pfc.yaml", "-o", folder / "c", "--no-report",
                    "--capture", "h1"], capture_output=True, check=True)
    for capture in (folder / "c").glob("*.pcapng"):
        check("conform", "conform", "--pcap", capture)
        check("decode", "decode", "--count", capture, lines=True)
        check("decode", "decode", "--only", "pfc", capture, lines=True)
    check("reproduce", "reproduce", "--quick", "--papers", ROOT / "papers", "--cache",
          folder / "cache", "-o", folder / "r", "qcn-occupancy-sampling/pfc-start", "--jobs", 1)
    sweep = folder / "sweep.yaml"
    sweep.write_text(f"sweep: S\nscenario: {SCENARIOS / 'incast-pfc.yaml'}\nseeds: 1..2\n"
                     "vary: {switch.buffer: [2MB, 4MB], switch.mmu: [sih, dsh]}\n"
                     "page: {pareto: {min: [pauses], max: [throughput]}}\n")
    for more in ([], ["--until", "fct.p99 +- 1%"]):
        check("sweep", "sweep", sweep, "--cache", folder / "cache", "-o", folder / "s", *more)
    check("share", "sweep", sweep, "--share", "1/2", "--cache", folder / "cache", "-o", folder / "share")
    look("sweep", "sweep.json", json.loads((folder / "s/sweep.json").read_text()))


def check_bench():
    """One network of the bench: over ranks, too, where there is MPI, and where there is none."""
    only = "bench", "--rounds", 1, "--only", "64 hosts, web search"
    has_mpi = shutil.which("mpirun") and (pathlib.Path(XOFF).parent / "xoff_mpi.so").exists()
    found = check("bench", *only)
    if bool(has_mpi) != ("ranks" in found) or len(found["networks"]) != 2:
        wrong.append(f"bench: MPI is {has_mpi}, yet the figures are {list(found)}")
    os.environ["MPIRUN"] = "no-mpirun"
    if "ranks" in check("bench", *only):
        wrong.append("bench: figures of ranks without mpirun")
    run = subprocess.run([XOFF, "bench", "--only", "nosuch"], capture_output=True, text=True, timeout=120)
    if run.returncode != 2 or "--only nosuch: no such row" not in run.stderr:
        wrong.append(f"bench --only nosuch: exit status {run.returncode}: {run.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_run(folder)
        check_rest(folder)
    if "XOFF_QUICK" not in os.environ:
        check_bench()
    if sys.argv[2:]:
        look("bench", "bench", json.loads(pathlib.Path(sys.argv[2]).read_text()))
    used.add("bench")
    there = {f.name.removesuffix(".schema.json") for f in (ROOT / "schemas").glob("*.schema.json")}
    if there != used:
        wrong.append(f"schemas {sorted(there ^ used)} are not tested, or are missing")
    for verb in subprocess.run([XOFF, "help"], capture_output=True, text=True,
                               check=True).stdout.split("\n\n")[2].splitlines():
        verb = verb.split()[0]
        told = subprocess.run([XOFF, "help", verb], capture_output=True, text=True, check=True).stdout
        if "--json" in told and verb not in there:
            wrong.append(f"xoff {verb} has -j and no schema")
    print("\n".join(wrong))
    print(f"{len(there)} schemas, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


main()

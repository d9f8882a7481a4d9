#!/usr/bin/python3
"""The JSON schemas of `xoff schema` and `xoff schema --sweep` are valid and agree with the parser.

    schema_test.py XOFF [FILE...]

Checks them against small documents, good and bad, which `xoff check` and `xoff sweep` must judge alike
(JSON is YAML), and against the FILEs, by default all of scenarios/. YAML files need python3-yaml; without
it only the documents here are checked. Exit status 77 (skipped) without python3-jsonschema.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is missing")
    sys.exit(77)
try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STAR = {"kind": "star", "hosts": 4}

GOOD = [
    {"topology": "star"},
    {"topology": STAR, "seed": 2, "stop": "1.5ms", "drain": 0, "reroute_after": "never"},
    {"topology": {"kind": "leaf-spine", "host_link": {"rate": "100Gbps", "length": "3m"},
                  "fabric_link": {"delay": "auto", "error": 1e-6}}},
    {"topology": {"kind": "custom", "nodes": {"h0": "host", "h1": {"kind": "host"}, "s": "switch"},
                  "links": [{"endpoints": ["h0", "s"]},
                            {"endpoints": ["h1", "s"], "rate": "1Gbps"}]}},
    {"topology": STAR, "switch": {"buffer": "12MiB", "mmu": {"alpha": "1/8"}, "pause": "none",
                                  "scheduler": {"kind": "drr"}, "marking": "ecn"}},
    {"topology": STAR, "port": {"response": 60, "headroom": "auto", "max_frame": "9100B"},
     "transport": {"kind": "dcqcn", "window": "bdp", "tcp": {"rto_min": "200us"}},
     "transports": {"bulk": "tcp"}, "host": {"ack_priority": "auto", "ack_every": 2}},
    {"topology": STAR, "priorities": {"3": {"lossless": True, "weight": 50}, "7": {"strict": "on"}}},
    {"topology": STAR, "links": [{"link": "h0-s0", "at": "1ms", "fail": True}],
     "routes": [{"on": "s0", "to": ["h1"], "via": []}],
     "receivers": [{"host": "h0", "rate": ["1Gbps", {"1ms": "2Gbps"}], "xoff": "100KB"}]},
    {"topology": STAR, "traffic": [{"kind": "cbr", "name": "a", "to": "h0"}],
     "receivers": [{"host": "h0", "rate": "1Gbps", "vms": [{"traffic": ["a"], "rate": "0bps"}]}]},
    {"topology": STAR, "measure": {"every": "10us", "series": ["queue", "buffer"], "at": "all"},
     "curves": {"F-0": {"of": "queue", "at": "s0:1", "priority": 3, "to": "1ms"}},
     "deadlock": {"after": "0s", "stop": False}, "expect": ["drops == 0"],
     "variants": [{"name": "A-1", "set": {"switch.mmu.alpha": "1/4", "seed": 3}}]},
]

BAD = [
    {},
    [],
    {"topology": "staar"},
    {"topology": {"kind": "star", "leaves": 4}},
    {"topology": {"kind": "star", "hosts": 0}},
    {"topology": {"kind": "star", "hosts": "four"}},
    {"topology": STAR, "swich": {}},
    {"topology": STAR, "stop": 5},
    {"topology": STAR, "stop": "5m"},
    {"topology": STAR, "stop": ["5ms"]},
    {"topology": STAR, "seed": -1},
    {"topology": STAR, "switch": {"buffer": "16"}},
    {"topology": STAR, "switch": {"mmu": {"kind": "static", "alpha": 1}}},
    {"topology": STAR, "switch": {"mmu": {"alpha": 5000}}},
    {"topology": STAR, "priorities": {"8": {}}},
    {"topology": STAR, "priorities": {"3": {"weight": 0}}},
    {"topology": STAR, "priorities": {"3": {"lossless": "maybe"}}},
    {"topology": STAR, "transport": "pigeon"},
    {"topology": STAR, "transport": {"kind": "none", "ai": "5Mbps"}},
    {"topology": STAR, "transports": {"bulk": {"kind": "pigeon"}}},
    {"topology": STAR, "links": [{"at": "1ms", "fail": True}]},
    {"topology": STAR, "receivers": [{"host": "h0", "rate": "1Gbps", "vms": [{"rate": "1Gbps"}]}]},
    {"topology": STAR, "traffic": [{"priority": 3}]},
    {"topology": STAR, "traffic": [{"kind": "nonesuch"}]},
    {"topology": {"kind": "custom", "links": [{"endpoints": ["h0"]}]}},
    {"topology": STAR, "variants": [{"set": {}}]},
    {"topology": STAR, "expect": "drops == 0"},
]


SWEPT = {"sweep": "S", "scenario": "quickstart.yaml"}
BUFFER = {"switch.buffer": ["1MB", "2MB"]}
GOOD_SWEEPS = [
    SWEPT | {"vary": BUFFER},
    SWEPT | {"vary": {"traffic.0.load": [0.1, 0.2], "switch.buffer": {"from": "1MB", "to": "4MB", "steps": 3,
                                                                      "scale": "log"}},
             "set": {"stop": "1ms", "switch.mmu.allow_loss": True}, "seeds": "1..3", "max_seeds": 5,
             "until": "fct.p99 +- 2%", "metrics": ["drops", "pauses"], "page": {
                 "x": "switch.buffer", "series": ["traffic.0.load"], "heat": ["switch.buffer", "traffic.0.load"],
                 "pareto": {"min": "drops", "max": ["throughput"]}}},
    SWEPT | {"vary": {"switch.buffer": {"from": "1MB", "to": "4MB"}}, "latin": 4, "latin_seed": 2, "grid": False,
             "seeds": [1, 5], "metrics": "drops"},
    SWEPT | {"vary": {"switch.buffer": {"from": "1MB", "to": "3MB", "step": "1MB", "whole": "no"}}, "seeds": 4},
]
BAD_SWEEPS = [
    {},
    SWEPT,
    {"scenario": "quickstart.yaml", "vary": BUFFER},
    {"sweep": "S", "vary": BUFFER},
    SWEPT | {"vary": {}},
    SWEPT | {"vary": ["switch.buffer"]},
    SWEPT | {"vary": {"switch.buffer": []}},
    SWEPT | {"vary": {"switch.buffer": "1MB"}},
    SWEPT | {"vary": {"switch.buffer": ["1MB", "1MB"]}},
    SWEPT | {"vary": {"switch.buffer": [["1MB"]]}},
    SWEPT | {"vary": {"switch.buffer": {"from": "1MB", "steps": 2}}},
    SWEPT | {"vary": {"switch.buffer": {"from": "1MB", "to": "2MB", "steps": 1}}},
    SWEPT | {"vary": {"switch.buffer": {"from": "1MB", "to": "2MB", "steps": 2, "scale": "cubic"}}},
    SWEPT | {"vary": {"seed": [1, 2]}},
    SWEPT | {"vary": BUFFER, "set": {"seed": 1}},
    SWEPT | {"vary": BUFFER, "set": {"stop": ["1ms"]}},
    SWEPT | {"vary": BUFFER, "colour": "red"},
    SWEPT | {"vary": BUFFER, "latin": -1},
    SWEPT | {"vary": BUFFER, "max_seeds": 1},
    SWEPT | {"vary": BUFFER, "metrics": []},
    SWEPT | {"vary": BUFFER, "metrics": ["drops", "drops"]},
    SWEPT | {"vary": BUFFER, "page": {"y": "drops"}},
    SWEPT | {"vary": BUFFER, "page": {"x": ["switch.buffer", "switch.buffer"]}},
    SWEPT | {"vary": BUFFER, "page": {"pareto": {"least": ["drops", "pauses"]}}},
]


def check_sweep(xoff, document):
    """True if a sweep takes the document: of a good one all runs are missing in an empty cache."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "quickstart.yaml").write_bytes((ROOT / "scenarios/quickstart.yaml").read_bytes())
        (folder / "s.yaml").write_text(json.dumps(document))
        run = subprocess.run([xoff, "sweep", folder / "s.yaml", "--collect", "--cache", folder / "cache",
                              "-o", folder / "out"], capture_output=True, timeout=60)
    if run.returncode not in (1, 2):
        raise SystemExit(f"xoff sweep: exit status {run.returncode}: {run.stderr.decode()}")
    return run.returncode == 1


def check(xoff, document):
    """True if the parser takes the document."""
    run = subprocess.run([xoff, "check", "-"], input=json.dumps(document).encode(),
                         capture_output=True, timeout=60)
    if run.returncode not in (0, 2):
        raise SystemExit(f"xoff check: exit status {run.returncode}: {run.stderr.decode()}")
    return run.returncode == 0


def judge(xoff, kind, documents, files):
    """Compares a schema with the parser; returns what is wrong."""
    options, takes, good, bad = documents
    schema = json.loads(subprocess.run([xoff, "schema", *options], capture_output=True, check=True).stdout)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    failed = []
    for document, wanted in [(d, True) for d in good] + [(d, False) for d in bad]:
        if validator.is_valid(document) != wanted:
            failed.append(f"schema of a {kind} judges wrongly, should be {wanted}: {document}")
        if takes(xoff, document) != wanted:
            failed.append(f"xoff judges a {kind} wrongly, should be {wanted}: {document}")
    for file in files if yaml else []:
        # Every scalar as text, as the parser takes it; YAML 1.1 would make a boolean of `on`.
        document = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        for error in validator.iter_errors(document):
            failed.append(f"{file}: {error.json_path}: {error.message}")
    print(f"{kind}: {len(good) + len(bad)} documents and {len(files) if yaml else 0} files")
    return failed


def main():
    xoff = pathlib.Path(sys.argv[1]).resolve()
    files = [pathlib.Path(f) for f in sys.argv[2:]] or sorted(ROOT.glob("scenarios/**/*.yaml"))
    failed = []
    for kind, documents in (("scenario", ([], check, GOOD, BAD)),
                            ("sweep", (["--sweep"], check_sweep, GOOD_SWEEPS, BAD_SWEEPS))):
        failed += judge(xoff, kind, documents,
                        [f for f in files if f.name.startswith("sweep-") == (kind == "sweep")])
    print("\n".join(failed))
    print(f"{len(failed)} wrong")
    if not yaml:
        print("python3-yaml is missing: no files were checked")
    sys.exit(1 if failed else 0)


main()

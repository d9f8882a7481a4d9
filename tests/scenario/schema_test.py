#!/usr/bin/python3
"""The JSON schema of `xoff schema` is a valid schema and agrees with the parser.

    schema_test.py XOFF [FILE...]

Checks it against small documents, good and bad, which `xoff check` must judge alike (JSON is YAML),
and against the FILEs, by default all of scenarios/. YAML files need python3-yaml; without it only the
documents here are checked. Exit status 77 (skipped) without python3-jsonschema.
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is missing")
    sys.exit(77)
try:
    import yaml
except ImportError:
    yaml = None

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


def check(xoff, document):
    """True if the parser takes the document."""
    run = subprocess.run([xoff, "check", "-"], input=json.dumps(document).encode(),
                         capture_output=True, timeout=60)
    if run.returncode not in (0, 2):
        raise SystemExit(f"xoff check: exit status {run.returncode}: {run.stderr.decode()}")
    return run.returncode == 0


def main():
    xoff = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    files = [pathlib.Path(f) for f in sys.argv[2:]] or sorted(
        f for f in root.glob("scenarios/**/*.yaml") if not f.name.startswith("sweep-"))
    schema = json.loads(subprocess.run([xoff, "schema"], capture_output=True, check=True).stdout)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    failed = []
    for documents, wanted in ((GOOD, True), (BAD, False)):
        for document in documents:
            if validator.is_valid(document) != wanted:
                failed.append(f"schema judges wrongly, should be {wanted}: {document}")
            if check(xoff, document) != wanted:
                failed.append(f"xoff check judges wrongly, should be {wanted}: {document}")
    for file in files if yaml else []:
        # Every scalar as text, as the parser takes it; YAML 1.1 would make a boolean of `on`.
        document = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        for error in validator.iter_errors(document):
            failed.append(f"{file}: {error.json_path}: {error.message}")
    print("\n".join(failed))
    n_files = len(files) if yaml else 0
    print(f"{len(GOOD) + len(BAD)} documents and {n_files} files, {len(failed)} wrong")
    if not yaml:
        print("python3-yaml is missing: no files were checked")
    sys.exit(1 if failed else 0)


main()

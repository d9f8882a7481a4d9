#!/usr/bin/python3
"""xoff run --compare: a run against an fct.txt of the ns-3 RDMA family.

    compare_command_test.py XOFF

The run's own fct.txt, which is that simulator's byte for byte (compat_test.py), is changed in known
places: each change must show, and nothing else.
"""
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import check, finish, xoff  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

NETWORK = pathlib.Path(__file__).parent / "ns3"
SCHEMAS = pathlib.Path(__file__).resolve().parent.parent.parent / "schemas"

CONFIG = """ENABLE_QCN 0
CC_MODE 0
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
FCT_OUTPUT_FILE mix/times.txt
SIMULATOR_STOP_TIME 2.02
HAS_WIN 0
ENABLE_TRACE 0
BUFFER_SIZE 2
"""


def compare(theirs, out, *args):
    """What -j says of the first run, and the text of the same command without it."""
    options = ["--compare", theirs, "-o", out, "--no-report"]
    machine = xoff("run", *args, *options, "-j")
    text = xoff("run", *args, *options)
    check("both forms run", machine.returncode == text.returncode == 0,
          machine.stderr + text.stderr)
    if jsonschema:
        schema = json.loads((SCHEMAS / "run.schema.json").read_text())
        for error in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(machine.stdout)):
            check("the output is as its schema says", False, f"{error.json_path}: {error.message}")
    found = [run["compare"] for run in json.loads(machine.stdout)["runs"]]
    written = json.loads((out / "summary.json").read_text())
    check("summary.json says the same", found == [r["compare"] for r in written["runs"]])
    return found, text.stdout


def changed(line, **fields):
    words = line.split()
    for name, change in fields.items():
        at = ["sip", "dip", "sport", "dport", "bytes", "start", "fct", "alone"].index(name)
        words[at] = str(change(int(words[at])))
    return " ".join(words)


def same_and_changed(folder, config):
    ns3 = [config, "--compat", "ns3"]
    out = folder / "out"
    check("a first run", xoff("run", *ns3, "-o", out, "--no-report").returncode == 0)
    mine = (out / "times.txt").read_text().splitlines()
    theirs = folder / "theirs"
    theirs.mkdir()
    shutil.copy(out / "times.txt", theirs)

    # A folder: the config's own name for the file.
    (found,), text = compare(theirs, out, *ns3)
    n = len(mine)
    check("all flows are equal",
          (found["flows_ours"], found["flows_theirs"], found["flows_both"],
           found["flows_both_by_ports"], found["equal"], found["within_1_percent"]) == (n,) * 6)
    check("nothing is listed", not found["worst"] + found["only_ours"] + found["only_theirs"])
    check("equal figures", found["fct_s"]["ours"] == found["fct_s"]["theirs"]
          and "equal to the nanosecond: 404 (100 %), within 1 %: 404 (100 %)" in text
          and "farthest apart" not in text, text)
    alone = [max(1, int(f[6]) / int(f[7])) for f in map(str.split, mine)]
    check("largest slowdown as in the file",
          abs(found["slowdown_ns3"]["theirs"]["max"] - max(alone)) < 1e-9)
    check("sizes add up", sum(s["flows"] for s in found["slowdown_ns3_by_size"].values()) == n)

    # Line 0 twice as long, line 1 a nanosecond more, line 2 from another port, line 3 gone, and
    # a flow that is not ours; in the file of the usual name.
    lines = [changed(mine[0], fct=lambda v: v * 2), changed(mine[1], fct=lambda v: v + 1),
             changed(mine[2], sport=lambda v: v + 7), *mine[4:],
             "0b000001 0b000101 10000 100 12345 2000000000 5000 4000"]
    (theirs / "times.txt").unlink()
    (theirs / "fct.txt").write_text("\r\n".join(lines) + "\r\n")
    (found,), text = compare(theirs, out, *ns3)
    check("counts of a changed file",
          (found["flows_ours"], found["flows_theirs"], found["flows_both"],
           found["flows_both_by_ports"], found["equal"], found["within_1_percent"])
          == (n, n, n - 1, n - 2, n - 3, n - 2), found)
    first = mine[0].split()
    check("the worst flow", len(found["worst"]) == 2 and found["worst"][0]["bytes"] == int(first[4])
          and found["worst"][0]["ours_ns"] == int(first[6])
          and found["worst"][0]["theirs_ns"] == 2 * int(first[6]), found["worst"])
    check("its name", found["worst"][0]["from"] == f"n{(int(first[0], 16) >> 8) & 0xff}")
    check("flows of one side", [f["fct_ns"] for f in found["only_ours"]] == [int(mine[3].split()[6])]
          and [f["bytes"] for f in found["only_theirs"]] == [12345])
    for words in ("farthest apart", "-50 %", "1 of them have other ports", "finished only here",
                  "finished only there", "n0 to n1"):
        check(f"the text says {words}", words in text, text)

    # The file itself, and a standalone time of another network.
    other = folder / "other.txt"
    other.write_text("\n".join([changed(mine[0], alone=lambda v: v + 1), *mine[1:]]))
    (found,), text = compare(other, out, *ns3)
    check("another standalone time",
          found["standalone_differs"] == 1 and "1 have another standalone time" in text)

    # Nothing in common, and nothing at all.
    other.write_text("0 1 10000 100 7 7 7 7\n")
    (found,), text = compare(other, out, *ns3)
    check("no flow in common", found["flows_both"] == 0 and "no flow is the same" in text
          and found["fct_s"] == {"flows": 0} and "... and 394 more" in text, text)
    other.write_text("")
    (found,), _ = compare(other, out, *ns3)
    check("an empty file", found["flows_theirs"] == 0)
    (folder / "mine.txt").write_text("\n".join(mine))


def scenarios(folder, config):
    """The converted scenario, with variants and an expectation."""
    scenario = folder / "scenario.yaml"
    check("convert", xoff("convert", "hpcc", config, "--compat", "ns3", "-o", scenario).returncode
          == 0)
    text = scenario.read_text()
    scenario.write_text(text + "variants: [{name: asis}, {name: tight, set: {switch.buffer: 1MB}}]\n"
                        "expect: [slowdown.ns3.p50 >= 1, asis.slowdown.ns3.p50 < 1.1]\n")
    found, text = compare(folder / "mine.txt", folder / "two", scenario)
    check("each variant is compared", len(found) == 2 and "asis: compared with" in text
          and "tight: compared with" in text, text)
    check("a scenario has the same flows, by source ports",
          [run["flows_both_by_ports"] for run in found] == [404, 404])
    check("one is equal, the other is not", found[0]["equal"] == 404 and found[1]["equal"] < 404)
    check("its expectation holds", "holds: asis.slowdown.ns3.p50 < 1.1" in text, text)
    # The metric is what the comparison finds on our side: standalone times are equal.
    metrics = json.loads((folder / "two" / "summary.json").read_text())["runs"][0]["metrics"]
    for stat in ("mean", "p50", "p95", "p99", "max"):
        check(f"slowdown.ns3.{stat}", abs(metrics[f"slowdown.ns3.{stat}"]["value"]
              - found[0]["slowdown_ns3"]["ours"][stat]) < 1e-9)
    check("the standalone times of a scenario", found[0]["standalone_differs"] == 0)
    plain = xoff("run", scenario, "--variant", "asis", "--set", "compat=none", "-j", "--no-report",
                 "-o", folder / "plain")
    check("no such metric without compat", plain.returncode == 1
          and '"slowdown.ns3.p50": {' not in plain.stdout, plain.stderr)
    check("and the expectation says so", "slowdown.ns3.p50" in plain.stderr, plain.stderr)


def mistakes(folder, config):
    bad = folder / "bad.txt"
    for text, place, says in (
            ("0b000001 0b000201 10000 100 1000000 2000000000 170008\n", "1:48", "eight fields"),
            ("\n0 1 2 3 4 5 x 7\n", "2:13", "from 1 on is accepted"),
            ("\0\0\0\0", "1:1", "an address such as 0b000701"),
            ("time: 2000000000\n3 1 1\n", "1:1", "an address such as")):
        bad.write_text(text)
        result = xoff("run", config, "--compare", bad, "-o", folder / "never")
        check(f"refused: {text!r}", result.returncode == 2 and f"{bad}:{place}:" in result.stderr
              and says in result.stderr, result.stderr)
    result = xoff("run", config, "--compare", folder / "nowhere", "-o", folder / "never")
    check("a file that is not there", result.returncode == 2 and "nowhere" in result.stderr,
          result.stderr)
    (folder / "bare").mkdir()
    result = xoff("run", config, "--compare", folder / "bare", "-o", folder / "never")
    check("a folder without the file", result.returncode == 2 and "bare/fct.txt" in result.stderr,
          result.stderr)
    result = xoff("run", config, config, "--compare", bad)
    check("two files", result.returncode not in (0, 1), result.stderr)
    check("nothing was run", not (folder / "never").exists())
    check("--help has an example", "--compare mix" in xoff("run", "--help").stdout)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in ("topology.txt", "flow.txt"):
            shutil.copy(NETWORK / file, folder)
        config = folder / "config.txt"
        config.write_text(CONFIG)
        same_and_changed(folder, config)
        scenarios(folder, config)
        mistakes(folder, config)


main()
finish()

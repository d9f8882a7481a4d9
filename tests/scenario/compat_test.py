#!/usr/bin/python3
"""Files of the ns-3 RDMA family: run as they are, against what that simulator made of them.

    compat_test.py XOFF

The tables below are its results for four small networks: two senders or sixteen to one receiver
over one switch, 100 Gb/s, 1 us, 1 MiB of buffer. Without congestion control nothing is drawn at
random and everything must be equal to the nanosecond; with DCQCN what comes before the first mark
matters must be equal, and the spread over seeds must hold what it found. Of a larger network there
are sums of its files, and of its traces of the first 500 us.
"""
import hashlib
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import check, finish, xoff  # noqa: E402

SEEDS = range(1, 21)
START = 2_000_000_000

CONFIG = """ENABLE_QCN {qcn}
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
TRACE_FILE trace.txt
TRACE_OUTPUT_FILE out.tr
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
SIMULATOR_STOP_TIME 2.11
CC_MODE {qcn}
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
MIN_RATE 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 0
GLOBAL_T 1
ACK_HIGH_PRIO 1
LINK_DOWN 0 0 0
ENABLE_TRACE 0
KMAX_MAP 1 100000000000 {kmax}
KMIN_MAP 1 100000000000 {kmin}
PMAX_MAP 1 100000000000 0.2
BUFFER_SIZE 1
QLEN_MON_FILE qlen.txt
QLEN_MON_START {qlen_from}
QLEN_MON_END {qlen_to}
"""

# Two senders of 1 MB: the first round of pauses, and the period of the fourteen that follow.
PAIR_FCTS = [170008, 170091]
PAIR_FIRST = [(17275, 1, 1), (17358, 0, 1), (21923, 1, 0), (22006, 0, 0)]
PAIR_NEXT = [(26499, 1, 1), (26582, 0, 1), (31219, 1, 0), (31302, 0, 0)]
PAIR_PERIOD, PAIR_ROUNDS = 9296, 14

# Sixteen senders of 65536 B: (ns, sender).
INCAST_PAUSES = [
    (3580, 5), (3580, 6), (3580, 7), (3580, 8), (3580, 9), (3580, 10), (3580, 11), (3580, 12),
    (3580, 13), (3580, 14), (3580, 15), (3663, 0), (3663, 1), (3663, 2), (3663, 3), (3663, 4),
    (41107, 8), (41190, 9), (41190, 10), (41273, 11), (41356, 12), (41356, 13), (41439, 14),
    (41522, 15), (41605, 0), (41605, 1), (41688, 2), (41771, 3), (41854, 4), (41937, 5),
    (42020, 6), (42103, 7)]
INCAST_RESUMES = [
    (38606, 8), (38689, 9), (38772, 10), (38855, 11), (38938, 12), (39021, 13), (39104, 14),
    (39187, 15), (39270, 0), (39353, 1), (39436, 2), (39519, 3), (39602, 4), (39685, 5),
    (39768, 6), (39851, 7), (63174, 8), (63672, 10), (63755, 9), (64336, 11), (65000, 13),
    (65083, 12), (65664, 0), (65747, 15), (65830, 14), (67656, 1), (68735, 2), (69897, 3),
    (71142, 4), (73715, 5), (74960, 6), (76205, 7)]
INCAST_FCTS = [88206, 88879, 89423, 89884, 90262, 90806, 91018, 91147,
               80912, 82203, 83411, 84536, 85578, 86537, 87413, 88252]

# With DCQCN: FCTs in order of size, number of pauses, and how many lines of pfc.txt come first that
# no mark can have changed yet: they are those without congestion control.
PAIR_DCQCN = ([377728, 414855], 2, PAIR_FIRST)
INCAST_DCQCN = ([77426, 79464, 80340, 82046, 83586, 85707, 86251, 87293, 87837, 88132, 89091, 89801,
                 89847, 90308, 91018, 91147], 33,
                [(t, n, 1) for t, n in INCAST_PAUSES[:16]] +
                [(t, n, 0) for t, n in INCAST_RESUMES[:16]])

# Every receive, enqueue and dequeue of the pair without congestion control: 22180 lines.
PAIR_TRACE = "5faee04929f5008defd614d595eda8471a560730961895606d74f4e1bafc8e56"


def write(folder, senders, size, qcn, kmin, kmax, qlen=False, head=None):
    """The input files; `head` replaces the first line of the topology."""
    folder.mkdir(exist_ok=True)
    hub, nodes = senders + 1, senders + 2
    window = (START, START + 100_000_000) if qlen else (9 * 10**9, 9 * 10**9 + 1)
    (folder / "config.txt").write_text(CONFIG.format(
        qcn=qcn, kmin=kmin, kmax=kmax, qlen_from=window[0], qlen_to=window[1]))
    links = "".join(f"{h} {hub} 100Gbps 1000ns 0.000000\n" for h in range(hub))
    (folder / "topology.txt").write_text((head or f"{nodes} 1 {hub}") + f"\n{hub}\n{links}")
    flows = "".join(f"{h} {senders} 3 100 {size} 2.000000000\n" for h in range(senders))
    (folder / "flow.txt").write_text(f"{senders}\n{flows}")
    (folder / "trace.txt").write_text(f"1\n{hub}\n")
    return folder / "config.txt"


def run(config, *options):
    """(fct by sender, sorted pause events, lines of fct.txt) of a run."""
    out = config.parent / "out"
    result = xoff("run", config, "--compat", "ns3", "-o", out, *options)
    check(f"{config.parent.name} runs", result.returncode == 0, result.stderr)
    lines = [line.split() for line in (out / "fct.txt").read_text().splitlines()]
    fcts = {(int(f[0], 16) >> 8) & 0xffff: int(f[6]) for f in lines}
    pauses = [tuple(map(int, line.split())) for line in (out / "pfc.txt").read_text().splitlines()]
    check("pauses are heard by hosts at their only port",
          all(p[2] == 0 and p[3] == 1 for p in pauses))
    return fcts, sorted((p[0] - START, p[1], p[4]) for p in pauses), lines


def sum_of(data):
    return hashlib.sha256(data).hexdigest()


def equal_to_the_nanosecond(folder):
    config = write(folder / "pair", 2, 1000000, 0, 400, 1600, qlen=True)
    fcts, pauses, lines = run(config, "--trace", folder / "pair.tr")
    check("trace of the pair, byte for byte",
          sum_of((folder / "pair.tr").read_bytes()) == PAIR_TRACE)
    check("FCTs of the pair", fcts == dict(enumerate(PAIR_FCTS)), fcts)
    expected = PAIR_FIRST + [(t + k * PAIR_PERIOD, n, what)
                             for k in range(PAIR_ROUNDS) for t, n, what in PAIR_NEXT]
    check("pauses of the pair", pauses == sorted(expected), pauses[:8])
    check("a line of fct.txt", lines[0] == ["0b000001", "0b000201", "10000", "100", "1000000",
                                            "2000000000", "170008", "88000"], lines[0])
    qlen = (config.parent / "out" / "qlen.txt").read_text().splitlines()
    last = qlen[-1].split()
    check("qlen.txt: two dumps of three ports", len(qlen) == 8 and qlen[4] == "time: 2100000000")
    # The receiver's port is empty but for 166 us: 1660 of the 1000001 samples, 220 bins.
    check("qlen.txt: the receiver's port", last[:3] == ["3", "3", "998341"] and len(last) == 223,
          last[:4])
    check("qlen.txt: samples", sum(map(int, last[2:])) == 1000001)

    config = write(folder / "incast", 16, 65536, 0, 400, 1600)
    fcts, pauses, lines = run(config)
    check("FCTs of the incast", fcts == dict(enumerate(INCAST_FCTS)), fcts)
    expected = [(t, n, 1) for t, n in INCAST_PAUSES] + [(t, n, 0) for t, n in INCAST_RESUMES]
    check("pauses of the incast", pauses == sorted(expected))
    check("standalone time of the incast", {line[7] for line in lines} == {"9656"})
    check("no qlen.txt unless asked for", not (config.parent / "out" / "qlen.txt").exists())


# Sixteen hosts, two leaves and two spines, Hadoop at 60 %, 404 flows (ns3/): the keys that differ,
# and the sums of what that simulator writes: fct.txt, pfc.txt, and its trace of the first 500 us.
# Where its congestion control reads no marks it makes them all the same; they are taken out.
NETWORK = pathlib.Path(__file__).parent / "ns3"
NETWORKS = {
    "none": ({"CC_MODE": 0, "ACK_HIGH_PRIO": 0, "BUFFER_SIZE": 2},
             "3571f528aacdf3cb8b12615ab92b5ac6525c5993465d920583c3990be9a9ff14",
             "51cb1628286b7744fe33face92efaac0471dcc89f6e913a676634a4f82f2d702",
             "4029abf2f03a138d79e05da1bb0a3f1097a463bae8f53e68e89147727b816462", False),
    "dcqcn": ({"CC_MODE": 1, "ACK_HIGH_PRIO": 1, "BUFFER_SIZE": 4},
              "72ffde5f85044a1e2ed855fd19ee36ef12070a78bf42bc07718fbf511d661f4d", sum_of(b""),
              "7c0d174f5b4b710a2f9bbdee532e6e220627dee4e5941b3aba4ba896590fc748", True),
    "hpcc": ({"CC_MODE": 3, "ACK_HIGH_PRIO": 0, "BUFFER_SIZE": 4, "HAS_WIN": 1, "VAR_WIN": 1,
              "FAST_REACT": 1, "U_TARGET": 0.95, "MI_THRESH": 0, "MULTI_RATE": 0,
              "RATE_AI": "40Mb/s"},
             "bb93898e2a9991f0ca63639a55f08d893283f3616a11d5cabfdb9ab7dd1159c4", sum_of(b""),
             "63f8f898ff7f35f893ce62b50012e7321b7ced89b7d9f2e5e21a99d1f86c3431", False),
    "timely": ({"CC_MODE": 7, "ACK_HIGH_PRIO": 1, "BUFFER_SIZE": 4},
               "bcad8c5e98b649530d9bf72c63392891ef7fa4dc323efa1cd7d4c99e740fa09e",
               "bb4ab38c6a644463a8d08e84122a558697ea8dfa77b72ca70e8b4256dd785dab",
               "5e78d84a4029b41fcb8b22bded94c5039fd8e2af6ecb142f5c07c42668b5f9fe", False),
    "dctcp": ({"CC_MODE": 8, "ACK_HIGH_PRIO": 0, "BUFFER_SIZE": 4, "HAS_WIN": 1, "VAR_WIN": 1},
              "158bd2a3f40c431c6114c110ffa597ef1c18adc4bae798137e1b89bcbb5a7197", sum_of(b""),
              "b52ca7afdd46bb0680cb76793120e4c052bd639cd7b041b340e678be2492ef73", True),
}


def unmarked(trace):
    return re.sub(b"ecn:3", b"ecn:0", re.sub(b" A 0x01", b" A 0x00", trace))


def whole_networks(folder):
    for name, (keys, fct, pfc, trace, has_marks) in NETWORKS.items():
        to = folder / f"network-{name}"
        to.mkdir()
        for file in ("topology.txt", "flow.txt"):
            (to / file).write_text((NETWORK / file).read_text())
        (to / "trace.txt").write_text("0\n")
        text = CONFIG.format(qcn=1, kmin=200, kmax=200, qlen_from=9 * 10**9,
                             qlen_to=9 * 10**9 + 1)
        keys = {"DCTCP_RATE_AI": "1000Mb/s", "SIMULATOR_STOP_TIME": 2.02,
                "KMAX_MAP": "2 100000000000 200 400000000000 800",
                "KMIN_MAP": "2 100000000000 200 400000000000 800",
                "PMAX_MAP": "2 100000000000 1.0 400000000000 1.0"} | keys
        lines = [line for line in text.splitlines() if line.split()[0] not in keys]
        lines += [f"{key} {value}" for key, value in keys.items()]
        (to / "config.txt").write_text("\n".join(lines) + "\n")
        result = xoff("run", to / "config.txt", "--compat", "ns3", "-o", to / "out", "--no-report",
                      "--trace", to / "trace", "--trace-until", "2000500us")
        check(f"network with {name} runs", result.returncode == 0, result.stderr)
        for file, expected in (("fct.txt", fct), ("pfc.txt", pfc)):
            found = sum_of((to / "out" / file).read_bytes())
            check(f"{file} of the network with {name}, byte for byte", found == expected)
        found = (to / "trace").read_bytes()
        check(f"trace of the network with {name}, line for line",
              sum_of(found if has_marks else unmarked(found)) == trace)


def holds(what, at, values):
    check(f"{what} over seeds holds {at}", min(values) <= at <= max(values),
          (min(values), max(values)))


def bracketed(folder, name, senders, size, kmin, kmax, reference):
    expected, n_pauses, first = reference
    config = write(folder / name, senders, size, 1, kmin, kmax)
    figures = []
    for seed in SEEDS:
        fcts, pauses, _ = run(config, "--seed", seed, "--no-report")
        check(f"all flows of {name}", len(fcts) == senders)
        check(f"first pauses of {name} with seed {seed}", pauses[:len(first)] == sorted(first))
        figures.append((sum(what for _, _, what in pauses), *sorted(fcts.values())))
    holds(f"number of pauses of {name}", n_pauses, [f[0] for f in figures])
    holds(f"mean FCT of {name}", sum(expected) / senders, [sum(f[1:]) / senders for f in figures])
    for k, at in enumerate(expected):
        holds(f"FCT {k + 1} by size of {name}", at, [f[1 + k] for f in figures])


def other_ways(folder):
    config = write(folder / "ways", 2, 1000000, 0, 400, 1600)
    exact = xoff("run", config, "-o", folder / "exact")
    check("without --compat times are exact", exact.returncode == 0, exact.stderr)
    line = (folder / "exact" / "fct.txt").read_text().splitlines()[-1].split()
    # 2000 frames of 1062 B with 20 B around each at 80 ps/B, and the way of the last one.
    check("and links run at their rate", 173120 < int(line[6]) < 173120 + 5000, line)

    scenario = folder / "converted.yaml"
    result = xoff("convert", "hpcc", config, "-o", scenario, "--compat", "ns3")
    check("convert", result.returncode == 0 and scenario.exists(), result.stderr)
    one = xoff("run", config, "--compat", "ns3", "-j", "-o", folder / "one").stdout
    two = xoff("run", scenario, "-j", "-o", folder / "two").stdout
    digest = [text.split('"digest": "')[1][:16] for text in (one, two)]
    check("the converted scenario has the same digest", digest[0] == digest[1], digest)

    tors = write(folder / "tors", 2, 1000000, 0, 400, 1600, head="4 1 1 3")
    fcts, _, _ = run(tors)
    check("a topology with tors", fcts == dict(enumerate(PAIR_FCTS)), fcts)
    _, _, lines = run(config, "--write", "conweave")
    check("node ids instead of addresses", lines[0][:2] == ["0", "2"], lines[0])
    result = xoff("run", config, "--write", "none", "-o", folder / "bare")
    check("--write none", result.returncode == 0 and not (folder / "bare" / "fct.txt").exists())

    text = config.read_text()
    config.write_text(text.replace("\n", "\r\n"))
    fcts, _, _ = run(config)
    check("CRLF", fcts == dict(enumerate(PAIR_FCTS)), fcts)


BAD = [  # file, what is replaced, by what, what the message says
    ("topology.txt", "100Gbps", "100", "topology.txt:3"),
    ("topology.txt", "4 1 3", "4 1 4", "topology.txt"),
    ("topology.txt", "0 3 ", "0 9 ", "topology.txt:3"),
    ("flow.txt", "2\n", "3\n", "flow.txt"),
    ("flow.txt", "0 2 3", "0 0 3", "flow.txt:2"),
    ("flow.txt", "0 2 3", "0 7 3", "flow.txt:2"),
    ("flow.txt", "0 2 3", "0 3 3", "flow.txt:2"),
    ("flow.txt", " 1000000 ", " -5 ", "flow.txt:2"),
    ("flow.txt", "2.000000000", "x" * 5000, "flow.txt:2"),
    ("config.txt", "KMAX_MAP 1", "KMAX_MAP 2", "config.txt:"),
    ("config.txt", "RATE_AI 20Mb/s", "RATE_AI fast", "config.txt:18"),
    ("config.txt", "CC_MODE 0", "CC_MODE 99", "config.txt:11"),
    ("config.txt", "flow.txt", "gone.txt", "config.txt:5"),
]


def bad_input(folder):
    for i, (name, old, new, says) in enumerate(BAD):
        config = write(folder / f"bad{i}", 2, 1000000, 0, 400, 1600)
        path = config.parent / name
        path.write_text(path.read_text().replace(old, new, 1))
        result = xoff("run", config, "-o", config.parent / "out")
        check(f"bad input {i} ({name}: {new[:20]})",
              result.returncode == 2 and says in result.stderr and
              not (config.parent / "out").exists(), result.stderr)
    config = write(folder / "odd", 2, 1000000, 0, 400, 1600)
    config.write_text(config.read_text() + "PINT_LOG_BASE 1.05\nSURPRISE 7\nSURPRISE 8\n")
    result = xoff("run", config, "-o", folder / "odd" / "out")
    check("an unknown key is named once", result.returncode == 0 and
          result.stderr.count("SURPRISE") == 1, result.stderr)


def main(folder):
    equal_to_the_nanosecond(folder)
    whole_networks(folder)
    bracketed(folder, "pair-dcqcn", 2, 1000000, 100, 400, PAIR_DCQCN)
    bracketed(folder, "incast-dcqcn", 16, 65536, 400, 1600, INCAST_DCQCN)
    other_ways(folder)
    bad_input(folder)


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
finish()

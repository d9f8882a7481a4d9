#!/usr/bin/python3
"""xoff explain finds what was planted: twenty faults in random networks, and none in ten healthy ones.

    explain_test.py XOFF [SEED]

Each fault is a scenario of its own: a random star or leaf-spine network with light traffic between all hosts,
and one thing wrong in it. The planted root must be the worst one, or where it needs another to show (headroom
needs congestion), among the named ones. Then the output: its schema, its order, what it says of bad input, and
that a page of the same results has the same. With XOFF_QUICK set (under sanitizers) every third network is
enough.
"""
import json
import os
import pathlib
import random
import sys
import tempfile

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import check, finish, xoff  # noqa: E402
from explained import place  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
STEP = 3 if "XOFF_QUICK" in os.environ else 1
SCHEMA = json.loads((ROOT / "schemas/explain.schema.json").read_text())


def explain(*arguments):
    run = xoff("explain", "-j", *arguments)
    answer = json.loads(run.stdout)
    jsonschema.validate(answer, SCHEMA)
    return answer["files"][0]["runs"]


class Network:
    """A random star or leaf-spine network with light traffic among all hosts."""

    def __init__(self, rng, kind=None, spines=None, load=0.05):
        kind = kind or rng.choice(["star", "leaf-spine"])
        self.rng = rng
        if kind == "star":
            self.n_leaves, self.per_leaf = 1, rng.randint(6, 10)
            self.topology = f"kind: star, hosts: {self.per_leaf}, host_link: {{rate: 100Gbps, delay: 1us}}"
        else:
            self.n_leaves, self.per_leaf = rng.randint(2, 3), rng.randint(3, 4)
            self.n_spines = spines or rng.randint(2, 3)
            self.topology = (f"kind: leaf-spine, leaves: {self.n_leaves}, spines: {self.n_spines}, "
                             f"hosts_per_leaf: {self.per_leaf}, host_link: {{rate: 100Gbps, delay: 500ns}}, "
                             "fabric_link: {rate: 100Gbps, delay: 1us}")
        self.n = self.n_leaves * self.per_leaf
        self.traffic = [f"{{kind: poisson, name: light, load: {load}, sizes: 20KB, priority: 3}}"]
        self.switch = "{buffer: 2MB, pause: pfc}"
        self.more = []

    def hosts(self, n, without=()):
        return self.rng.sample([h for h in range(self.n) if h not in without], n)

    def send(self, senders, to, rate, name="planted", priority=3):
        for sender in senders:
            self.traffic.append(f"{{kind: cbr, name: {name}{sender}, from: h{sender}, to: h{to}, "
                                f"rate: {rate}, priority: {priority}}}")

    def text(self):
        return "\n".join([
            "title: planted", f"seed: {self.rng.randint(1, 10**6)}", "stop: 600us", "drain: 0s",
            f"topology: {{{self.topology}}}", f"switch: {self.switch}", "priorities: {3: {lossless: true}}",
            "traffic:", *(f"  - {t}" for t in self.traffic), *self.more]) + "\n"


def slow_receiver(rng):
    net = Network(rng)
    host = net.hosts(1)[0]
    net.send(net.hosts(2, [host]), host, "30Gbps")
    net.more = ["receivers:", f"  - {{host: h{host}, rate: {rng.randint(2, 20)}Gbps, buffer: 500KB}}"]
    return net, "slow-receiver", {f"h{host}"}


def stuck_receiver(rng):
    net = Network(rng)
    host = net.hosts(1)[0]
    net.send(net.hosts(2, [host]), host, "30Gbps")
    net.more = ["receivers:",
                f"  - {{host: h{host}, rate: [100Gbps, {rng.randint(50, 200)}us: 0bps], buffer: 500KB}}"]
    return net, "stuck-receiver", {f"h{host}"}


def incast(rng):
    net = Network(rng, "star")
    host = net.hosts(1)[0]
    net.send(net.hosts(rng.randint(3, 5), [host]), host, "60Gbps")
    return net, "incast", {f"h{host}"}


def slow_host_link(rng):
    net = Network(rng, "star")
    host, sender = net.hosts(2)
    net.send([sender], host, "50Gbps")
    net.more = ["links:", f"  - {{link: s0-h{host}, at: {rng.choice(['0s', '100us'])}, rate: 10Gbps}}"]
    return net, "slow-link", {f"s0-h{host}"}


def slow_fabric_link(rng):
    net = Network(rng, "leaf-spine")
    spine = rng.randrange(net.n_spines)
    net.switch = "{buffer: 2MB, pause: pfc, path: scatter}"
    net.send(range(net.per_leaf), net.per_leaf, "20Gbps")
    net.more = ["links:", f"  - {{link: leaf0-spine{spine}, at: 0s, rate: 5Gbps}}"]
    return net, "slow-link", {f"leaf0-spine{spine}"}


def failed_link(rng):
    net = Network(rng, "leaf-spine", load=0.2)
    spine = rng.randrange(net.n_spines)
    net.more = ["links:", f"  - {{link: leaf0-spine{spine}, at: {rng.randint(100, 300)}us, fail: true}}"]
    return net, "link-failure", {f"leaf0-spine{spine}"}


def faulty_link(rng):
    net = Network(rng, "leaf-spine", spines=1, load=0.2)
    net.topology = net.topology.replace("delay: 1us}", "delay: 1us, error: 0.003}")
    return net, "link-errors", {f"leaf{i}-spine0" for i in range(net.n_leaves)}


def small_headroom(rng):
    net = Network(rng, "star")
    host = net.hosts(1)[0]
    net.send(net.hosts(4, [host]), host, "80Gbps")
    net.more = [f"port: {{headroom: {rng.randint(2, 8)}KB}}"]
    return net, "headroom", {"s0"}


def oversubscribed(rng):
    net = Network(rng, "leaf-spine", spines=1)
    for i in range(net.per_leaf):
        net.send([i], net.per_leaf + i, "60Gbps")
    return net, "oversubscription", {"leaf0-spine0"}


def starved(rng):
    net = Network(rng, "star", load=0.001)
    host, first, *second = net.hosts(5)
    net.switch = "{buffer: 2MB, pause: pfc, scheduler: strict}"
    net.send([first], host, "50Gbps")
    net.send(second, host, "60Gbps", "strict", 6)
    return net, "starvation", {f"s0-h{host}"}


def deadlocked(rng):
    """A ring of switches whose routes lead round: nothing random but its size."""
    n = rng.randint(3, 5)
    net = Network(rng, "star")
    net.topology = (f"kind: ring, switches: {n}, hosts_per_switch: 1, host_link: {{rate: 100Gbps, delay: 500ns}}, "
                    "fabric_link: {rate: 100Gbps, delay: 500ns}")
    net.n = n
    net.switch = "{buffer: 400KB, pause: pfc}"
    net.traffic = []
    net.more = ["deadlock: {after: 100us}", "routes:"]
    for i in range(n):
        net.send([i], (i + 2) % n, "95Gbps")
        net.more += [f"  - {{on: s{i}, to: h{(i + 2) % n}, via: s{(i + 1) % n}}}"]
    return net, "deadlock", {f"s{i}" for i in range(n)}


PLANTED = 3 * [slow_receiver] + 2 * [stuck_receiver] + 3 * [incast] + 2 * [slow_host_link] + \
    2 * [slow_fabric_link] + 2 * [failed_link] + [faulty_link] + 2 * [small_headroom] + [oversubscribed] + \
    [starved] + [deadlocked]


def roots_of(net, folder):
    file = folder / "net.yaml"
    file.write_text(net.text())
    run = xoff("run", file, "--no-report", "--no-expect", "-o", folder / "run")
    if not (folder / "run/run.sqlite").is_file():
        print(file.read_text(), run.stderr)
        sys.exit(1)
    return explain(folder / "run")[0]["explain"]["roots"]


def check_planted(folder):
    n_found = 0
    for i, make in list(enumerate(PLANTED))[::STEP]:
        net, kind, places = make(random.Random(f"{SEED}/{i}"))
        roots = roots_of(net, folder)
        named = [(r["kind"], place(r)) for r in roots]
        counting = named if kind == "headroom" else named[:1]
        is_found = any(k == kind and p in places for k, p in counting)
        n_found += is_found
        check(f"{make.__name__} {i}", is_found, f"expected {kind} {sorted(places)}, named {named}\n{net.text()}")
    print(f"{n_found} of {len(PLANTED[::STEP])} planted faults found")


def check_healthy(folder):
    n_alarms = 0
    for i in range(0, 10, STEP):
        rng = random.Random(f"{SEED}/healthy/{i}")
        net = Network(rng, load=rng.choice([0.1, 0.2, 0.3]))
        net.switch = rng.choice(["{buffer: 4MB, pause: pfc}", "{buffer: 4MB, pause: pfc, mmu: dsh}",
                                 "{buffer: 4MB, pause: pfc, marking: ecn}"])
        if "ecn" in net.switch:
            net.more = ["transport: dcqcn"]
        roots = roots_of(net, folder)
        n_alarms += bool(roots)
        check(f"healthy network {i}", not roots, f"{[(r['kind'], place(r)) for r in roots]}\n{net.text()}")
    print(f"{n_alarms} false alarms in {len(range(0, 10, STEP))} healthy networks")


def check_output(folder):
    """The paragraph tells root, who was paused, the bystander and the losses; two runs are compared."""
    results = folder / "slow"
    xoff("run", ROOT / "scenarios/slow-receiver.yaml", "-o", results)
    text = xoff("explain", results)
    words = " ".join(text.stdout.split())
    check("text", text.returncode == 0 and max(map(len, text.stdout.splitlines())) <= 80, text)
    for part in ("h2 took in only 10 Gb/s from 500 us to 1.5 ms", "because of it s0 was paused for",
                 "h0 -> h3, which does not pass h2, was held for 28 % of its life", "nothing was dropped",
                 "chain h2 pauses s0 (42 %), so s0 pauses h0", "Against PFC: the same root"):
        check(f"the text has '{part}'", part in words, words)
    again = xoff("explain", results)
    check("the same each time", again.stdout == text.stdout)
    brief = xoff("explain", "--brief", results).stdout
    check("brief has no evidence", "evidence" not in brief and "h2 took in" in brief, brief)
    runs = explain(results)
    check("the first run is compared with none", runs[0]["explain"]["difference"] is None and
          runs[1]["explain"]["difference"].startswith("Against PFC"))
    root = runs[0]["explain"]["roots"][0]
    check("the chain leads to the victim", [(c["node"], c["peer"]) for c in root["chain"]] ==
          [("h2", "s0"), ("s0", "h0")], root["chain"])
    check("bystanders come first", [(v["from"], v["to"], v["bystander"]) for v in root["victims"]][0] ==
          ("h0", "h3", True), root["victims"])
    harm = sum(v["harm_byte_s"] for v in root["victims"])
    check("harm is that of its flows", abs(harm - root["harm_byte_s"]) < 1e-4 * harm, root)
    page = (results / "report.html").read_text()
    check("the page has it", json.dumps(runs[0]["explain"]["headline"]) in page)


def check_jobs(folder):
    """A ring of ranks stands when one of them does, whichever rank it is that waits."""
    file = folder / "ring.yaml"
    file.write_text("""title: a ring with a slow rank
stop: 2ms
topology: {kind: star, hosts: 8, host_link: {rate: 100Gbps, delay: 1us}}
switch: {buffer: 1MB, pause: pfc}
priorities: {3: {lossless: true}}
receivers: [{host: h2, rate: 20Gbps, buffer: 300KB}]
traffic:
  - {kind: allreduce, name: ring, hosts: h0..h5, size: 4MB, priority: 3}
  - {kind: cbr, name: other, from: h1, to: h7, rate: 20Gbps, priority: 3}
""")
    xoff("run", file, "--no-report", "-o", folder / "ring")
    root = explain(folder / "ring")[0]["explain"]["roots"][0]
    jobs = {job["traffic"]: job for job in root["jobs"]}
    check("all ranks stood", list(jobs) == ["ring"] and jobs["ring"]["operations"] == 6 and
          0.6 < jobs["ring"]["held_fraction"] < 0.9 and root["operations_byte_s"] > 0, root["jobs"])
    text = xoff("explain", folder / "ring").stdout
    check("jobs in the text", "jobs      6 operations of ring stood for 7" in text, text)


def check_try(folder):
    """Changes are tried on the scenario in the results, of which the file may be gone."""
    file = folder / "mine.yaml"
    file.write_text((ROOT / "scenarios/slow-receiver.yaml").read_text())
    xoff("run", file, "--no-report", "--set", "stop=1ms", "--no-expect", "-o", folder / "mine")
    file.unlink()
    before = sorted(folder.iterdir())
    first, second = explain("--try", folder / "mine")
    tried = {" ".join(t["changes"]): t for t in first["tried"]}
    free = tried["switch.pause=none"]
    check("without pauses nobody waits", free["bystanders_byte_s"] == 0 and free["lost_frames"] > 0 and
          free["lost_frames"] == second["explain"]["roots"][0]["lost_frames"] and not free["error"], tried)
    check("congestion control is tried", tried["transport=dcqcn switch.marking=ecn"]["harm_byte_s"] > 0, tried)
    text = xoff("explain", "--try", "--brief", folder / "mine")
    check("the text of trials", "--set switch.pause=none\n    byte-seconds " in text.stdout and
          "changes nothing" in text.stdout and text.returncode == 0, text)
    check("nothing is left behind", sorted(folder.iterdir()) == before)
    check("without --try nothing is tried", explain(folder / "mine")[0]["tried"] == [])


def check_bad_input(folder):
    (folder / "empty").mkdir()
    (folder / "text.sqlite").write_text("no results\n" * 20)
    old = folder / "old.sqlite"
    data = bytearray((folder / "slow/run.sqlite").read_bytes())
    data[60:64] = (1).to_bytes(4, "big")  # user_version of the file's head
    old.write_bytes(data)
    cut = folder / "cut.sqlite"
    cut.write_bytes((folder / "slow/run.sqlite").read_bytes()[:20000])
    for arguments, words in (([], "no results given"), ([folder / "none"], "cannot be read"),
                             ([folder / "empty"], "no run.sqlite in this folder"),
                             ([folder / "text.sqlite"], "not a results file of xoff"),
                             ([old], "results of another version"), ([cut], "truncated"),
                             (["--nonsense", folder / "slow"], "unrecognized option")):
        run = xoff("explain", *arguments)
        check(f"{arguments}", run.returncode == 2 and words in run.stderr and not run.stdout, run)


def main():
    print(f"seed {SEED}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_planted(folder)
        check_healthy(folder)
        check_output(folder)
        check_jobs(folder)
        check_try(folder)
        check_bad_input(folder)
    finish()


main()

"""What `xoff explain` has to say of the shipped scenarios: the worst root of each variant, and docs/explained.md.

    tests/scenario/run_test.py build/xoff /tmp/digests.json --update      # writes docs/explained.md anew

ROOTS has the worst root of each variant as "KIND PLACE", "" for a healthy network; "*" stands for the
variants that are not named. The place is the host of an incast or a receiver, else the node, or NODE-PEER.
"""
import difflib
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/explained.md"
GUIDE = ROOT / "docs/explain.md"
IN_GUIDE = "slow-receiver.yaml"
ROOTS = {
    "capfc.yaml": {"*": "incast h0"},
    "cioq.yaml": {"*": "", "fifo": "incast h18"},
    "cioq-hogging.yaml": {"*": "incast h4", "fast": ""},
    "collectives.yaml": {"*": ""},
    "dcb-interop.yaml": {"*": "incast i3"},
    "dcbx-baseline.yaml": {"*": "incast h0", "ieee": "ignored-pauses h2"},
    "dcbx-forwarding.yaml": {"*": ""},
    "dcbx-push-down.yaml": {"*": "incast h3"},
    "dcbx-unwilling.yaml": {"*": "incast h0", "apart": "ignored-pauses h1"},
    "dsh.yaml": {"*": "incast h0", "DSH": ""},
    "dsh-edge.yaml": {"*": "stuck-receiver h0"},
    "e2cm.yaml": {"*": ""},
    "ecm.yaml": {"*": "", "pfc": "incast h4"},
    "egress-trigger.yaml": {"*": "incast h5"},
    "ets-shares.yaml": {"*": "incast h3", "strict": "starvation s0-h3"},
    "fcoe-lossy-link.yaml": {"*": "incast h0"},
    "fork-ecn.yaml": {"*": ""},
    "fecn.yaml": {"*": "incast h100", "four": "", "probes": ""},
    "frame-errors.yaml": {"*": "link-errors leaf0-spine0", "crowded": "incast h0"},
    "gateway.yaml": {"*": "slow-link gA-rB", "far-pfc": "slow-link gB-h2",
        "far-occupancy": "slow-link gB-h2"},
    "hotspot.yaml": {"*": "incast h6"},
    "incast-pfc.yaml": {"*": "incast h0"},
    "insurance-only.yaml": {"*": "incast h0"},
    "leafspine-websearch.yaml": {"*": "incast h23"},
    "link-failure.yaml": {"*": "link-failure leaf0-spine0"},
    "load-balancers.yaml": {"*": "slow-link leaf0-spine0", "flowlet": "", "adaptive": ""},
    "pause-policies.yaml": {"*": "incast h9"},
    "pause-vs-pfc.yaml": {"*": "incast h8"},
    "pipeline.yaml": {"*": "incast h0"},
    "qcn.yaml": {"*": "", "pfc": "incast h4"},
    "quickstart.yaml": {"*": "incast h2"},
    "rate-control-race.yaml": {"*": "incast h10", "efecn": ""},
    "receive-queue.yaml": {"*": "slow-receiver h2"},
    "ring-deadlock.yaml": {"*": "deadlock s0", "lossy": "oversubscription s0-s1",
        "turned": "oversubscription s2-s3"},
    "shared-limit.yaml": {"*": ""},
    "slow-receiver.yaml": {"*": "slow-receiver h2"},
    "stuck-nic.yaml": {"*": "", "stuck": "stuck-receiver h2"},
    "tpfc.yaml": {"*": "incast h0"},
    "tpfc-multihop.yaml": {"*": "incast sink"},
    "transports.yaml": {"*": "incast h19", "dcqcn-nic": "incast h27", "hpcc": "", "powertcp": "",
        "theta": "", "dctcp": "incast h28"},
    "two-kinds-of-leaf.yaml": {"*": "incast h31"},
}


def place(root):
    """Where a root is, as ROOTS says it."""
    if root["host"]:
        return root["host"]
    if root["kind"] in ("slow-link", "oversubscription", "link-failure", "link-errors", "starvation"):
        return f"{root['node']}-{root['peer']}"
    return root["node"]


class Explained:
    """Collects the explanations of results as they are made."""

    def __init__(self, xoff):
        self.xoff = xoff
        self.said = {}
        self.guide = None

    def explain(self, name, folder):
        """Explains the results of a scenario. Returns what is wrong with it, or None."""
        answer = json.loads(self._say("-j", folder))
        runs = answer["files"][0]["runs"]
        self.said[name] = self._say("--brief", folder)
        if name == IN_GUIDE:
            self.guide = self._say(folder)
        if name not in ROOTS:
            return "has no line in ROOTS of tests/scenario/explained.py"
        for run in runs:
            roots = run["explain"]["roots"]
            found = f"{roots[0]['kind']} {place(roots[0])}" if roots else ""
            wanted = ROOTS[name].get(run["variant"], ROOTS[name].get("*"))
            if found != wanted:
                return f"{run['variant']}: the worst root is '{found}', expected '{wanted}'"
        return None

    def _say(self, *arguments):
        return subprocess.run([self.xoff, "explain", *arguments], capture_output=True, text=True,
                              check=True, timeout=60).stdout

    def compare(self, update):
        """Compares all that was said with the pages, or writes them. Returns what is wrong."""
        wrong = []
        head = PAGE.read_text(encoding="utf-8").split("\n## ")[0].rstrip() + "\n"
        old = dict(re.findall(r"^## (\S+)\n\n```\n(.*?)```$", PAGE.read_text(encoding="utf-8"), re.M | re.S))
        if update:
            PAGE.write_text(head + "".join(f"\n## {name}\n\n```\n{text}```\n"
                                           for name, text in sorted(self.said.items())), encoding="utf-8")
        else:
            for name, text in self.said.items():
                if old.get(name) != text:
                    wrong += difflib.unified_diff(old.get(name, "").splitlines(), text.splitlines(),
                                                  f"docs/explained.md, {name}", "xoff explain", lineterm="")
        if self.guide:
            guide = GUIDE.read_text(encoding="utf-8")
            new = re.sub(r"(<!-- slow-receiver -->\n).*?(<!-- end -->)",
                         lambda m: f"{m[1]}```\n{self.guide}```\n{m[2]}", guide, flags=re.S)
            if update:
                GUIDE.write_text(new, encoding="utf-8")
            elif new != guide:
                wrong.append("docs/explain.md has another output of slow-receiver.yaml")
        if wrong:
            wrong.append("if it is meant: tests/scenario/run_test.py build/xoff /tmp/digests.json --update")
        return wrong

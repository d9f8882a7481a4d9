#!/usr/bin/python3
"""Campaigns in small: random networks hold what they must, planted faults are found and made small,
and a campaign that was killed goes on.

    soak_test.py SOAK

XOFF_QUICK set: fewer seeds, for slow builds.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

IS_QUICK = "XOFF_QUICK" in os.environ
SEEDS = 40 if IS_QUICK else 400


class Failed(Exception):
    pass


def check(condition, what, run=None):
    if not condition:
        raise Failed(f"{what}\n{run.stdout}{run.stderr}" if run else what)


def soak(program, folder, *arguments, status=0):
    run = subprocess.run([program, "-o", folder, *arguments], capture_output=True, text=True)
    check(run.returncode == status, f"exit status {run.returncode}, not {status}", run)
    return run


def figures(run):
    """Returns {"pause.pfc": 76, ...}: what took part, by the summary."""
    found = {}
    for line in run.stdout.splitlines():
        role, *words = line.split()
        for word, n in zip(words[::2], words[1::2]):
            if n.isdigit():
                found[f"{role}.{word}"] = int(n)
    return found


def random_networks(program, folder):
    run = soak(program, folder, "--seeds", f"1..{SEEDS}", "-j", str(os.cpu_count()))
    print(run.stdout)
    n = figures(run)
    check(f"{SEEDS} seeds" in run.stdout, "seeds are missing", run)
    # The draw must be worth its time.
    check(n["saw.pauses"] > SEEDS / 5, "few networks paused", run)
    check(n["saw.drops"] > SEEDS / 20, "few networks lost lossy frames", run)
    check(n["saw.flows"] > SEEDS * 3 / 4, "many networks are idle", run)
    refused = re.search(r"refused (\d+)", run.stdout)
    check(not refused or int(refused[1]) <= SEEDS / 50, "many draws are refused", run)
    if SEEDS >= 400:  # every kind takes part
        for fabric in "shared", "output-queued", "cioq", "pipeline":
            check(n.get(f"fabric.{fabric}", 0) > SEEDS / 20, f"few of {fabric}", run)
        for what in "transport.qcn", "transport.fecn", "transport.ecm", "transport.e2cm", \
                "traffic.flows", "traffic.allreduce", "with.dcbx", "with.changes", "pause.tpfc":
            check(n.get(what, 0) > 0, f"no {what}", run)


def faults(program, folder):
    """Each fault is found, and a small scenario still has it."""
    planted = [("loss", "loss"), ("crash", "crash"), ("threads", "threads"), ("books", "audit"),
               ("stuck", "stuck")]
    for fault, end in planted[:2] if IS_QUICK else planted:
        place = f"{folder}-{fault}"
        run = soak(program, place, "--seeds", "1..6" if IS_QUICK else "1..24", "--fault", fault, status=1)
        small = sorted(pathlib.Path(place).glob(f"{end}-*.yaml"), key=lambda f: f.stat().st_size)
        check(small, f"{fault} was not found as {end}", run)
        text = small[0].read_text()
        check(f": {end}: " in text.splitlines()[0], f"{small[0]} does not say what is wrong")
        if fault == "crash":
            same_crashes(place, small)
        check(text.count("\n") < 35, f"{small[0]} is not small:\n{text}")
        again = subprocess.run([program, "--fault", fault, "--file", small[0]],
                               capture_output=True, text=True)
        check(again.returncode == 1 and again.stdout.startswith(end), "not repeated", again)
        good = subprocess.run([program, "--file", small[0]], capture_output=True, text=True)
        check(good.returncode == 0, "the fault is not the planted one", good)


def same_crashes(folder, small):
    """A reduced scenario ends at the assertion at which its seed did; there are two."""
    journal = pathlib.Path(folder, "journal").read_text()
    for file in small:
        seed, why = re.match(r"# seed (\d+): crash: (.*)", file.read_text()).groups()
        check(re.search(rf"^{seed} crash .*\|{re.escape(why)}$", journal, re.M), f"{file}: not '{why}'")
    check("assertion at" in journal and "egress_bytes <= 9000" in journal, "no assertion in the journal")


def goes_on(program, folder):
    """A campaign that is killed again and again does each seed once, in the end all of them."""
    arguments = [program, "-o", folder, "--seeds", "1..60", "-j", "2"]
    for wait in 0.1, 0.25:
        campaign = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        campaign.send_signal(signal.SIGKILL)
        campaign.wait()
        time.sleep(0.1)  # workers end with it
    with open(f"{folder}/journal", "a", encoding="ascii") as journal:
        journal.write("61 ok")  # a line that was cut short
    soak(program, folder, *arguments[3:])
    lines = pathlib.Path(f"{folder}/journal").read_text().splitlines()
    seeds = [int(line.split()[0]) for line in lines if "|" in line]
    check(sorted(set(seeds)) == list(range(1, 61)), "seeds are missing")
    check(len(seeds) <= 60, f"{len(seeds) - 60} seeds were done twice")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for part in random_networks, faults, goes_on:
            part(program, f"{folder}/{part.__name__}")
            print(f"{part.__name__}: fine")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        print(failure)
        sys.exit(1)

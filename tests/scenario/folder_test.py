#!/usr/bin/python3
"""The folder of results: one command at a time, all files of a run or none, nothing lost.

    folder_test.py XOFF
"""
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish, xoff  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCAST = ROOT / "scenarios/incast-pfc.yaml"

# What two runs leave that share three files.
OLD = ["--csv", "--no-report"]
OLD_FILES = ["buffers.csv", "drops.csv", "flows.csv", "metrics.csv", "operations.csv",
             "pauses.csv", "ports.csv", "run.sqlite", "samples.csv", "summary.json"]
NEW = ["--capture", "h0", "--seed", "2", "--set", "stop=1900us"]
NEW_FILES = ["capture-h0-0.pcapng", "metrics.csv", "report.html", "run.sqlite", "summary.json"]


def files(folder):
    """What is seen there; names that begin with .xoff- are the command's own."""
    return sorted(p.name for p in folder.iterdir() if not p.name.startswith(".xoff-"))


def digest(folder):
    """That of all files in which one is; None: they differ."""
    with contextlib.closing(sqlite3.connect(f"file:{folder}/run.sqlite?mode=ro", uri=True)) as db:
        found = {row[0] for row in db.execute("select digest from run")}
    found |= {r["digest"] for r in json.loads((folder / "summary.json").read_text())["runs"]}
    page, capture = folder / "report.html", folder / "capture-h0-0.pcapng"
    if page.exists():
        found |= set(re.findall(r'"digest":"([0-9a-f]{16})"', page.read_text()))
    if capture.exists():
        found |= {m.decode() for m in re.findall(b"digest ([0-9a-f]{16})", capture.read_bytes())}
    return found.pop() if len(found) == 1 else None


def run_old(folder):
    run = xoff("run", INCAST, "-o", folder, *OLD)
    check("a run with tables", run.returncode == 0 and files(folder) == OLD_FILES, run)
    return digest(folder)


def check_states(what, folder, old, new):
    """Old or new, whole. Returns whether it is new."""
    found, state = files(folder), digest(folder)
    is_new = found == NEW_FILES and state == new
    check(f"{what}: all old or all new, not {found} {state}",
          is_new or (found == OLD_FILES and state == old))
    return is_new


def check_lock(folder):
    long = folder / "long.yaml"
    quick = (ROOT / "scenarios/quickstart.yaml").read_text()
    long.write_text(quick.replace("stop: 2ms", "stop: 60s").split("measure:")[0])
    out = folder / "locked"
    first = subprocess.Popen([XOFF, "run", long, "-j", "-o", out], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if (out / ".xoff-lock").exists() and (out / ".xoff-lock").read_text():
            break
        time.sleep(0.05)
    for verb in (["run", INCAST, "-o", out], ["reproduce", "dsh", "--quick", "-o", out],
                 ["report", out]):
        run = xoff(*verb)
        check(f"a second {verb[0]} is told who has the folder", run.returncode == 2 and
              f"process {first.pid} on " in run.stderr and str(out) in run.stderr, run)
    first.send_signal(signal.SIGINT)
    told, _ = first.communicate(timeout=60)
    check("the first goes on, and its results are there",
          digest(out) == json.loads(told)["runs"][0]["digest"])
    check("and the lock is gone", not list(out.glob(".*")) and not list(folder.glob(".*")))

    first = subprocess.Popen([XOFF, "run", long, "-o", out], stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    first.kill()
    first.wait()
    check("a killed run leaves its lock", (out / ".xoff-lock").exists())
    run = xoff("run", INCAST, "-o", out)
    check("which is no obstacle", run.returncode == 0 and not list(out.glob(".*")), run)
    before = files(out)
    run = xoff("report", out)
    check("a report locks the folder, and leaves all else in it", run.returncode == 0 and
          files(out) == before and not list(out.glob(".*")), run)
    run = xoff("report", folder / "gone/a")
    check("and makes no folder", run.returncode == 2 and not (folder / "gone").exists(), run)

    seeds = [subprocess.Popen([XOFF, "run", INCAST, "--seed", str(i), "--no-report"], cwd=folder,
                              stdout=subprocess.DEVNULL) for i in range(1, 5)]
    check("runs of several seeds at once", [p.wait() for p in seeds] == [0] * 4)
    check("have folders of their own", all((folder / f"run-incast-pfc-seed{i}/run.sqlite").exists()
                                           for i in range(1, 5)))
    run = xoff("run", INCAST, "--no-report", cwd=folder)
    check("without a seed the folder has the name of the file", run.returncode == 0 and
          (folder / "run-incast-pfc/run.sqlite").exists(), run)

    # Many at once into one folder: whoever was not told to wait has succeeded, and one is whole.
    racers = [subprocess.Popen([XOFF, "run", INCAST, "-o", out, "--seed", str(i)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
              for i in range(8)]
    ended = {p.wait() for p in racers}
    check(f"many runs into one folder: {ended}", 0 in ended and ended <= {0, 2} and
          digest(out) is not None and not list(out.glob(".*")) and not list(folder.glob(".*")))


def check_kills(folder):
    parent = folder / "kills"
    out = parent / "x"
    new_run = xoff("run", INCAST, "-o", out, *NEW)
    new = digest(out)
    check("a run with a page and a capture", new_run.returncode == 0 and files(out) == NEW_FILES,
          new_run)
    old = run_old(out)
    began = time.monotonic()
    xoff("run", INCAST, "-o", out, *NEW)
    lasts = time.monotonic() - began
    counts = [0, 0]
    source = random.Random(11)
    for i in range(30):
        run_old(out)
        process = subprocess.Popen([XOFF, "run", INCAST, "-o", out, *NEW],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(source.uniform(0, 1.2 * lasts))
        process.kill()
        process.wait()
        counts[check_states(f"killed, {i}", out, old, new)] += 1
    print(f"killed 30 times: {counts[0]} times old, {counts[1]} times new")
    run_old(out)
    check("nothing is left beside", [p.name for p in parent.iterdir()] == ["x"])


def check_full(folder):
    """Files that may not grow, at many sizes; and a disk that is full, if one can be made."""
    out = folder / "full"
    xoff("run", INCAST, "-o", out, *NEW)
    new, largest = digest(out), max(p.stat().st_size for p in out.iterdir())
    old = run_old(out)
    for part in (0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1):
        run_old(out)
        limit = int(largest * part)

        def set_limit(limit=limit):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        run = xoff("run", INCAST, "-o", out, *NEW, preexec_fn=set_limit)
        is_new = check_states(f"files of at most {limit} bytes", out, old, new)
        check(f"files of at most {limit} bytes: the status tells", is_new == (part == 1) and
              run.returncode == (0 if is_new else 1) and (is_new or (
                  f"cannot write {out}/" in run.stderr or f"{out}/report.html" in run.stderr)), run)
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk],
                      capture_output=True).returncode:
        print("no disk of our own: not filled")
        return
    try:
        sub = disk / "sub"
        old = run_old(sub)
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        ends = set()
        for left in (0, 20000, 100000, 400000, 1500000, 12000000):
            (disk / "ballast").write_bytes(bytes(max(0, free - left)))
            run = xoff("run", INCAST, "-o", sub, *NEW)
            is_new = check_states(f"{left} bytes left", sub, old, new)
            check(f"{left} bytes left: the status tells",
                  run.returncode == (0 if is_new else 1) and (is_new or run.stderr), run)
            ends.add(is_new)
            check(f"{left} bytes left: nothing beside", not list(disk.glob(".*")))
            (disk / "ballast").unlink()
            run_old(sub)
        check("the disk was full, and was not", ends == {False, True})
        # A mount point cannot be exchanged; its files can.
        run = xoff("run", INCAST, "-o", disk, *NEW)
        check("a mount point", run.returncode == 0 and files(disk) == sorted([*NEW_FILES, "sub"])
              and digest(disk) == new, run)
    finally:
        subprocess.run(["umount", disk], check=True)


def check_places(folder):
    out = folder / "theirs"
    (out / "plots").mkdir(parents=True)
    (out / "plots/one.svg").write_text("<svg/>")
    (out / "notes.txt").write_text("mine")
    for options, made in ((OLD, OLD_FILES), (NEW, NEW_FILES)):
        run = xoff("run", INCAST, "-o", out, *options)
        check("files of others stay", run.returncode == 0 and digest(out) is not None and
              files(out) == sorted([*made, "notes.txt", "plots"]) and
              (out / "plots/one.svg").read_text() == "<svg/>" and
              (out / "notes.txt").read_text() == "mine", run)
    empty = folder / "empty"
    empty.mkdir(0o750)
    run = xoff("run", INCAST, "-o", empty, *NEW)
    check("an empty folder is filled and keeps its mode", run.returncode == 0 and
          files(empty) == NEW_FILES and empty.stat().st_mode & 0o777 == 0o750, run)
    check("the page calls the run by its folder", '"name":"empty"' in
          (empty / "report.html").read_text())
    inode = empty.stat().st_ino
    run = xoff("run", INCAST, "-o", ".", *OLD, cwd=empty)
    check("the current folder", run.returncode == 0 and files(empty) == OLD_FILES and
          empty.stat().st_ino == inode, run)
    (folder / "block" / "summary.json").mkdir(parents=True)
    run = xoff("run", INCAST, "-o", folder / "block")
    check("a folder in the place of a file", run.returncode == 1 and "block/summary.json" in
          run.stderr and ".xoff" not in run.stderr and files(folder / "block") == ["summary.json"],
          run)

    # A parent that cannot be written; root can write anywhere, so it becomes somebody else.
    closed = folder / "closed"
    (closed / "in").mkdir(parents=True)
    become = None
    if os.geteuid() == 0:
        def become():
            os.setgid(65534)
            os.setuid(65534)
        os.chown(closed / "in", 65534, 65534)
        folder.chmod(0o755)
        try:
            xoff("--version", preexec_fn=become)
        except OSError:
            print("nobody else may run this program: no parent that cannot be written")
            return
    closed.chmod(0o555)
    for options, made in ((OLD, OLD_FILES), (NEW, NEW_FILES)):
        run = xoff("run", INCAST, "-o", closed / "in", *options, preexec_fn=become)
        check("a folder in one that cannot be written", run.returncode == 0 and
              files(closed / "in") == made and digest(closed / "in") is not None, run)
    run = xoff("run", INCAST, "-o", closed / "new", preexec_fn=become)
    check("but none can be made there", run.returncode == 1 and "closed/new" in run.stderr and
          files(closed) == ["in"], run)
    closed.chmod(0o755)


with tempfile.TemporaryDirectory() as name:
    base = pathlib.Path(name)
    check_lock(base)
    check_kills(base)
    check_full(base)
    check_places(base)
finish()

#!/usr/bin/python3
"""Every system call that a command makes for its files fails once: the n-th, for all n.

    fault_test.py XOFF [KILLS]

strace lets one call fail, in `run`, `report` and `reproduce`. Afterwards the folder has all earlier
files or all new ones, the status is that of a failure (or of success, where the call was not needed),
a failure names its cause, and the next command leaves nothing behind. Then a run is killed at random
times, KILLS times (default 20).
"""
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
XOFF = str(pathlib.Path(sys.argv[1]).resolve())
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
SCENARIO = """topology: {kind: star, hosts: 3}
stop: 20us
traffic: [{kind: incast, from: h1..h2, to: h0, size: 3KB}]
"""
# Calls, and the reason that each gives. Writes are many and alike: of those a share is taken.
CALLS = {"openat": "EMFILE", "mkdir": "EACCES", "rename": "EIO", "renameat2": "EIO",
         "fsync": "EIO", "write": "ENOSPC", "pwrite64": "ENOSPC", "ftruncate": "EIO",
         "unlink": "EIO", "mmap": "ENOMEM"}
# The words of the system, or those of the database.
CAUSES = {"EMFILE": ["Too many open files", "unable to open"], "EACCES": ["Permission denied"],
          "EIO": ["Input/output error", "disk I/O error"], "ENOMEM": ["memory"],
          "ENOSPC": ["No space left", "disk is full", "cannot write to standard output"]}
MOST = 8  # of one kind, spread evenly; the first and the last are among them
wrong = []


def check(what, holds, run=None):
    if not holds:
        wrong.append(what)
        print(f"wrong: {what}")
        if run is not None:
            print(run.returncode, run.stdout[-500:], run.stderr[-500:])


def files(folder):
    """Names and contents, but for the command's own."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith(".xoff-")}


def own(folder):
    return [p for p in (*folder.glob(".xoff-*"), *folder.parent.glob(".*xoff-*"))]


def seed_of(content):
    """The seed that all files of a run agree on; None: they do not."""
    found = set()
    if "summary.json" in content:
        found |= set(re.findall(rb'"seed": ?(\d+)', content["summary.json"]))
    if "report.html" in content:
        found |= set(re.findall(rb'"seed":(\d+)', content["report.html"]))
    return found.pop() if len(found) == 1 else None


def count(command, call, cwd):
    run = subprocess.run(["strace", "-f", "-c", "-e", f"trace={call}", "-o", cwd / "count",
                          *command], capture_output=True, cwd=cwd, timeout=120, check=False)
    lines = (cwd / "count").read_text().splitlines()
    calls = [int(line.split()[3]) for line in lines if line.split() and line.split()[-1] == call]
    return calls[0] if calls and run.returncode == 0 else 0


def fail_each(what, command, folder, prepare, is_whole):
    """Lets each call of the command fail; is_whole() judges the folder: True for new, False for old,
    None for neither."""
    told, n_done = {}, 0
    for call, reason in CALLS.items():
        prepare()
        n = count(command, call, folder.parent)
        first = 1 + count([XOFF, "--version"], call, folder.parent)  # after those of the loader
        step = max(1, -(-(n - first) // MOST))
        for nth in sorted({*range(first, n + 1, step), *([n] if n >= first else [])}):
            prepare()
            run = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                                  f"inject={call}:error={reason}:when={nth}", *command],
                                 capture_output=True, text=True, cwd=folder.parent, timeout=120,
                                 check=False)
            where = f"{what}: {call} {nth} of {n}"
            n_done += 1
            state = is_whole()
            check(f"{where}: whole, old or new", state is not None, run)
            check(f"{where}: status {run.returncode}", run.returncode in (0, 1, 2), run)
            check(f"{where}: success means new", run.returncode or state, run)
            check(f"{where}: a failure names its cause", run.returncode == 0 or
                  any(word in run.stderr for word in CAUSES[reason]), run)
            check(f"{where}: by the names of final places", ".xoff-" not in run.stderr or
                  "-lock" in run.stderr, run)
            told[run.returncode] = told.get(run.returncode, 0) + 1
    prepare()
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent, check=False)
    check(f"{what}: the next command works", run.returncode == 0 and is_whole(), run)
    check(f"{what}: and leaves nothing behind", not own(folder), run)
    print(f"{what}: {n_done} calls failed; by status: {told}")


def check_run(base):
    folder, kept = base / "run" / "x", base / "kept"
    folder.parent.mkdir()
    (folder.parent / "s.yaml").write_text(SCENARIO)
    command = [XOFF, "run", "s.yaml", "-o", "x"]
    subprocess.run([*command, "--seed", "7"], capture_output=True, cwd=folder.parent, check=True)
    shutil.copytree(folder, kept)

    def prepare():
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)

    def is_whole():
        content = files(folder)
        new = seed_of(content) == b"1"
        # A page that cannot be made of good results is left out, with a message.
        if sorted(content) == ["metrics.csv", "run.sqlite", "summary.json"] and new:
            return True
        if sorted(content) != ["metrics.csv", "report.html", "run.sqlite", "summary.json"]:
            return None
        return {b"7": False, b"1": True}.get(seed_of(content))
    fail_each("run", command, folder, prepare, is_whole)
    return folder, prepare, is_whole


def check_report(base):
    folder, kept = base / "run" / "x", base / "kept"
    page = (kept / "report.html").read_bytes()
    old = page.replace(b"</html>", b"<!-- old --></html>")

    def prepare():
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        (folder / "report.html").write_bytes(old)

    def is_whole():
        content = files(folder)
        if sorted(content) != ["metrics.csv", "report.html", "run.sqlite", "summary.json"] or \
                content["run.sqlite"] != (kept / "run.sqlite").read_bytes():
            return None
        return {old: False, page: True}.get(content["report.html"])
    fail_each("report", [XOFF, "report", "x"], folder, prepare, is_whole)


def check_kills(folder, prepare, is_whole):
    source, counts = random.Random(5), [0, 0]
    command = [XOFF, "run", "s.yaml", "-o", "x"]
    began = time.monotonic()
    subprocess.run(command, capture_output=True, cwd=folder.parent, check=True)
    lasts = time.monotonic() - began
    prepare()
    for i in range(KILLS):
        process = subprocess.Popen(command, cwd=folder.parent, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(source.uniform(0, 1.2 * lasts))
        process.kill()
        process.wait()
        state = is_whole()
        check(f"killed, {i}: old or new", state is not None)
        if state is None or state:
            prepare()
        counts[bool(state)] += 1
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent, check=False)
    check("after all kills", run.returncode == 0 and is_whole() and not own(folder), run)
    print(f"killed {KILLS} times: {counts[0]} times old, {counts[1]} times new")


if not shutil.which("strace") or subprocess.run(["strace", "true"], capture_output=True,
                                                check=False).returncode:
    print("no strace here: nothing tested")
    sys.exit(77)
if b"__asan_init" in pathlib.Path(XOFF).read_bytes():
    print("the sanitizer ends a process whose memory calls fail: nothing tested")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    made = pathlib.Path(name)
    state_of_run = check_run(made)
    check_report(made)
    check_kills(*state_of_run)
print(f"{len(wrong)} wrong")
sys.exit(1 if wrong else 0)

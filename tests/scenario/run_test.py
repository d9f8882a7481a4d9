#!/usr/bin/python3
"""Every shipped scenario runs, its expectations hold (or it fails as it should), and its digest is noted for other builds.

    run_test.py XOFF DIGESTS [SCENARIO...]

DIGESTS is the JSON file to write: scenario file to the digests of its variants. It is there only
when all went well. What happens on several threads is the equality suite's business; here the
first scenario shows that the command passes --threads on. With XOFF_QUICK set (under sanitizers)
the long ones end early, whatever they then expect. --update writes docs/explained.md anew.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from explained import Explained  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# These show what a failed run looks like: the words that must be among the verdict.
FAILS = {"stuck-nic.yaml": ["flows did not finish", "operations did not finish",
                            "no expectation of stuck"]}
LONG = {"leafspine-websearch.yaml", "transports.yaml"}
THREADED = "quickstart.yaml"


def is_cut_short(file):
    return "XOFF_QUICK" in os.environ and file.name in LONG


def run(xoff, file, threads, folder):
    is_cut = is_cut_short(file)
    more = ["--set", "stop=150us", "--set", "drain=0s"] if is_cut else []
    done = subprocess.run([xoff, "run", file, "-j", "--threads", threads, "-o", folder, *more],
                          capture_output=True, timeout=240)
    said = done.stderr.decode(errors="replace")
    fails = FAILS.get(file.name)
    if fails and (done.returncode != 1 or not all(words in said for words in fails)):
        return None, f"exit status {done.returncode}, should be 1 for {fails}: {said}"
    if done.returncode != 0 and not fails and not (is_cut and done.returncode == 1):
        return None, f"exit status {done.returncode}: {said}"
    for name in ("run.sqlite", "summary.json"):
        if not (pathlib.Path(folder) / name).is_file():
            return None, f"left no {name}"
    runs = json.loads(done.stdout)["runs"]
    if any(r["performance"]["threads"] != int(threads) for r in runs):
        return None, f"did not run on {threads} threads"
    return [r["digest"] for r in runs], None


def main():
    xoff = pathlib.Path(sys.argv[1]).resolve()
    noted = pathlib.Path(sys.argv[2])
    noted.unlink(missing_ok=True)
    names = [a for a in sys.argv[3:] if a != "--update"] or sorted(
        f.name for f in (ROOT / "scenarios").glob("*.yaml") if not f.name.startswith("sweep-"))
    digests = {}
    failed = 0
    explained = Explained(xoff)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for threads in ("1", "2", "4") if name == THREADED else ("1",):
                found, wrong = run(xoff, ROOT / "scenarios" / name, threads, folder)
                if not wrong and digests.setdefault(name, found) != found:
                    wrong = f"digests {found}, one thread had {digests[name]}"
                if not wrong and threads == "1" and not is_cut_short(ROOT / "scenarios" / name):
                    wrong = explained.explain(name, folder)
                if wrong:
                    failed += 1
                    print(f"{name}, {threads} threads: {wrong}")
    differences = explained.compare("--update" in sys.argv)
    failed += bool(differences)
    print(*differences, sep="\n")
    print(f"{len(names)} scenarios, {failed} wrong")
    if failed or not names:
        sys.exit(1)
    noted.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")


main()

#!/usr/bin/python3
"""What `xoff check` says: of each file in bad/ one located error, with exit status 2; of each in
warned/ one located warning, with status 0.

    bad_test.py XOFF

The first line of a file is `# expect: TEXT`; TEXT must be in the error or warning. `# expect: nothing`
stands for no warning: the nearest that is right.
"""
import pathlib
import re
import subprocess
import sys


def check(xoff, kind, status, least):
    """Returns whether all files of a folder, at least so many, are treated as expected."""
    folder = pathlib.Path(__file__).resolve().parent / kind
    files = sorted(folder.glob("*.yaml"))
    failed = 0
    for file in files:
        first = file.read_bytes().split(b"\n", 1)[0].decode()
        expected = first.removeprefix("# expect: ")
        run = subprocess.run([xoff, "check", file], capture_output=True, timeout=60)
        error = run.stderr.decode(errors="replace")
        said = 0 if expected == "nothing" else 1
        word = "warning: " if status == 0 else ""
        place = re.match(re.escape(str(file)) + r":\d+:\d+: " + word, error)
        wrong = []
        if expected == first:
            wrong.append("has no line '# expect: TEXT'")
        if run.returncode != status:
            wrong.append(f"exit status {run.returncode}")
        if said and not place:
            wrong.append("no file:line:column")
        if error.count("\n") != said:
            wrong.append("not one line" if said else "not silent")
        if said and expected not in error:
            wrong.append(f"lacks '{expected}'")
        if wrong:
            failed += 1
            print(f"{file.name}: {', '.join(wrong)}: {error.strip()}")
    print(f"{kind}: {len(files) - failed} of {len(files)} files as expected")
    return not failed and len(files) >= least


command = pathlib.Path(sys.argv[1]).resolve()
good = [check(command, "bad", 2, 100), check(command, "warned", 0, 8)]
sys.exit(0 if all(good) else 1)

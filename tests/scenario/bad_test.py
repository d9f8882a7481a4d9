#!/usr/bin/python3
"""Every file of tests/scenario/bad/ makes `xoff check` print one located error and exit 2.

    bad_test.py XOFF

The first line of a file is `# expect: TEXT`; TEXT must be in the error.
"""
import pathlib
import re
import subprocess
import sys


def main():
    xoff = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(__file__).resolve().parent / "bad"
    files = sorted(folder.glob("*.yaml"))
    failed = 0
    for file in files:
        first = file.read_bytes().split(b"\n", 1)[0].decode()
        expected = first.removeprefix("# expect: ")
        run = subprocess.run([xoff, "check", file], capture_output=True, timeout=60)
        error = run.stderr.decode(errors="replace")
        place = re.match(re.escape(str(file)) + r":\d+:\d+: ", error)
        wrong = []
        if expected == first:
            wrong.append("has no line '# expect: TEXT'")
        if run.returncode != 2:
            wrong.append(f"exit status {run.returncode}")
        if not place:
            wrong.append("no file:line:column")
        if error.count("\n") != 1:
            wrong.append("not one line")
        if expected not in error:
            wrong.append(f"lacks '{expected}'")
        if wrong:
            failed += 1
            print(f"{file.name}: {', '.join(wrong)}: {error.strip()}")
    print(f"{len(files) - failed} of {len(files)} files refused as expected")
    sys.exit(1 if failed or len(files) < 30 else 0)


main()

#!/usr/bin/python3
"""A mechanism added as ARCHITECTURE.md says ("Adding a mechanism") builds, passes and runs.

    template_test.py BUILD

Copies the tree and the build folder aside, adds the scheduler of tests/template/, and demands that
the files touched are those that the page names, no more and no fewer; then that the command, the
mechanism's test and its scenario work, that the scenario fails with another scheduler, and that
tools/tidy has nothing to say.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
TEMPLATE = {"lowest.c": "src/mech/sched", "lowest_test.c": "src/mech/sched",
            "lowest.md": "docs/mechanisms", "lowest.yaml": "scenarios"}
# file: (line to find, what to put behind it)
LINES = {
    "src/mech/mechanisms.h": ("extern const struct xoff_sched_ops xoff_sched_strict;",
                              "extern const struct xoff_sched_ops xoff_sched_lowest;"),
    "src/mech/registry.c": ("    &xoff_sched_strict,", "    &xoff_sched_lowest,"),
    "docs/README.md": ("| [pfc.md](mechanisms/pfc.md) | PAUSE and PFC: frames, response time, gate, "
                       "refresh, headroom |", "| [lowest.md](mechanisms/lowest.md) | an order |"),
    "CHANGELOG.md": ("What a user would notice, newest first.", "\n- `scheduler: lowest`."),
}
MESON = (("'src/mech/sched/fifo.c',", "'src/mech/sched/fifo.c',\n  'src/mech/sched/lowest.c',"),
         ("'mech/sched/fifo',", "'mech/sched/fifo',\n    'mech/sched/lowest',"))


def fail(what):
    print(what)
    sys.exit(1)


def run(folder, *command, status=0):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)
    if done.returncode != status:
        fail(f"{' '.join(map(str, command))}: exit status {done.returncode}, wanted {status}\n"
             f"{done.stdout[-3000:]}{done.stderr[-3000:]}")


def replace_once(file, old, new):
    text = file.read_text()
    if text.count(old) != 1:
        fail(f"{file.name} has {old!r} {text.count(old)} times, not once")
    file.write_text(text.replace(old, new))


def copy_tree(tree):
    def left_out(folder, names):
        top = pathlib.Path(folder) == ROOT
        return [n for n in names if n in (".git", "node_modules", "__pycache__") or
                top and (n.startswith(("build", "run-", "reproduce")))]

    shutil.copytree(ROOT, tree, ignore=left_out, symlinks=True)
    (tree / "web/node_modules").symlink_to(ROOT / "web/node_modules")
    shutil.copytree(BUILD, tree / "build", symlinks=True)


def add_mechanism(tree):
    """Returns the files touched."""
    touched = {"meson.build", "docs/scenario.md"}
    for name, folder in TEMPLATE.items():
        shutil.copy(ROOT / f"tests/template/{name}.in", tree / folder / name)
        touched.add(f"{folder}/{name}")
    for old, new in MESON:
        replace_once(tree / "meson.build", old, new)
    for file, (old, new) in LINES.items():
        replace_once(tree / file, old + "\n", f"{old}\n{new}\n")
        touched.add(file)
    return touched


def check_page(touched):
    page = (ROOT / "ARCHITECTURE.md").read_text()
    section = re.search(r"^## Adding a mechanism\n(.*?)^Nothing else changes", page, re.S | re.M)
    if not section:
        fail("ARCHITECTURE.md has no list that ends in 'Nothing else changes'")
    names = re.findall(r"`([\w./<>-]+\.(?:c|h|md|yaml|build))`", section[1])
    named = {re.sub(r"\bx(?=[._])", "lowest", n).replace("<role>", "sched") for n in names}
    if named != touched:
        fail(f"ARCHITECTURE.md and what was touched differ: {sorted(named ^ touched)}")


def main(folder):
    tree = folder / "tree"
    copy_tree(tree)
    check_page(add_mechanism(tree))
    run(tree, "meson", "setup", "--reconfigure", "build")
    run(tree, "ninja", "-C", "build", "xoff", "lowest_test", "doc_test", "libxoff.a")
    run(tree, "build/lowest_test")
    run(tree, "build/doc_test", tree, status=1)  # until the page is written anew
    run(tree, "build/doc_test", "--update", tree)
    run(tree, "build/doc_test", tree)
    run(tree, sys.executable, "tools/tidy", "--lib", "build/libxoff.a")
    run(tree, "build/xoff", "run", "scenarios/lowest.yaml", "-o", folder / "run")
    run(tree, "build/xoff", "run", "scenarios/lowest.yaml", "-o", folder / "run", "--set",
        "switch.scheduler=ets", status=1)
    print("the mechanism of the template builds, passes and runs")


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))

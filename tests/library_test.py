#!/usr/bin/python3
"""The installed libraries, as a program of somebody else finds them: by pkg-config, in C and in C++,
with only names that begin with xoff_. The examples are built and run against them.

    library_test.py BUILD
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILERS = (["cc", "-std=c11"], ["g++", "-std=c++17", "-xc++"], ["clang++", "-std=c++17", "-xc++"])
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
SAYS = {"headroom": "headroom                    135388 B\n",
        "nic": "3.017 us: storage waits, LAN may send\n    8.137 us: storage may send",
        "switch_core": "280 pause frames, 0 frames lost, 0 left\n"}
# A name of the library's own files, and of a header that is not installed with libxoff alone.
CONFORM = """#include <stdio.h>
#include <stdlib.h>
#include <xoff/conform.h>
int station_run(void);
int station_run(void) { return 0; }
void xoff_assert_fail(const char *expression, const char *file, int line)
{
    (void)expression; (void)file; (void)line;
    abort();
}
int main(void) { return xoff_conform_count() > 80 ? station_run() : 1; }
"""
wrong = []


def must(what, command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, **more)
    if done.returncode:
        wrong.append(what)
        print(f"{what}: exit status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.stdout


def build_and_run(what, compiler, source, flags, folder):
    program = folder / "program"
    must(f"{what} by {compiler[0]}",
         [*compiler, *STRICT, source, "-xnone", *flags, "-o", program])
    return must(f"{what} of {compiler[0]} runs", [program]) if not wrong else ""


def main(build, folder):
    must("install", ["meson", "install", "-C", build, "--no-rebuild", "--tags", "devel", "--destdir",
                     folder])
    pc = next(folder.rglob("xoff.pc")).parent
    os.environ.update(PKG_CONFIG_PATH=str(pc), PKG_CONFIG_SYSROOT_DIR=str(folder))
    flags = {name: must(f"pkg-config {name}", ["pkg-config", "--cflags", "--libs", name]).split()
             for name in ("xoff", "xoff_conform")}
    libraries = sorted(pc.parent.glob("*.a"))
    if [p.name for p in libraries] != ["libxoff.a", "libxoff_conform.a"]:
        wrong.append(f"libraries: {libraries}")
    for library in libraries:
        names = re.findall(r" [A-Z] (\S+)$", must("nm", ["nm", "-g", "--defined-only", library]), re.M)
        foreign = sorted({n for n in names if not n.startswith("xoff_")})
        if foreign or not names:
            wrong.append(library.name)
            print(f"{library.name} has names that do not begin with xoff_: {foreign}")
    examples = sorted((ROOT / "examples").glob("*.c"))
    if [e.stem for e in examples] != sorted(SAYS):
        wrong.append("an example is not tested")
    conform = folder / "conform.c"
    conform.write_text(CONFORM)
    for compiler in COMPILERS:
        if not shutil.which(compiler[0]):
            continue
        for example in examples:
            said = build_and_run(example.name, compiler, example, flags["xoff"], folder)
            if SAYS[example.stem] not in said:
                wrong.append(example.name)
                print(f"{example.name} by {compiler[0]} said:\n{said[-1000:]}")
    build_and_run("a device's test", COMPILERS[0], conform, flags["xoff_conform"], folder)
    sys.exit(1 if wrong else 0)


with tempfile.TemporaryDirectory() as name:
    main(sys.argv[1], pathlib.Path(name))

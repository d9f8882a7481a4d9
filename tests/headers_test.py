#!/usr/bin/python3
"""Installed headers serve programs in C99 and in C++17: each compiles alone, without a warning, and
what it declares is found in the library under its plain name.

    headers_test.py LIBXOFF
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include"]
LANGUAGES = {"c": ["cc", "-std=c99"], "cc": ["c++", "-std=c++17"]}

# Twice, as in a program that includes it by two ways.
ALONE = """#include <xoff/{0}>
#include <xoff/{0}>
int main(void) {{ return 0; }}
"""
PROGRAM = """#include <xoff/xoff.h>
#include <stdlib.h>
extern %s void xoff_assert_fail(const char *expression, const char *file, int line)
{
    (void)expression; (void)file; (void)line;
    abort();
}
int main(void) { return xoff_mmu_find("dsh") && !xoff_mmu_find("nonesuch") ? 0 : 1; }
"""
failed = 0


def must(what, *command):
    global failed
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        failed += 1
        print(f"{what}: exit status {done.returncode}\n{done.stderr[-3000:]}")
    return not done.returncode


def main(folder, library):
    headers = sorted(f.name for f in (ROOT / "include/xoff").glob("*.h"))
    for ending, compiler in LANGUAGES.items():
        source = folder / f"a.{ending}"
        for header in headers:
            source.write_text(ALONE.format(header))
            must(f"{header} alone, {compiler[1]}", *compiler, *STRICT, "-fsyntax-only", source)
        source.write_text(PROGRAM % ('"C"' if ending == "cc" else ""))
        if must(f"a program, {compiler[1]}", *compiler, *STRICT, source, library, "-o",
                folder / "a"):
            must(f"the program runs, {compiler[1]}", folder / "a")
    print(f"{len(headers)} headers, {failed} wrong")
    sys.exit(1 if failed or not headers else 0)


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name), sys.argv[1])

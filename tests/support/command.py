"""What tests of the command share: the program, which is their first argument, and the count of
what is wrong. A test begins with

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
    from command import check, finish, xoff

and ends with finish().
"""
import os
import pathlib
import subprocess
import sys

XOFF = str(pathlib.Path(sys.argv[1]).resolve())
wrong = []


def xoff(*args, **more):
    """Runs the command; `more` is for subprocess.run()."""
    usual = {"capture_output": True, "text": True, "timeout": 120, "check": False}
    return subprocess.run([XOFF, *map(str, args)], **usual | more)


def mpi_environment():
    """The environment for mpirun: more ranks than cores, possibly as root; an idle rank gives its
    core away; sanitizers do not tell of memory that MPI itself leaves."""
    suppressions = pathlib.Path(__file__).resolve().parent / "mpi.supp"
    return os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":fast_unwind_on_malloc=0",
        "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0"}


def check(what, holds, shown=None):
    """Notes and prints what does not hold, with `shown`: a process that ended, or any words."""
    if holds:
        return
    wrong.append(what)
    print(f"wrong: {what}")
    if isinstance(shown, subprocess.CompletedProcess):
        print(shown.returncode, shown.stdout[-3000:], shown.stderr[-2000:])
    elif shown:
        print(shown)


def finish():
    """Ends the test."""
    print(f"{len(wrong)} wrong")
    sys.exit(1 if wrong else 0)

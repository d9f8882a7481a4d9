"""What tests of the command share: the program, which is their first argument, and the count of
what is wrong. A test begins with

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
    from command import check, finish, xoff

and ends with finish().
"""
import os
import pathlib
import sqlite3
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


def tables(folder):
    """All tables of a run; of `run`, nothing that tells how fast it was or by how many."""
    db = sqlite3.connect(folder / "run.sqlite")
    names = [n for (n,) in db.execute("select name from sqlite_master where type = 'table'")]
    found = {n: db.execute(f'select * from "{n}"').fetchall() for n in names if n != "run"}
    found["run"] = db.execute("select digest, verdict, interrupted, end_at_ps, packet_hops, "
                              "control_hops, pauses_left_out from run").fetchall()
    db.close()
    return found


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

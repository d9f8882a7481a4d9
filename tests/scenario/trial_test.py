#!/usr/bin/python3
"""Buffer and pause policy are tried together before a run: where frames could be lost although all
pause as they should, `check` and `run` say so, to the byte.

    trial_test.py XOFF
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import check, finish, xoff  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def check_trial(folder):
    """A buffer that has no room for what arrives after a pause of egress queues is warned about."""
    file = folder / "trial.yaml"
    file.write_text("topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps}}\n"
                    "priorities: {3: {lossless: true}}\n"
                    "switch: {buffer: 2MB, pause: {kind: tpfc, lw: 200KB, hw: 1MB}}\n")
    words = "pauses are decided by egress queues here"
    for mmu in ("sih", "dsh", "static"):
        run = xoff("check", file, "--set", f"switch.mmu={mmu}")
        check(f"tpfc on a small share of {mmu}", run.returncode == 0 and words in run.stderr, run)
    run = xoff("check", file, "--set", "switch.mmu={alpha: 1024, reserved: 0B}")
    check("tpfc on the whole buffer", run.returncode == 0 and not run.stderr, run)
    # 67 frames are shared there, and each port has headroom for 11. The frame that reaches xoff is
    # the first of these: xoff of 68 frames loses nothing, 69 does.
    edge = [ROOT / "scenarios/tpfc.yaml", "--set", "switch.pause={kind: pfc, trigger: egress, "
            "partners: all, xon: 16742B, xoff: %dB}"]
    run = xoff("check", edge[0], edge[1], edge[2] % (68 * 1522))
    check("queues that pause in time", run.returncode == 0 and not run.stderr, run)
    run = xoff("check", edge[0], edge[1], edge[2] % (69 * 1522))
    check("and a frame later", run.returncode == 0 and words in run.stderr, run)
    # An input buffer of a crossbar has 111 frames for one port: 100 are shared, 11 headroom.
    for n, is_late in ((101, False), (102, True)):
        run = xoff("check", *edge[:2], edge[2] % (n * 1522), "--set", "switch.fabric=cioq")
        check(f"inputs of a crossbar, {n} frames",
              run.returncode == 0 and (words in run.stderr) == is_late, run)
    # There, too, the policy knows who sends, and pauses each.
    run = xoff("check", *edge[:2], (edge[2] % (50 * 1522)).replace("partners: all, ", ""), "--set",
               "switch.fabric=cioq")
    check("inputs of a crossbar, one by one", run.returncode == 0 and not run.stderr, run)
    # Queues of all ports together come to the limit of the pool before one has 10 KB, and most of
    # the buffer is empty then; two queues of 10 KB fit.
    file.write_text("topology: {kind: star, hosts: 16, host_link: {rate: 10Gbps, delay: 1us}}\n"
                    "priorities: {3: {lossless: true}}\n"
                    "switch: {buffer: 4MB, mmu: {kind: two-sided, ingress_limit: 20KB}, "
                    "pause: {kind: pfc, trigger: egress, xoff: 10KB, xon: 5KB}}\n")
    for limit, is_low in (("20KB", True), ("200KB", False)):
        run = xoff("check", file, "--set", f"switch.mmu.ingress_limit={limit}")
        check(f"a limit of {limit} for all ports",
              run.returncode == 0 and ("all together can come to a limit" in run.stderr) == is_low,
              run)
    # One queue at 100 KB is held by what an ingress may have, two of them are not: a run with a
    # sender for each loses frames.
    file.write_text("topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
                    "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"
                    "switch: {buffer: 1MB, pause: {kind: pfc, trigger: egress, xoff: 100KB, "
                    "xon: 10KB}}\n"
                    "transport: datagram\nstop: 400us\ndrain: 0s\nexpect: [drops.lossless > 0]\n"
                    "traffic: [{kind: cbr, from: h0, to: h2, priority: 3}, "
                    "{kind: cbr, from: h1, to: h2, priority: 4}]\n")
    run = xoff("run", file, "-o", folder / "lost", "--no-report")
    check("two full queues", run.returncode == 0 and words in run.stderr, run)
    run = xoff("check", file, "--set", "priorities.4.lossless=false")
    check("one full queue", run.returncode == 0 and not run.stderr, run)


def check_pipeline_trial(folder):
    """Egress queues of a pipeline have room above XOFF for what is in it and in flight, or not."""
    file = folder / "pipeline.yaml"
    file.write_text("topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 1us}}\n"
                    "priorities: {3: {lossless: true}}\n"
                    "switch: {buffer: 2MB, processing_delay: 2us, fabric: {kind: pipeline, "
                    "egress_queue: 46442B}, pause: {kind: pfc, trigger: egress, xoff: 20KB, "
                    "xon: 10KB}}\n"
                    "transport: datagram\nstop: 400us\ndrain: 0s\n"
                    "traffic: [{kind: cbr, from: h0..h1, to: h2, priority: 3}]\n")
    words = "a queue can come to 46442B"
    # 13 frames of 1518 B are below XOFF. Two ports bring 10854 B each after the decision, the frame
    # that causes it among them, and the pipeline has 2 us * 10 Gb/s of each: 19734 + 2 * 13354 B.
    run = xoff("run", file, "-o", folder / "kept", "--no-report")
    check("room for all that comes", run.returncode == 0 and not run.stderr, run)
    limit = ["--set", "switch.fabric.egress_queue=46441B"]
    run = xoff("check", file, *limit)
    check("and a byte less", run.returncode == 0 and words in run.stderr and
          f"{file}:3:" in run.stderr and "switch.fabric.egress_queue: 46441B" in run.stderr, run)
    run = xoff("check", file, *limit, "--set", "switch.fabric.full=stop")
    check("a pipeline that stops moves the loss to its inputs", run.returncode == 0 and
          f"{words}, which stops the pipeline" in run.stderr, run)
    run = xoff("check", file, *limit, "--set", "switch.pause=pfc")
    check("nor is it about pauses by ingress queues", run.returncode == 0 and not run.stderr, run)
    run = xoff("run", file, "-o", folder / "lost", "--no-report", "--set",
               "switch.fabric.egress_queue=22KB")
    check("frames are lost in a smaller one", run.returncode == 1 and words in run.stderr and
          "failed: frames of a lossless class were lost" in run.stdout, run)
    # A port that may send 8 * 1518 + 40 B sends eight frames: there is none of 40 B.
    for n, is_late in ((44022, False), (44021, True)):
        run = xoff("check", file, "--set", "switch.processing_delay=1064ns", "--set",
                   f"switch.fabric.egress_queue={n}B")
        check(f"what is too little for a frame, {n} B", run.returncode == 0 and
              ("a queue can come to 44022B" in run.stderr) == is_late, run)
    # In a shared memory an egress queue has 2000 B of its own and queue_limit.
    for n, is_late in ((44442, False), (44441, True)):
        run = xoff("check", file, "--set", "switch.fabric=pipeline", "--set",
                   f"switch.mmu={{kind: two-sided, queue_limit: {n}B}}")
        check(f"a shared memory, {n} B", run.returncode == 0 and
              ("switch.mmu.kind: two-sided: may lose" in run.stderr) == is_late, run)
    # XOFF of an egress queue is below what it can hold there.
    for kind in ("pfc, trigger: egress", "capfc"):
        for xoff_bytes, code in ((46441, 0), (46442, 2)):
            run = xoff("check", file, "--set", "switch.fabric={kind: pipeline, full: stop}", "--set",
                       "switch.mmu={kind: two-sided, queue_limit: 44442B}", "--set",
                       f"switch.pause={{kind: {kind}, xoff: {xoff_bytes}B, xon: 10KB}}")
            check(f"{kind}, xoff {xoff_bytes} B", run.returncode == code, run)


def check_two_sides(folder):
    """Only a pipeline has use for the egress side of a two-sided buffer."""
    file = folder / "sides.yaml"
    file.write_text("topology: {kind: star, hosts: 3}\npriorities: {3: {lossless: true}}\n"
                    "switch: {mmu: two-sided}\n")
    for fabric, is_warned in (("shared", True), ("output-queued", True), ("cioq", True),
                              ("pipeline", False)):
        run = xoff("check", file, "--set", f"switch.fabric={fabric}")
        check(f"two sides and {fabric}", run.returncode == 0 and
              ("switch.mmu.kind: two-sided: its egress side is not in use" in run.stderr) == is_warned,
              run)


with tempfile.TemporaryDirectory() as name:
    here = pathlib.Path(name)
    check_trial(here)
    check_pipeline_trial(here)
    check_two_sides(here)
finish()

#!/usr/bin/python3
"""Captures of whole runs as tshark reads them: nothing malformed, nothing unknown, and every IPv4,
UDP and TCP checksum, every FCS and every ICRC right. `xoff decode` finds nothing malformed either.

    whole_run_test.py XOFF

All captures are put into one file for tshark: a pcapng file may have any number of sections.
"""
import sys
import tempfile
from pathlib import Path

import oracle

XOFF = Path(sys.argv[1]).resolve()
LIMIT = 300  # frames of each port

STAR = """
title: Four senders, one receiver, all transports
seed: 1
stop: 3ms
drain: 0s
topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps, delay: 1us, error: 0.001}}
switch: {buffer: 200KB}
priorities: {3: {lossless: true}}
traffic:
  - {kind: cbr, name: flows, from: h0..h3, to: h4, priority: 3}
variants:
"""
TRANSPORTS = ("none", "dcqcn", "dcqcn-nic", "hpcc", "powertcp", "timely", "dctcp", "tcp", "qcn",
              "ecm", "e2cm", "fecn")
SEVERE = "  - {name: severe, set: {transport: fecn, " \
         "switch.marking: {kind: fecn, n0: 1, severe: 40000B}}}\n"
# Scenario, ports to capture.
RUNS = (("star", ("h0", "s0:4")), ("quickstart", ("leaf0:0", "h1")),
        ("slow-receiver", ("h0", "h2")), ("pause-vs-pfc", ("h0",)),
        ("dcbx-push-down", ("h0",)), ("dcbx-baseline", ("h0",)))
# Layers that must occur; those in the second line are xoff.lua's.
LAYERS = {"infiniband", "tcp", "macc", "vlan", "lldp",
          "cn-tag", "cnm", "bcn", "rrt", "rate-tag", "notice"}
STATUS = {"ip.checksum.status": "IPv4 checksum", "udp.checksum.status": "UDP checksum",
          "tcp.checksum.status": "TCP checksum", "eth.fcs.status": "FCS"}
BAD = "0"


def capture(folder, name, ports):
    """The octets of the captures, and for each frame where it comes from."""
    file = oracle.ROOT / "scenarios" / f"{name}.yaml"
    if name == "star":
        file = Path(folder) / "star.yaml"
        variants = [f"  - {{name: {t}, set: {{transport: {t}}}}}\n" for t in TRANSPORTS]
        file.write_text(STAR + "".join(variants) + SEVERE)
    out = Path(folder) / name
    oracle.run(XOFF, "run", file, "-o", out, "--no-report", "--capture-limit", LIMIT,
               *(word for port in ports for word in ("--capture", port)), status=(0, 1))
    files = sorted(out.glob("capture-*.pcapng"))
    if len(files) < len(ports):
        sys.exit(f"wrong: {name}: {len(files)} captures of {len(ports)} ports")
    octets = [f.read_bytes() for f in files]
    return b"".join(octets), [f"{name}, {f.name}, frame {i + 1}" for f, o in zip(files, octets)
                              for i, _ in enumerate(oracle.pcapng_frames(o))]


def complaint(frame, is_whole, read):
    """What is wrong with a frame, by tshark's reading of it and by its CRCs."""
    if read["_ws.malformed"]:
        return "malformed"
    layers = read["frame.protocols"][0].split(":")
    if layers[-1] in ("eth", "ethertype", "vlan") or ("data" in layers and "infiniband" not in
                                                      layers and "tcp" not in layers):
        return "unknown: " + ":".join(layers)
    is_hit = read["frame.packet_flags_crc_error"][0] in ("1", "True")
    for field, what in STATUS.items():
        if BAD in read[field] and not (is_hit and what == "FCS"):
            return "bad " + what
    if is_whole and oracle.fcs_is_right(frame) == is_hit:
        return "bad FCS" if not is_hit else "right FCS in a frame that an error has hit"
    if is_whole and oracle.icrc_is_right(frame) is False:
        return "bad ICRC"
    return None


def main():
    oracle.need(command="tshark")
    octets, places = b"", []
    with tempfile.TemporaryDirectory() as folder:
        for name, ports in RUNS:
            more, where = capture(folder, name, ports)
            octets += more
            places += where
        everything = Path(folder) / "all.pcapng"
        everything.write_bytes(octets)
        reads = oracle.tshark(everything, ["frame.protocols", "_ws.malformed", *STATUS,
                                           "frame.packet_flags_crc_error"])
        oracle.run(XOFF, "decode", "--count", everything)  # status 1: something is malformed
    frames = list(oracle.pcapng_frames(octets))
    if len(reads) != len(frames):
        sys.exit(f"wrong: tshark reads {len(reads)} of {len(frames)} frames")
    found = set()
    for (frame, length), place, read in zip(frames, places, reads):
        found.update(read["frame.protocols"][0].split(":"))
        wrong = complaint(frame, length == len(frame), read)
        if wrong:
            sys.exit(f"wrong: {place}: {wrong}\n{oracle.hex_dump(frame)}")
    if LAYERS - found:
        sys.exit(f"wrong: no frame with {', '.join(sorted(LAYERS - found))}")
    print(f"whole runs: {len(frames)} frames, nothing wrong")


main()

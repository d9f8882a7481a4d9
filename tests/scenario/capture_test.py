#!/usr/bin/python3
"""Captured ports as tshark reads them, against the run's own tables.

    capture_test.py XOFF

Nothing malformed, every checksum right, as many frames as the port counted, lengths as simulated,
pauses with their classes, quanta and reasons; and capturing changes nothing.
"""
import json
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENARIOS = ROOT / "scenarios"


def run(folder, file, *options, status=0):
    done = subprocess.run([XOFF, "run", file, "-j", "-o", folder, "--no-report", *options],
                          capture_output=True, timeout=240)
    check(f"{file} {options}: exit status {status}", done.returncode == status,
          f"{done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)["runs"] if not status else done.stderr.decode()


def tshark(file, *fields, where=""):
    """Rows of fields of the frames that the filter lets through."""
    command = ["tshark", "-r", file, "-n", "-o", "ip.check_checksum:TRUE",
               "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
               "-o", "eth.check_fcs:TRUE", "-Y", where, "-T", "fields", "-E", "occurrence=a"]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, timeout=240)
    if done.returncode:
        sys.exit(f"tshark: {done.stderr.decode(errors='replace')}")
    return [line.split("\t") for line in done.stdout.decode().splitlines()]


def tables(folder, query, *values):
    with sqlite3.connect(pathlib.Path(folder) / "run.sqlite") as db:
        return db.execute(query, values).fetchall()


def port_counts(folder, node, port):
    """Frames and bytes sent and received, frames marked, pause frames sent and received."""
    queue = tables(folder, """SELECT sum(queue_packets), sum(queue_bytes), sum(pg_packets),
        sum(pg_bytes), sum(queue_wred_ecn_marked_packets) FROM queue q
        JOIN node n ON n.id = q.node_id AND n.run_id = q.run_id
        WHERE n.name = ? AND q.port = ? AND q.run_id = 1""", node, port)[0]
    pause = tables(folder, """SELECT pause_tx_pkts, pause_rx_pkts FROM port p
        JOIN node n ON n.id = p.node_id AND n.run_id = p.run_id
        WHERE n.name = ? AND p.port = ? AND p.run_id = 1""", node, port)[0]
    return queue + pause


OUT, IN = "frame.packet_flags_direction == 2", "frame.packet_flags_direction == 1"


def check_frames(name, folder, node, port, file):
    """What holds of any capture of the first run."""
    # One reading for all: a status of 0 is a checksum that is wrong, an empty one that there is none.
    rows = tshark(file, "frame.time_epoch", "frame.cap_len", "frame.len", "macc.opcode",
                  "frame.packet_flags_direction", "frame.interface_name", "_ws.malformed",
                  "frame.comment", "ip.checksum.status", "udp.checksum.status",
                  "tcp.checksum.status", "eth.fcs.status")
    bad = [r for r in rows if r[6] or any("0" in s.split(",") for s in r[8:])]
    check(f"{name}: nothing malformed, no bad checksum", not bad, bad[:5])
    check(f"{name}: checksums are looked at", any("1" in s.split(",") for r in rows for s in r[8:]))
    times = [float(r[0]) for r in rows]
    check(f"{name}: in order of time", times == sorted(times))
    check(f"{name}: none longer than on the wire", all(int(r[1]) <= int(r[2]) for r in rows))
    counts = port_counts(folder, node, port)
    tx_frames, tx_bytes, rx_frames, rx_bytes, _, pause_tx, pause_rx = counts
    for word, direction, frames, n_bytes, pauses in (
            ("sent", 2, tx_frames, tx_bytes, pause_tx),
            ("received", 1, rx_frames, rx_bytes, pause_rx)):
        data = [r for r in rows if int(r[4], 0) == direction and not r[3]]
        control = [r for r in rows if int(r[4], 0) == direction and r[3]]
        check(f"{name}: frames {word}", len(data) == frames, f"{len(data)}, counted {frames}")
        check(f"{name}: bytes {word}", sum(int(r[1]) for r in data) == n_bytes)
        check(f"{name}: pauses {word}", len(control) == pauses, f"{len(control)}, counted {pauses}")
        check(f"{name}: comments on pauses {word}", all(r[7] for r in control))
    check(f"{name}: interface", {r[5].split(' to ')[0] for r in rows} == {f"{node}:{port}"})


def check_pauses(name, folder, node, port, file, xoff_quanta, run_id=1):
    """Classes and quanta of every frame sent, in the order of the decisions it tells of."""
    decisions = tables(folder, """SELECT p.id, p.priorities, p.decision, p.at_ps FROM pause p
        JOIN node n ON n.id = p.node_id AND n.run_id = p.run_id
        WHERE n.name = ? AND p.port = ? AND p.run_id = ? ORDER BY p.id""", node, port, run_id)
    rows = tshark(file, "macc.cbfc.enbv", "macc.cbfc.pause_time.c3", "frame.comment",
                  "frame.time_epoch", where=f"macc.opcode == 0x0101 && {OUT}")
    told, n_refreshed = [], 0
    for classes, quanta, comment, at in rows:
        check(f"{name}: class 3 alone", int(classes, 0) == 8, classes)
        word = "XOFF" if int(quanta, 0) else "XON"
        check(f"{name}: quanta", int(quanta, 0) in (0, xoff_quanta), quanta)
        check(f"{name}: quanta as the comment says", f"{word} priority 3," in comment,
              f"{quanta}: {comment}")
        if "decision #" not in comment:
            check(f"{name}: a decision behind it", False, comment)
            continue
        number = int(comment.split("decision #")[1].split(":")[0])
        decision = [d for d in decisions if d[0] == number]
        check(f"{name}: decision {number} is of this port", len(decision) == 1 and
              decision[0][1:3] == ("3", word) and decision[0][3] <= float(at) * 1e12 + 1e3,
              decision)
        if comment.startswith("refresh of "):
            n_refreshed += 1
            check(f"{name}: refreshed after it was told", number in told)
        else:
            told.append(number)
    # Decisions that cancel out before the port can send are never told.
    check(f"{name}: each told once, in order", told == sorted(set(told)), told)
    check(f"{name}: most decisions are told", len(told) > 0.8 * len(decisions),
          f"{len(told)} of {len(decisions)}")
    return n_refreshed


def blocks(file):
    """(type, body) of each block; lengths must agree at both ends."""
    data, at = pathlib.Path(file).read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        check("block lengths agree", struct.unpack_from("<I", data, at + length - 4)[0] == length)
        yield kind, data[at + 8:at + length - 4]
        at += length


def check_invariant_crc(name, file):
    """RoCEv2's ICRC, which tshark shows but does not check, of a thousand frames."""
    n = 0
    for kind, body in blocks(file):
        if kind != 6 or n == 1000:
            continue
        captured, original = struct.unpack_from("<II", body, 12)
        frame = body[20:20 + captured]
        if captured < original or frame[12:14] != b"\x08\0":
            continue
        n += 1
        end = 14 + struct.unpack_from(">H", frame, 16)[0] - 4
        masked = bytearray(frame[14:end])
        for i in (1, 8, 10, 11, 26, 27, 32):
            masked[i] = 0xff
        if zlib.crc32(b"\xff" * 8 + masked) != struct.unpack_from("<I", frame, end)[0]:
            check(f"{name}: invariant CRC", False)
            return
    check(f"{name}: frames with an invariant CRC", n > 100)


def quickstart(folder):
    file = SCENARIOS / "quickstart.yaml"
    short = ["--set", "stop=900us"]
    plain = run(f"{folder}/plain", file, *short)
    options = short + ["--capture", "leaf0:0", "--capture", "leaf0:4", "--capture", "h1",
                       "--capture", "h1:0"]
    runs = run(f"{folder}/q", file, *options)
    check("the same digest", [r["digest"] for r in runs] == [r["digest"] for r in plain])
    for node, port in (("leaf0", 0), ("leaf0", 4), ("h1", 0)):
        name = f"{node}:{port}"
        capture = f"{folder}/q/capture-{node}-{port}.pcapng"
        check_frames(name, f"{folder}/q", node, port, capture)
        if node == "leaf0":
            check_pauses(name, f"{folder}/q", node, port, capture, 65535)
    # Frames from hosts are not marked yet: what leaves the uplink marked was marked there.
    uplink = f"{folder}/q/capture-leaf0-4.pcapng"
    marks = tshark(uplink, "frame.number", where=f"ip.dsfield.ecn == 3 && {OUT}")
    counted = port_counts(f"{folder}/q", "leaf0", 4)[4]
    check("marks", len(marks) == counted and counted > 0, f"{len(marks)}, counted {counted}")
    classes = {r[0] for r in tshark(uplink, "ip.dsfield.dscp")}
    check("priority 3 is CS3", classes == {"24", ""}, classes)
    heard = tshark(f"{folder}/q/capture-h1-0.pcapng", "frame.comment", where=f"macc && {IN}")
    check("the peer's reasons", heard and all("decision #" in c for (c,) in heard))
    check_invariant_crc("leaf0:4", uplink)
    psns = tshark(f"{folder}/q/capture-h1-0.pcapng", "infiniband.bth.psn",
                  where=f"ip.src == 10.0.0.2 && infiniband.bth.destqp == 2 && {OUT} "
                  "&& infiniband.bth.opcode != 17")
    check("one PSN after the other", [int(p) for (p,) in psns] == list(range(len(psns))) and psns)
    run(f"{folder}/t", file, *options, "--threads", "2")
    for name in ("leaf0-0", "leaf0-4", "h1-0"):
        one, two = (pathlib.Path(f"{folder}/{d}/capture-{name}.pcapng") for d in "qt")
        check("the same octets on two threads", one.read_bytes() == two.read_bytes())


def limits(folder):
    run(f"{folder}/l", SCENARIOS / "quickstart.yaml", "--set", "stop=400us", "--capture", "leaf0:0",
        "--capture-limit", "1000", "--capture-bytes", "100")
    file = f"{folder}/l/capture-leaf0-0.pcapng"
    check("the first thousand", len(tshark(file, "frame.number")) == 1000)
    check("cut", max(int(r[0]) for r in tshark(file, "frame.cap_len")) == 100)
    counts = [body for kind, body in blocks(file) if kind == 5]
    received, dropped = (struct.unpack_from("<Q", counts[0], 16 + 12 * i)[0] for i in (0, 1))
    frames = sum(port_counts(f"{folder}/l", "leaf0", 0)[i] for i in (0, 2, 5, 6))
    check("those left out are counted", (received, dropped) == (frames, frames - 1000),
          (received, dropped, frames))


def refreshes(folder):
    """Short pauses of a receiver that stands nearly still are refreshed."""
    file = pathlib.Path(folder) / "slow.yaml"
    text = (SCENARIOS / "slow-receiver.yaml").read_text()
    file.write_text(text.replace("pause: pfc}", "pause: {kind: pfc, quanta: 400}}"))
    run(f"{folder}/s", file, "--capture", "h2", "--capture", "h0")
    n = check_pauses("h2", f"{folder}/s", "h2", 0, f"{folder}/s/capture-PFC-h2-0.pcapng",
                     400)
    check("refreshes", n > 0)
    under = tshark(f"{folder}/s/capture-PFC-h0-0.pcapng", "frame.comment", where=f"macc && {IN}")
    check("under the receiver's pause", any("itself under pause #" in c and "of h2" in c
                                            for (c,) in under))
    check_frames("h2, PFC", f"{folder}/s", "h2", 0, f"{folder}/s/capture-PFC-h2-0.pcapng")
    opcodes = {r[0] for r in tshark(f"{folder}/s/capture-PFC-h2-0.pcapng",
                                    "infiniband.bth.opcode", where="infiniband")}
    check("streams without ACKs are datagrams or go-back-N", opcodes and opcodes <=
          {str(o) for o in (0, 1, 2, 4, 17, 32, 33, 34, 36)}, opcodes)


STAR = """
title: Two senders, one receiver
seed: 1
stop: 300us
topology: {kind: star, hosts: 3, host_link: {rate: 100Gbps, delay: 1us, error: %(error)s}}
switch: {buffer: %(buffer)s, pause: %(pause)s}
transport: %(transport)s
priorities: {3: {lossless: %(lossless)s}}
traffic:
  - {kind: incast, name: burst, from: h0..h1, to: h2, size: %(size)s, priority: 3}
expect: [drops >= 0]
"""


def star(folder, name, **keys):
    file = pathlib.Path(folder) / f"{name}.yaml"
    file.write_text(STAR % {"pause": "pfc", "lossless": "true", "error": 0, "buffer": "4MB",
                            "size": "500KB", **keys})
    return file


def dctcp(folder):
    """Marks, their echo, and the answer to it."""
    file = star(folder, "dctcp", transport="dctcp", size="2MB")
    run(f"{folder}/dctcp", file, "--capture", "s0:2")
    capture = f"{folder}/dctcp/capture-s0-2.pcapng"
    check_frames("dctcp", f"{folder}/dctcp", "s0", 2, capture)
    counted = port_counts(f"{folder}/dctcp", "s0", 2)[4]
    marks = tshark(capture, "frame.number", where=f"tcp && ip.dsfield.ecn == 3 && {OUT}")
    check("dctcp: marks", len(marks) == counted > 0, f"{len(marks)}, counted {counted}")
    check("dctcp: echoes", tshark(capture, "frame.number", where=f"tcp.flags.ece == 1 && {IN}"))
    check("dctcp: answers", tshark(capture, "frame.number", where=f"tcp.flags.cwr == 1 && {OUT}"))


def tcp(folder):
    """A buffer that overflows, so that there are SACK blocks."""
    file = star(folder, "tcp", transport="tcp", pause="none", lossless="false", buffer="100KB")
    run(f"{folder}/tcp", file, "--capture", "s0:0", "--capture", "s0:2")
    for port in (0, 2):
        check_frames(f"tcp {port}", f"{folder}/tcp", "s0", port,
                     f"{folder}/tcp/capture-s0-{port}.pcapng")
    capture = f"{folder}/tcp/capture-s0-2.pcapng"
    data = tshark(capture, "tcp.seq_raw", "tcp.len", where=f"tcp && {OUT} && ip.src == 10.0.0.1")
    check("tcp: bytes from 0 to 500 KB", min(int(seq) - 1 for seq, _ in data) == 0 and
          max(int(seq) - 1 + int(n) for seq, n in data) == 500000)
    lost = tables(f"{folder}/tcp", "SELECT coalesce(sum(frames), 0) FROM drop_place")[0][0]
    blocks_of = tshark(capture, "tcp.options.sack_le", "tcp.ack_raw", where="tcp.options.sack_le")
    check("tcp: SACK blocks where frames are lost", blocks_of and lost > 0, lost)
    check("tcp: blocks lie beyond the ACK", all(int(e) > int(ack) for edges, ack in blocks_of
                                               for e in edges.split(",")))
    stamps = tshark(capture, "tcp.options.timestamp.tsecr", where=f"tcp && {IN}")
    check("tcp: echoed stamps", any(int(s) > 0 for (s,) in stamps))


def plain_pause(folder):
    """802.3x: one time for all priorities."""
    file = star(folder, "pause", transport="none", pause="{kind: pause, quanta: 5000}",
                buffer="400KB")
    run(f"{folder}/p", file, "--capture", "s0:0")
    capture = f"{folder}/p/capture-s0-0.pcapng"
    check_frames("pause", f"{folder}/p", "s0", 0, capture)
    rows = tshark(capture, "macc.opcode", "macc.pause_time", "frame.comment", where="macc")
    check("pause: opcode", rows and {int(r[0], 0) for r in rows} == {1}, rows[:3])
    check("pause: times", {int(r[1], 0) for r in rows} == {0, 5000}, {r[1] for r in rows})
    check("pause: reasons", all(("XOFF" if int(r[1], 0) else "XON") + " all priorities, decision #"
                                in r[2] for r in rows), rows[:3])


def hpcc(folder):
    file = star(folder, "hpcc", transport="hpcc")
    run(f"{folder}/hpcc", file, "--capture", "s0:2")
    check_frames("hpcc", f"{folder}/hpcc", "s0", 2, f"{folder}/hpcc/capture-s0-2.pcapng")
    hops = set()
    for kind, body in blocks(f"{folder}/hpcc/capture-s0-2.pcapng"):
        if kind == 6 and body[20 + 42] != 0x11 and body[20 + 12:20 + 14] == b"\x08\0":
            hops.add(body[20 + 54] >> 4)
    check("hpcc: one switch has written", hops == {1}, hops)


def dcqcn(folder):
    file = star(folder, "dcqcn", transport="dcqcn")
    run(f"{folder}/dcqcn", file, "--capture", "h2")
    check_frames("dcqcn", f"{folder}/dcqcn", "h2", 0, f"{folder}/dcqcn/capture-h2-0.pcapng")
    check("dcqcn: CNPs", tshark(f"{folder}/dcqcn/capture-h2-0.pcapng", "frame.number",
                                where="infiniband.bth.opcode == 0x81 && " + OUT))
    run(f"{folder}/ns3", file, "--capture", "h2", "--compat", "ns3")
    check_frames("ns3", f"{folder}/ns3", "h2", 0, f"{folder}/ns3/capture-h2-0.pcapng")


def errors(folder):
    """Frames hit by an error come in with a bad FCS and a comment, and were not sent so."""
    run(f"{folder}/e", star(folder, "errors", transport="none", error=0.02), "--capture", "h2",
        "--capture", "s0:2")
    file = f"{folder}/e/capture-h2-0.pcapng"
    counted = tables(f"{folder}/e", """SELECT coalesce(sum(frames), 0) FROM drop_place d
        JOIN node n ON n.id = d.node_id WHERE n.name = 'h2' AND cause = 'corrupt'""")[0][0]
    seen = tshark(file, "frame.comment", where=f"frame.packet_flags_crc_error == 1 && {IN}")
    check("frame errors: all flagged", len(seen) == counted > 0, f"{len(seen)} of {counted}")
    check("frame errors: comment", all("error of the link" in c for (c,) in seen))
    bad = tshark(file, "frame.number", where=f"eth.fcs.status == 0 && {IN}")
    check("frame errors: bad FCS", len(bad) == counted, f"{len(bad)} of {counted}")
    sent = tshark(f"{folder}/e/capture-s0-2.pcapng", "frame.number", where=OUT +
                  " && (eth.fcs.status == 0 || frame.packet_flags_crc_error == 1)")
    check("frame errors: good when sent", not sent)
    again = tshark(file, "infiniband.aeth.syndrome.opcode", where=f"infiniband.aeth && {OUT}")
    check("frame errors: NACKs", any(int(o, 0) == 3 for (o,) in again), set(map(str, again)))


def bad_ports(folder):
    file = SCENARIOS / "quickstart.yaml"
    for text, reason in (("leaf9:3", "--capture leaf9:3: no node leaf9"),
                         ("leaf0:6", "--capture leaf0:6: leaf0 has ports 0 to 5"),
                         ("leaf0:-1", "leaf0 has ports 0 to 5"), ("leaf0:x", "ports 0 to 5"),
                         ("leaf0", "leaf0 has ports 0 to 5; give one of them"),
                         ("h1:1", "h1 has port 0 only"), (":", "no node"), ("", "no node"),
                         ("x" * 500, "no node x")):
        said = run(f"{folder}/b", file, "--capture", text, status=2)
        check(f"--capture {text[:20]}: {reason}", reason in said, said)
        check("nothing was run", not pathlib.Path(f"{folder}/b").exists())
    for option in ("--capture-limit", "--capture-bytes"):
        for text in ("0", "-1", "many"):
            done = subprocess.run([XOFF, "run", file, option, text], capture_output=True)
            check(f"{option} {text} is refused", done.returncode not in (0, 1) and
                  option.encode() in done.stderr)


with tempfile.TemporaryDirectory() as top:
    for part in (quickstart, limits, refreshes, dctcp, tcp, plain_pause, hpcc, dcqcn, errors,
                 bad_ports):
        part(top)
finish()

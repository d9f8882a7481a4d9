"""What the oracle tests share: programs of others that must be there, frames in and out of files, and
the comparison of two readings of a frame.
"""
import importlib
import os
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LUA = ROOT / "tools" / "wireshark" / "xoff.lua"
SKIPPED = 77  # Meson's exit status for a test that could not run

FCS_BYTES = 4
ETHERTYPE_IPV4, ROCE_PORT = 0x0800, 4791
TAG_OCTETS = {0x8100: 2, 0x88a8: 2, 0x22e9: 2, 0x88b6: 14}  # behind the EtherType
BCN_OR_RRT, RRT_OCTETS = 0x8904, 10


def need(command=None, module=None):
    """Skips the test where a program or a Python module is missing; in CI tools/setup has them."""
    if command and not shutil.which(command):
        missing = command
    elif module:
        try:
            return importlib.import_module(module)
        except ImportError:
            missing = module.split(".")[0] + " for Python"
    else:
        return None
    if os.environ.get("CI"):
        sys.exit(f"wrong: {missing} is missing; `tools/setup test` installs it")
    print(f"skipped: {missing} is missing; `tools/setup test` installs it")
    sys.exit(SKIPPED)


def run(*command, status=(0,), **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, timeout=240, **options)
    if done.returncode not in status:
        sys.exit(f"wrong: {' '.join(map(str, command))}: exit status {done.returncode}: "
                 f"{done.stderr.decode(errors='replace')}")
    return done.stdout


def tshark(file, fields, where=""):
    """A dict of the fields of each frame: lists of texts, one for each time that a field occurs.

    Payloads are zeros or random; RPC over RDMA would find itself in them.
    """
    settings = [f"{p}.check_checksum:TRUE" for p in ("ip", "tcp", "udp")]
    settings += ["eth.check_fcs:TRUE", "tcp.relative_sequence_numbers:FALSE"]
    command = ["tshark", "-X", f"lua_script:{LUA}", "-r", file, "-n", "-T", "fields",
               "-E", "occurrence=a", "-E", "aggregator=|", "-Y", where,
               "--disable-protocol", "rpcordma"]
    for setting in settings:
        command += ["-o", setting]
    for field in fields:
        command += ["-e", field]
    lines = run(*command).decode(errors="replace").splitlines()
    return [dict(zip(fields, (v.split("|") if v else [] for v in line.split("\t"))))
            for line in lines]


def number(text):
    """Numbers of either base are compared as numbers; so are True and False of newer versions."""
    try:
        return int({"True": "1", "False": "0"}.get(text, text), 0)
    except ValueError:
        return text


def pcapng_frames(data):
    """(octets, length on the wire) of each packet of all sections; little-endian, as we write it."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured, original = struct.unpack_from("<II", data, at + 20)
            yield data[at + 28:at + 28 + captured], original
        at += length


def write_pcap(file, frames):
    """A classic capture, without FCS."""
    with open(file, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, octets in enumerate(frames):
            out.write(struct.pack("<IIII", 0, i, len(octets), len(octets)) + octets)


def payload_at(frame):
    """EtherType of what is behind all tags, and its offset."""
    at = 12
    while True:
        kind = struct.unpack_from(">H", frame, at)[0]
        at += 2
        if kind in TAG_OCTETS:
            at += TAG_OCTETS[kind]
        elif kind == BCN_OR_RRT and frame[at] == 1:
            at += RRT_OCTETS
        else:
            return kind, at


def fcs_is_right(frame):
    return zlib.crc32(frame[:-FCS_BYTES]) == struct.unpack("<I", frame[-FCS_BYTES:])[0]


def icrc_is_right(frame):
    """RoCEv2's ICRC, which tshark shows but does not check; None: not a RoCEv2 frame."""
    kind, at = payload_at(frame)
    if kind != ETHERTYPE_IPV4 or frame[at + 9] != 17:
        return None
    length, head = struct.unpack_from(">H", frame, at + 2)[0], 4 * (frame[at] & 15)
    if struct.unpack_from(">H", frame, at + head + 2)[0] != ROCE_PORT:
        return None
    end = at + length - 4
    masked = bytearray(frame[at:end])
    for i in (1, 8, 10, 11, head + 6, head + 7, head + 12):  # what may change on the way
        masked[i] = 0xff
    return zlib.crc32(b"\xff" * 8 + masked) == struct.unpack_from("<I", frame, end)[0]


def hex_dump(frame):
    """The first octets of a frame, where all headers are."""
    return "\n".join(f"    {i:04x}  {frame[i:i + 16].hex(' ')}"
                     for i in range(0, min(len(frame), 160), 16))

#!/usr/bin/python3
"""xoff encode and xoff decode as a user meets them: what is encoded is decoded to the same values,
in hex, pcap and pcapng; files that are cut or lie end with a place, behind all that was good.

    wire_test.py XOFF
"""
import json
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import XOFF, check, finish  # noqa: E402


def xoff(*args, feed=None):
    return subprocess.run([XOFF, *map(str, args)], input=feed, capture_output=True, timeout=120)


def decode(feed, *args):
    run = xoff("decode", "-j", *args, feed=feed)
    *frames, summary = map(json.loads, run.stdout.decode().splitlines())
    return frames, summary["summary"], run


# arguments of encode; the last layer that decode finds, and some of its values
KINDS = [
    ("pfc --pause 3:65535,7:1 --pause 0:2 --resume 4", "pfc",
     {"classes": [0, 3, 4, 7], "quanta": [2, 0, 0, 65535, 0, 0, 0, 1]}),
    ("pause --quanta 0xffff", "pause", {"quanta": 65535}),
    ("cnm --priority 7 --flow 5 --feedback 63 --cp 0x1122334455667788 --queue-offset -32768 "
     "--queue-delta 32767 --about-priority 3 --about-destination 02:00:00:00:00:09 --msdu 4500ff",
     "cnm", {"feedback": 63, "cp_id": "0x1122334455667788", "queue_offset": -32768,
             "queue_delta": 32767, "about_priority": 3, "about_destination": "02-00-00-00-00-09",
             "msdu": "4500ff"}),
    ("bcn --stop --cp 7 --queue-offset -1 --flow 4294967295", "bcn",
     {"stop": True, "cp_id": "0x0000000000000007", "queue_offset": -1, "flow": 4294967295}),
    ("rate-tag --rate 10Gbps --back --flow 9", "rate-tag",
     {"direction": "back", "flow": 9, "rate_bps": 10000000000}),
    ("rate-tag", "rate-tag", {"direction": "forward", "rate": "unset"}),
    ("data --cn-tag 65535 --payload 1", "payload", {"octets": 1}),
    ("data --psn 16777215 --queue-pair 7 --dscp 63 --ecn 3", "roce",
     {"psn": 16777215, "queue_pair": 7, "icrc": "good"}),
    ("ack --nak --psn 5", "aeth", {"answer": "NAK", "syndrome": 0x60}),
    ("cnp --source-ip 192.168.0.1", "cnp", {"reserved": "zeros"}),
    ("cc-update --upper --consumed 1,1048575", "cc-update",
     {"first_channel": 16, "consumed": [1, 1048575] + [0] * 14}),
    ("lldp --pfc 3,4 --willing", "dcbx-pfc", {"willing": True, "enabled": [3, 4]}),
    ("lldp --ets 0:60,1:40 --class-of 3:1 --priority 7", "dcbx-ets",
     {"class_of": [0, 0, 0, 1, 0, 0, 0, 0], "percent": [60, 40, 0, 0, 0, 0, 0, 0],
      "tsa": [2, 2, 0, 0, 0, 0, 0, 0], "willing": False}),
    ("lldp --app 3:1:0x8906 --app 4:2:3260", "dcbx-app",
     {"priority": [3, 4], "selector": [1, 2], "protocol": [0x8906, 3260]}),
    ("lldp --cn 5 --ttl 0", "dcbx-cn", {"priorities": [5], "ready": []}),
]


def holds(layer, values):
    return all(layer.get(key) == value for key, value in values.items())


def check_kinds(folder):
    """Each kind by three ways: hex, pcap with FCS, pcapng without."""
    for arguments, name, values in KINDS:
        words = arguments.split()
        hexed = xoff("encode", *words)
        check(f"encode {arguments}", hexed.returncode == 0 and hexed.stdout.count(b"\n") == 1, hexed)
        frames, summary, run = decode(hexed.stdout)
        check(f"{arguments}: decoded", run.returncode == 0 and len(frames) == 1 and
              frames[0]["layers"][-1]["layer"] == name and
              holds(frames[0]["layers"][-1], values), run)
        octets = len(hexed.stdout.strip()) // 2
        check(f"{arguments}: has the least size", octets >= 60)
        for file, fcs in (("a.pcap", ["--fcs"]), ("a.pcapng", [])):
            run = xoff("encode", *words, *fcs, "--count", 3, "--interval", "2us", "--pcap",
                       folder / file)
            check(f"{arguments}: {file}", run.returncode == 0 and not run.stdout, run)
            again, summary, run = decode(None, folder / file)
            check(f"{arguments}: the same in {file}", run.returncode == 0 and len(again) == 3 and
                  [f["time_ns"] for f in again] == [0, 2000, 4000] and
                  again[2]["bytes"] == octets + (4 if fcs else 0) and
                  again[2]["layers"][0].pop("fcs", None) == ("good" if fcs else None) and
                  again[2]["layers"] == frames[0]["layers"], run)
    sets = (xoff("encode", "ctlos", "--type", "update", "--credit", "3:100,31:32767").stdout +
            xoff("encode", "ctlos", "--type", "nack", "--sequence", 1048575).stdout)
    frames, summary, run = decode(sets)
    check("ordered sets", [f["layers"] for f in frames] == [
        [{"layer": "ctlos", "type": "CF_Update", "channels": [3, 31], "freed": [100, 32767]}],
        [{"layer": "ctlos", "type": "LLR_NACK", "sequence": 1048575}]], run)


PFC = "0180c20000010200000000018808010100080000000000000009" + 34 * "00"
# What is wrong, as hex; what the answer says of it.
MALFORMED = [
    ("0180c2000001", "source", "octet 6: cut off, what contains it ends at octet 6"),
    (PFC[:-2], "length", "the frame ends at octet 59; a pause frame has 60 octets, or 64 with FCS"),
    (PFC[:32] + "01" + PFC[34:], "class-enable vector", "octet 16: reserved, must be 00"),
    ("00" + PFC[2:], "destination", "octets 0 to 5: must be 01-80-c2-00-00-01"),
    (24 * "0" + "22e9000122e9", "EtherType", "octets 16 and 17: a second CN-TAG"),
    (24 * "0" + "0800" + "65" + 19 * "00", "version", "octet 14: the upper four bits must be 4"),
    (24 * "0" + "0800" + "450000ff" + 16 * "00", "total length",
     "octets 16 and 17: more than the frame has"),
    ("5c00000006000000", "type", "octet 1: must be 01 to 04 (LLR) or 10 (CF_Update)"),
    ("0180c200000e00057301020388cc0207040005730102030405", "TLV length",
     "octets 23 and 24: port ID of 5 octets, but the frame ends at octet 25"),
]


def check_malformed():
    good = (PFC + "\n").encode()
    for octets, field, why in MALFORMED:
        frames, summary, run = decode(good + octets.encode() + b"\n" + good)
        last = frames[1]["layers"][-1]
        check(f"{field}: {why}", run.returncode == 1 and len(frames) == 3 and
              summary["malformed"] == 1 and last["layer"] == "malformed" and
              last["field"] == field and last["why"] == why, run)
        run = xoff("decode", feed=octets.encode())
        check(f"{field}: as text", run.returncode == 1 and b"malformed" in run.stdout, run)
        run = xoff("decode", "--count", feed=octets.encode())
        check(f"{field}: counted", run.returncode == 1 and b"malformed 1" in run.stdout and
              run.stderr.startswith(b"frame 1: error: "), run)
    full = xoff("encode", "cnm").stdout.strip()[:-2] + b"01"
    frames, _, run = decode(full)
    check("padding that is not zeros is told", run.returncode == 0 and frames[0]["layers"][-1] ==
          {"layer": "padding", "octets": 18, "not_zeros": True}, run)
    named = 24 * "0" + "8808fffe0080c2" + 40 * "00"
    frames, _, run = decode(named.encode())
    check("an extension of another company is named, not malformed",
          run.returncode == 0 and frames[0]["layers"][1]["name"] == "extension", run)


def check_cut_captures(folder):
    for file in ("c.pcap", "c.pcapng"):
        path = folder / file
        xoff("encode", "pfc", "--pause", "3:9", "--count", 3, "--pcap", path)
        whole = path.read_bytes()
        for cut in range(len(whole) - 40, len(whole), 7):
            path.write_bytes(whole[:cut])
            run = xoff("decode", path)
            check(f"{file} cut at {cut}", run.returncode == 1 and run.stdout.count(b"XOFF 3") == 2 and
                  f"{path}: error: capture: cut off at offset {cut} of the file".encode()
                  in run.stderr, run)
    foreign = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 113) + \
        struct.pack("<IIII", 1, 0, 4, 4) + b"abcd"
    frames, summary, run = decode(foreign)
    check("a link that is no Ethernet", run.returncode == 0 and summary["foreign"] == 1 and
          frames[0]["layers"] == [{"layer": "foreign", "link_type": 113}], run)
    path.write_bytes(whole[:-4] + struct.pack("<I", 12))
    run = xoff("decode", path)
    check("a block length that lies", run.returncode == 1 and run.stdout.count(b"XOFF 3") == 2 and
          b"block length: offset %d of the file" % (len(whole) - 4) in run.stderr, run)
    run = xoff("decode", feed=whole[:100])
    check("a capture from standard input", run.returncode == 1 and
          b"standard input: error: capture: cut off at offset 100" in run.stderr, run)


def check_text():
    run = xoff("decode", feed=b"0180c2\n01 8x\n")
    check("hex that is none", run.returncode == 1 and b"frame 1" in run.stdout and
          b"standard input:2:4: error: hex: a single hex digit" in run.stderr, run)
    dump = subprocess.run(["xxd"], input=bytes.fromhex(PFC), capture_output=True) \
        if pathlib.Path("/usr/bin/xxd").exists() else None
    if dump:
        frames, _, run = decode(dump.stdout)
        check("a dump of xxd", frames[0]["layers"][1]["quanta"][3] == 9, run)
    tagged = xoff("encode", "data", "--cn-tag", 1).stdout
    frames, summary, run = decode((PFC + "\n").encode() + tagged + b"5c", "--only", "cn-tag,malformed")
    check("--only", [f["frame"] for f in frames] == [2, 3] and summary["matching"] == 2 and
          summary["frames"] == 3, run)
    run = xoff("decode", feed=b"")
    check("nothing", run.returncode == 0 and b"frames 0" in run.stdout, run)
    lines = xoff("decode", feed=(PFC + "\n").encode() + tagged).stdout.decode().splitlines()
    check("80 columns", lines and max(map(len, lines)) <= 80)


BAD = [
    ("encode", "give a kind"), ("encode what", "no kind what"), ("encode pfc pause", "one kind"),
    ("encode pfc --pause 8:1", "--pause 8:1: give a priority from 0 to 7"),
    ("encode pfc --pause 3", "--pause 3: give a priority"),
    ("encode pfc --pause 3:65536", "quanta from 0 to 65535"),
    ("encode pfc --pause 3:-1", "quanta from 0 to 65535"),
    ("encode --pause 3:1 pfc", "give the kind first"),
    ("encode pause --pause 3:1", "--pause is not for pause"),
    ("encode pfc --destination 02-00-00-00-00-09", "destination of its own"),
    ("encode pfc --priority 3", "has no VLAN tag"), ("encode cnm --feedback 64", "from 0 to 63"),
    ("encode cnm --msdu 123", "pairs of hex digits"), ("encode cnm --flow 65536", "below 65536"),
    ("encode cnm --queue-offset 32768", "from -32768 to 32767"),
    ("encode cnm --source 02-00", "an address such as"),
    ("encode data --rate 10", "a rate such as"), ("encode data --payload 9217", "up to 9216"),
    ("encode data --source-ip 10.0.0", "10.0.0.1"), ("encode data --source-ip 1.2.3.4.5", "10.0.0.1"),
    ("encode cc-update --consumed 1048576", "from 0 to 1048575"),
    ("encode cc-update --consumed " + ",".join(17 * "1"), "at most 16"),
    ("encode ctlos --pcap x.pcap", "no frame"), ("encode ctlos --credit 32:1", "below 32"),
    ("encode ctlos --type x", "init-echo"), ("encode lldp --app 3:1", "a priority, a selector"),
    ("encode lldp --ets 0:101", "percentage"), ("decode --only pcf", "no such kind"),
    ("decode a b", "more than one file"),
]


def check_bad_options(folder):
    for arguments, words in BAD:
        run = xoff(*arguments.split())
        check(arguments, run.returncode == 2 and words.encode() in run.stderr and not run.stdout, run)
    run = xoff("decode", folder / "none")
    check("no such file", run.returncode == 2 and b"none: error: cannot be read: No such" in
          run.stderr, run)
    run = xoff("decode", folder)
    check("a folder", run.returncode == 1 and b"cannot be read: Is a directory" in run.stderr, run)
    run = xoff("encode", "pfc", "--pcap", folder / "no/such")
    check("no such folder", run.returncode == 1 and b"cannot write" in run.stderr, run)


def check_memory(folder):
    """A long capture takes no more memory than a short one."""
    sizes = []
    for count in (10, 200000):
        path = folder / "long.pcapng"
        xoff("encode", "pfc", "--pause", "3:9", "--count", count, "--pcap", path)
        run = xoff("decode", "--count", path)
        check(f"{count} frames", b"frames %d," % count in run.stdout, run)
        sizes.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    check(f"constant memory: {sizes} KB", sizes[1] < sizes[0] + 4096)
    path.unlink()


with tempfile.TemporaryDirectory() as name:
    here = pathlib.Path(name)
    check_memory(here)
    check_kinds(here)
    check_malformed()
    check_cut_captures(here)
    check_text()
    check_bad_options(here)
finish()

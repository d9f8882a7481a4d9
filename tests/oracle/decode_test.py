#!/usr/bin/python3
"""Frames that scapy builds, with random values, as `xoff decode -j` reads them.

    decode_test.py XOFF

Each maker returns a frame of scapy's and the layers that we must find, with their fields.
"""
import json
import random
import sys
import tempfile
from pathlib import Path

import oracle

oracle.need(module="scapy.all")
from scapy.all import Dot1AD, Dot1Q, Ether, IP, Raw, TCP, UDP, raw  # noqa: E402
from scapy.contrib.lldp import (LLDPDUChassisID, LLDPDUEndOfLLDPDU,  # noqa: E402
                                LLDPDUGenericOrganisationSpecific, LLDPDUPortID, LLDPDUSystemName,
                                LLDPDUTimeToLive)
from scapy.contrib.mac_control import (MACControlClassBasedFlowControl,  # noqa: E402
                                       MACControlPause)
from scapy.contrib.roce import AETH, BTH, cnp  # noqa: E402

XOFF = Path(sys.argv[1]).resolve()
COUNT, SEED = 2000, 1
MAC_CONTROL = "01:80:c2:00:00:01"
NEAREST_BRIDGE = "01:80:c2:00:00:0e"
IEEE_802_1 = 0x0080c2
CONGESTION = ("not-ECT", "ECT(1)", "ECT(0)", "CE")
dice = random.Random(SEED)


def bits(n):
    return dice.getrandbits(n)


def address():
    return ":".join(f"{b:02x}" for b in (bits(8) & 0xfe, *dice.randbytes(5)))


def octets(most):
    return dice.randbytes(dice.randrange(1, most + 1))


def eth(destination=None, tags=None):
    """Addresses and up to two VLAN tags."""
    destination, source = destination or address(), address()
    frame = Ether(dst=destination, src=source)
    layer = {"layer": "eth", "destination": destination.replace(":", "-"),
             "source": source.replace(":", "-")}
    kinds = dice.choice(tags or ((), (Dot1Q,), (Dot1AD,), (Dot1AD, Dot1Q), (Dot1Q, Dot1Q)))
    for i, kind in enumerate(kinds):
        priority, eligible, vlan = bits(3), bits(1), bits(12)
        frame /= kind(prio=priority, id=eligible, vlan=vlan)
        prefix = "outer_" if i == 0 and len(kinds) == 2 else ""
        layer |= {f"{prefix}vlan": vlan, f"{prefix}priority": priority,
                  f"{prefix}drop_eligible": bool(eligible)}
    return frame, layer


def pause():
    frame, layer = eth(MAC_CONTROL, ((),))
    quanta = bits(16)
    return frame / MACControlPause(pause_time=quanta), [layer, {"layer": "pause", "quanta": quanta}]


def pfc():
    frame, layer = eth(MAC_CONTROL, ((),))
    enabled, quanta = bits(8), [bits(16) for _ in range(8)]
    fields = {f"c{c}_pause_time": q for c, q in enumerate(quanta)}
    fields |= {f"c{c}_enabled": enabled >> c & 1 for c in range(8)}
    return (frame / MACControlClassBasedFlowControl(**fields),
            [layer, {"layer": "pfc", "classes": [c for c in range(8) if enabled >> c & 1],
                     "quanta": quanta}])


def ip(protocol):
    dscp, ecn, ttl, number = bits(6), bits(2), 1 + bits(7), bits(16)
    ends = [".".join(str(bits(8)) for _ in range(4)) for _ in range(2)]
    return (IP(src=ends[0], dst=ends[1], tos=dscp << 2 | ecn, ttl=ttl, id=number),
            {"layer": "ipv4", "source": ends[0], "destination": ends[1], "protocol": protocol,
             "dscp": dscp, "ecn": CONGESTION[ecn], "ttl": ttl, "identification": number,
             "checksum": "good"})


def tcp():
    frame, first = eth()
    packet, second = ip(6)
    ports, numbers, window = (bits(16), bits(16)), (bits(32), bits(32)), bits(16)
    flags = [f for f in "FSRPAUEC" if bits(1)]
    stamps, n_sacks = (bits(32), bits(32)), dice.randrange(4)
    edges = [bits(32) for _ in range(2 * n_sacks)]
    options = [("NOP", None), ("NOP", None), ("Timestamp", stamps)]
    if edges:
        options += [("NOP", None), ("NOP", None), ("SAck", tuple(edges))]
    segment = TCP(sport=ports[0], dport=ports[1], seq=numbers[0], ack=numbers[1], window=window,
                  flags="".join(flags), options=options)
    names = dict(zip("FSRPAUEC", ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")))
    layer = {"layer": "tcp", "source_port": ports[0], "destination_port": ports[1],
             "sequence": numbers[0], "acknowledged": numbers[1], "window": window,
             "bits": " ".join(names[f] for f in flags), "stamp": stamps[0],
             "echoed_stamp": stamps[1], "checksum": "good"}
    if edges:
        layer |= {"sack_from": edges[::2], "sack_to": edges[1::2]}
    return frame / packet / segment / Raw(octets(300)), [first, second, layer]


def udp():
    frame, first = eth()
    packet, second = ip(17)
    ports, payload = (bits(16), bits(12)), octets(300)
    layer = {"layer": "udp", "source_port": ports[0], "destination_port": ports[1],
             "length": 8 + len(payload), "checksum": "good"}
    return (frame / packet / UDP(sport=ports[0], dport=ports[1]) / Raw(payload),
            [first, second, layer, {"layer": "payload", "octets": len(payload)}])


def roce():
    """Data, ACK or CNP. Scapy computes the ICRC, which we check."""
    frame, first = eth()
    packet, second = ip(17)
    port, pair, psn, asks = 0xc000 | bits(14), bits(24), bits(24), bits(1)
    datagram = UDP(sport=port, dport=4791, chksum=0)
    opcode = dice.choice((0, 1, 2, 4, 0x11, 0x20, 0x21, 0x22, 0x24, 0x81))
    layer = {"layer": "roce", "opcode": opcode, "queue_pair": pair, "icrc": "good"}
    layers = [first, second, {"layer": "udp", "source_port": port, "destination_port": 4791}, layer]
    if opcode == 0x81:
        layer |= {"becn": True}
        return frame / packet / datagram / cnp(pair) / Raw(bytes(4)), [*layers, {"layer": "cnp"}]
    header = BTH(opcode=opcode, dqpn=pair, psn=psn, ackreq=asks, solicited=bits(1), fecn=bits(1),
                 becn=bits(1))
    layer |= {"psn": psn, "asks": bool(asks), "solicited": bool(header.solicited),
              "fecn": bool(header.fecn), "becn": bool(header.becn)}
    if opcode == 0x11:
        syndrome, message = bits(7), bits(24)
        header /= AETH(syndrome=syndrome, msn=message)
        layers.append({"layer": "aeth", "syndrome": syndrome, "message": message})
    # Behind the header scapy wants the place of the ICRC.
    return frame / packet / datagram / header / Raw(octets(300) + bytes(4)), layers


def dcbx_ets(subtype):
    classes, shares = [bits(3) for _ in range(8)], [dice.randrange(101) for _ in range(8)]
    algorithms, head = [dice.choice((0, 1, 2, 255)) for _ in range(8)], bits(8) & 0xc7
    table = bytes(classes[i] << 4 | classes[i + 1] for i in range(0, 8, 2))
    layer = {"layer": "dcbx-ets", "class_of": classes, "percent": shares, "tsa": algorithms}
    if subtype == 9:
        layer |= {"willing": bool(head >> 7), "max_classes": head & 7 or 8}
    else:
        layer["layer"], head = "dcbx-rec", 0
    return bytes([head]) + table + bytes(shares) + bytes(algorithms), layer


def dcbx_pfc():
    head, enabled = bits(8) & 0xcf, bits(8)
    return bytes([head, enabled]), {"layer": "dcbx-pfc", "willing": bool(head >> 7),
                                    "cannot_bypass": bool(head >> 6 & 1), "max_classes": head & 15,
                                    "enabled": [p for p in range(8) if enabled >> p & 1]}


def lldp():
    frame, first = eth(NEAREST_BRIDGE, ((), (Dot1Q,)))
    chassis, port, ttl = address(), address(), bits(16)
    subtype = dice.choice((9, 10, 11))
    data, layer = dcbx_pfc() if subtype == 11 else dcbx_ets(subtype)
    frame /= LLDPDUChassisID(subtype=4, id=chassis) / LLDPDUPortID(subtype=3, id=port)
    frame /= LLDPDUTimeToLive(ttl=ttl) / LLDPDUSystemName(system_name="a switch")
    frame /= LLDPDUGenericOrganisationSpecific(org_code=IEEE_802_1, subtype=subtype, data=data)
    return frame / LLDPDUEndOfLLDPDU(), [
        first, {"layer": "lldp", "chassis": chassis.replace(":", "-"),
                "port": port.replace(":", "-"), "ttl_s": ttl}, layer]


def difference(layers, wanted):
    """The first field that is not as wanted; layers must come in that order."""
    rest = iter(layers)
    for want in wanted:
        got = next((layer for layer in rest if layer["layer"] == want["layer"]), None)
        if not got:
            return f"no layer {want['layer']}"
        for key, value in want.items():
            if got.get(key) != value:
                return f"{want['layer']}.{key} is {value}, we have {got.get(key)}"
    return None


def main():
    makers = (pause, pfc, tcp, udp, roce, lldp)
    made = [makers[i % len(makers)]() for i in range(COUNT)]
    frames = [raw(frame) for frame, _ in made]
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "scapy.pcap"
        oracle.write_pcap(capture, frames)
        lines = oracle.run(XOFF, "decode", "-j", capture, status=(0, 1)).splitlines()
    reads = [read for read in map(json.loads, lines) if "frame" in read]
    if len(reads) != COUNT:
        sys.exit(f"wrong: {len(reads)} of {COUNT} frames were decoded")
    for i, ((_, wanted), read, frame) in enumerate(zip(made, reads, frames)):
        wrong = difference(read["layers"], wanted)
        if read["layers"][-1]["layer"] == "malformed":
            wrong = f"refused: {read['layers'][-1]}"
        if wrong:
            sys.exit(f"wrong: frame {i + 1}: {wrong}\n{oracle.hex_dump(frame)}")
    print(f"decoders: {COUNT} frames of scapy, we have the same")


main()

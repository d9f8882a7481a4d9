#!/usr/bin/python3
"""xoff.lua against `xoff decode -j`: the same layers, fields and values in thousands of frames.

    dissector_test.py XOFF RANDOM_FRAMES

Layers and fields have the same names in both, so that nothing is listed here but the layers.
"""
import json
import re
import sys
import tempfile
from pathlib import Path

import oracle

XOFF, RANDOM_FRAMES = (Path(p).resolve() for p in sys.argv[1:3])
COUNT, SEED = 4000, 2
LAYERS = ("cn-tag", "cnm", "bcn", "rrt", "rate-tag", "notice")
# Fields that only one of the two has: what a dissector shows besides, and what follows from others.
LUA_ONLY = {"version", "type", "kind"}
WORDS = {"forward": 0, "back": 1, False: 0, True: 1}


def value(given):
    """A value of either side as a number where it is one, else as digits without separators."""
    if isinstance(given, list):
        return [value(v) for v in given]
    if given in WORDS:
        return WORDS[given]
    text = str(given)
    return oracle.number(text) if len(text) < 24 and "-" not in text[1:] and ":" not in text \
        else text.replace("-", "").replace(":", "")


def lua_fields():
    """All fields of the script's tables."""
    names, protocol = [], None
    for line in oracle.LUA.read_text().splitlines():
        head = re.match(r'\s*name = "([\w-]+)"', line)
        field = re.match(r'\s*(?:rest = )?{"(\w+)", "', line)
        protocol = head[1] if head else protocol
        if field:
            names.append(f"{protocol}.{field[1]}")
    return names


def difference(ours, theirs):
    """The first field in which the two readings of a frame differ, or None."""
    left = {name: value(values) for name, values in theirs.items() if values}
    for layer in ours["layers"]:
        for key, given in layer.items():
            name = f"{layer['layer']}.{key}"
            if layer["layer"] not in LAYERS or key == "layer":
                continue
            if left.pop(name, None) != [value(given)]:
                return f"{name} is {given}, xoff.lua has {', '.join(theirs.get(name, ())) or 'none'}"
    for name, values in left.items():
        if name.split(".")[1] not in LUA_ONLY and values != [0]:  # reserved bits are told if set
            return f"{name} is not there, xoff.lua has {', '.join(theirs[name])}"
    return None


def main():
    oracle.need(command="tshark")
    names = lua_fields()
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "frames.pcapng"
        oracle.run(RANDOM_FRAMES, SEED, COUNT, capture, Path(folder) / "truth")
        ours = [json.loads(line) for line in
                oracle.run(XOFF, "decode", "-j", capture, status=(0, 1)).splitlines()]
        theirs = oracle.tshark(capture, names)
        frames = [octets for octets, _ in oracle.pcapng_frames(capture.read_bytes())]
    ours = [o for o in ours if "frame" in o]
    if not len(ours) == len(theirs) == len(frames) == COUNT:
        sys.exit(f"wrong: of {COUNT} frames, {len(ours)} decoded, {len(theirs)} dissected")
    seen = set()
    for i, (one, other, octets) in enumerate(zip(ours, theirs, frames)):
        seen.update(layer["layer"] for layer in one["layers"])
        wrong = difference(one, other)
        if wrong:
            sys.exit(f"wrong: frame {i + 1}: {wrong}\n{oracle.hex_dump(octets)}")
    if not seen.issuperset(LAYERS):
        sys.exit(f"wrong: no frame with {', '.join(sorted(set(LAYERS) - seen))}")
    print(f"dissector: {COUNT} frames, {len(names)} fields, decode has the same")


main()

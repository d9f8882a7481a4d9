#!/usr/bin/python3
"""Thousands of random frames, made by the encoders of src/wire, as tshark reads them.

    encode_test.py RANDOM_FRAMES

RANDOM_FRAMES makes the frames and says of each which fields tshark must find, with which values.
"""
import sys
import tempfile
from pathlib import Path

import oracle

FRAMES = Path(sys.argv[1]).resolve()
COUNT, SEED = 6000, 1


def expectations(text):
    """(maker, {field: [values]}) of each frame."""
    for line in text.splitlines():
        maker, *pairs = line.split("\t")
        fields = {}
        for pair in pairs:
            name, value = pair.split("=", 1)
            fields.setdefault(name, []).append(value)
        yield maker, fields


def main():
    oracle.need(command="tshark")
    with tempfile.TemporaryDirectory() as folder:
        capture, truth = Path(folder) / "frames.pcapng", Path(folder) / "truth"
        oracle.run(FRAMES, SEED, COUNT, capture, truth)
        wanted = list(expectations(truth.read_text()))
        names = sorted({name for _, fields in wanted for name in fields})
        reads = oracle.tshark(capture, ["_ws.malformed", *names])
        frames = [octets for octets, _ in oracle.pcapng_frames(capture.read_bytes())]
    if not len(reads) == len(frames) == len(wanted) == COUNT:
        sys.exit(f"wrong: {len(wanted)} frames made, {len(frames)} written, {len(reads)} read")
    n_values = 0
    for i, ((maker, fields), read, octets) in enumerate(zip(wanted, reads, frames)):
        if read["_ws.malformed"]:
            sys.exit(f"wrong: frame {i + 1} ({maker}): malformed\n{oracle.hex_dump(octets)}")
        for name, values in fields.items():
            if list(map(oracle.number, values)) != list(map(oracle.number, read[name])):
                sys.exit(f"wrong: frame {i + 1} ({maker}): {name} is {', '.join(values)}, tshark "
                         f"has {', '.join(read[name]) or 'none'}\n{oracle.hex_dump(octets)}")
            n_values += len(values)
    print(f"encoders: {COUNT} frames, {n_values} values, tshark has the same")


main()

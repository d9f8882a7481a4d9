#!/usr/bin/python3
"""The pipeline fabric against a slow model of it.

    pipeline_test.py XOFF

A trace says when frames came into a switch and when they left its egress queues. From that alone the
model here works out when each frame must have joined its egress queue, or that it must have been
lost: FIFOs, turns of the inputs, the packet rate, the delay, room in egress queues, and a clock that
stands still while a frame has no room. The trace must say the same, to the nanosecond.
"""
import collections
import pathlib
import random
import subprocess
import sys
import tempfile

XOFF = str(pathlib.Path(sys.argv[1]).resolve())
wrong = []

SCENARIO = """title: Six hosts at one pipeline
seed: SEED
stop: 4ms
drain: 100ms
topology: {kind: star, hosts: 6, host_link: {rate: 1Gbps, delay: 1us}}
switch:
  buffer: 4MB
  processing_delay: DELAYns
  fabric: {kind: pipeline, packet_rate: RATEk, full: FULL, egress_queue: LIMITB}
  mmu: {kind: static, xoff: 50KB, xon: 40KB}
priorities: {2: {lossless: true}, 3: {lossless: true}, 4: {lossless: true}}
transport: datagram
traffic:
  - {kind: incast, from: h1..h5, to: h0, size: 40KB, at: 500us, priority: 3}
  - {kind: incast, from: h0..h3, to: h5, size: 40KB, at: 600us, priority: 3}
"""
SWITCH = 6


def messages(rng):
    """Entries of traffic that start at whole nanoseconds, the resolution of a trace."""
    lines = []
    for _ in range(250):
        sender, receiver = rng.sample(range(6), 2)
        lines.append(f"  - {{kind: incast, from: h{sender}, to: h{receiver}, size: "
                     f"{rng.choice((20, 150, 1456, 3000, 9000))}B, at: {rng.randrange(2 * 10**6)}ns,"
                     f" priority: {rng.choice((2, 4))}}}\n")
    return "".join(lines)


def read(path):
    """By time, the events of data frames at the switch: (event, port, egress queue, frame, bytes)."""
    events = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        at, node, place, _, event, _, *frame = line.split()
        if int(node[2:]) == SWITCH and frame[4] == "U":
            receiver, priority, size = frame[1], frame[7], int(frame[8].split("(")[0])
            events[int(at)].append((event, int(place.split(":")[0]), (receiver, priority),
                                    tuple(frame), size))
    return events


class Pipeline:
    def __init__(self, interval, delay, limit, stops):
        self.interval, self.delay, self.limit, self.stops = interval, delay, limit, stops
        self.inputs = {port: collections.deque() for port in range(1, 7)}
        self.turn = 1
        self.inside = collections.deque()  # [time left, frame], the next to come out first
        self.free_in = 0  # time until it takes the next frame
        self.queues = collections.Counter()
        self.stuck = None
        self.now = 0
        self.stopped_for = 0
        self.said = []  # (time, event, frame)

    def pass_to(self, now):
        if self.stuck is None:
            for frame in self.inside:
                frame[0] -= now - self.now
            self.free_in = max(0, self.free_in - (now - self.now))
        else:
            self.stopped_for += now - self.now
        self.now = now

    def next_at(self):
        """When it does something by itself; None: never."""
        if self.stuck is not None:
            return None
        times = [self.inside[0][0]] if self.inside else []
        times += [self.free_in] if any(self.inputs.values()) else []
        return self.now + min(times) if times else None

    def take(self, port):
        self.inside.append([self.delay, self.inputs[port].popleft()])
        self.turn = port % 6 + 1
        self.free_in = self.interval

    def come_in(self, port, frame):
        is_idle = self.stuck is None and not self.free_in and not any(self.inputs.values())
        self.inputs[port].append(frame)
        if is_idle:
            self.take(port)

    def come_out(self, frame):
        name, queue, size = frame
        if self.queues[queue] + size <= self.limit:
            self.queues[queue] += size
            self.said.append((self.now, "Enqu", name))
        elif self.stops:
            self.stuck = frame
        else:
            self.said.append((self.now, "Drop", name))

    def work(self):
        if self.stuck is None and self.inside and self.inside[0][0] == 0:
            self.come_out(self.inside.popleft()[1])
        if self.stuck is None and not self.free_in and any(self.inputs.values()):
            while not self.inputs[self.turn]:
                self.turn = self.turn % 6 + 1
            self.take(self.turn)

    def leave(self, queue, size):
        self.queues[queue] -= size
        if self.stuck is not None:
            frame, self.stuck = self.stuck, None
            self.come_out(frame)


def follow(events, pipeline):
    """Tells the model what came in and what was sent; returns what the trace says of the rest."""
    seen = []
    times = collections.deque(sorted(events))
    while times or pipeline.next_at() is not None:
        own = pipeline.next_at()
        now = own if not times or (own is not None and own < times[0]) else times[0]
        if times and times[0] == now:
            times.popleft()
        pipeline.pass_to(now)
        here = events.pop(now, [])
        for event, port, queue, frame, size in here:
            if event == "Recv":
                pipeline.come_in(port, (frame, queue, size))
            elif event in ("Enqu", "Drop"):
                seen.append((now, event, frame))
        pipeline.work()
        for event, _, queue, _, size in here:
            if event == "Dequ":
                pipeline.leave(queue, size)
    return seen


def run(folder, seed, rate, delay, full, limit):
    """Returns how many frames were lost, and for how long the pipeline was stopped."""
    text = SCENARIO
    for word, value in (("SEED", seed), ("RATE", rate), ("DELAY", delay), ("FULL", full),
                        ("LIMIT", limit)):
        text = text.replace(word, str(value))
    (folder / "model.yaml").write_text(text + messages(random.Random(seed)))
    done = subprocess.run([XOFF, "run", folder / "model.yaml", "--no-report", "-o", folder,
                           "--trace", folder / "trace"], capture_output=True, text=True,
                          timeout=120)
    if done.returncode not in (0, 1):
        wrong.append(done.stderr)
        return 0, 0
    pipeline = Pipeline(10**6 // rate, delay, limit, full == "stop")
    seen = follow(read(folder / "trace"), pipeline)
    said = pipeline.said
    if said != seen:
        first = next(i for i in range(len(said) + len(seen)) if said[i:i + 1] != seen[i:i + 1])
        wrong.append(f"seed {seed}, {rate} k/s, {delay} ns, {full}: event {first} of {len(seen)}: "
                     f"the model says {said[first:first + 1]}, the trace {seen[first:first + 1]}")
    if len(seen) < 500:
        wrong.append(f"seed {seed}: only {len(seen)} frames")
    return len([1 for event in seen if event[1] == "Drop"]), pipeline.stopped_for


def main():
    lost = stopped_for = 0
    with tempfile.TemporaryDirectory() as name:
        for seed in range(1, 9):
            for full in ("drop", "stop"):
                rate, delay = ((1000, 25000), (500, 25000), (200, 3000), (500, 0))[seed % 4]
                n, time = run(pathlib.Path(name), seed, rate, delay, full, 6000 + 3000 * seed)
                if n and full == "stop":
                    wrong.append(f"seed {seed}: {n} frames were lost although the pipeline stops")
                lost += n
                stopped_for += time
    if not lost or not stopped_for:
        wrong.append("no queue was ever full")
    print(f"{lost} frames lost, pipelines stopped for {stopped_for / 1000:.0f} us")
    for text in wrong[:5]:
        print("wrong:", text)
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())

// Data for the page's tests: made up but shaped like a real report, and the same every time. Two
// runs of a leaf-spine network and one that lacks almost everything; and a scoreboard.

// A small generator, so that the fixture needs no file and no luck.
function random(seed) {
  let x = seed >>> 0;
  return () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 2 ** 32;
  };
}

const END_S = 0.0034;
const POINTS = 120; // of a series
const HOSTS = Array.from({ length: 16 }, (_, i) => `h${i}`);
const LEAVES = Array.from({ length: 4 }, (_, i) => `leaf${i}`);
const SPINES = ["spine0", "spine1"];

function curve(next, from, to, n = 120) {
  return Array.from({ length: n }, (_, i) => {
    const share = (i + 1) / n;
    return [from * (to / from) ** (share ** 1.6) * (1 + 0.02 * next()), share];
  })
    .sort((a, b) => a[0] - b[0])
    .map(([x], i) => [x, (i + 1) / n]);
}

function flows(next, worse) {
  const labels = ["to 10 KB", "to 100 KB", "to 1 MB", "to 10 MB", "over 10 MB"];
  const one = (n, finished = n) => ({
    n,
    finished,
    fct: curve(next, 4e-6, 2e-3 * worse),
    slowdown: curve(next, 1, 9 * worse),
  });
  const all = one(640);
  return {
    n: 640,
    finished: 633,
    summarised: worse > 1 ? 0 : 600,
    cdf: { fct: all.fct, slowdown: all.slowdown },
    by_entry: { web: one(480), burst: one(160, 153) },
    buckets: labels.map((label, i) => ({
      label,
      from_bytes: i ? 10 ** (i + 3) : 0,
      to_bytes: i < 4 ? 10 ** (i + 4) : null,
      n: 200 - 40 * i,
      mean: (1.5 + i * 0.4) * worse,
      p50: (1.2 + i * 0.3) * worse,
      p95: (4 + i) * worse,
      p99: (7.25 + i) * worse,
      max: (12 + i) * worse,
    })),
  };
}

// One burst among quiet; the band spreads around the mean.
function series(next, metric, unit, name, node, port, priority, top) {
  const middle = 0.2 + 0.6 * next();
  const points = Array.from({ length: POINTS }, (_, i) => {
    const t = (i * END_S) / POINTS;
    const wave = Math.exp(-(((i / POINTS - middle) / 0.12) ** 2)) + 0.06 * next();
    const mean = Math.min(1, wave) * top;
    return [t, mean * 0.8, Math.min(top, mean * 1.25), mean];
  });
  return { metric, unit, name, node, port, priority, points };
}

function allSeries(next) {
  const made = [];
  LEAVES.forEach((leaf) => {
    for (let port = 0; port < 4; port++) {
      made.push(
        series(next, "queue", "B", `${leaf}:${port} p3`, leaf, port, 3, 9e5 * (0.2 + 0.8 * next())),
      );
      made.push(
        series(
          next,
          "throughput",
          "bps",
          `${leaf}:${port}`,
          leaf,
          port,
          null,
          1e11 * (0.3 + 0.7 * next()),
        ),
      );
    }
  });
  SPINES.forEach((spine) => {
    for (let port = 0; port < 2; port++)
      made.push(
        series(
          next,
          "pause",
          "ratio",
          `${spine}:${port} p3`,
          spine,
          port,
          3,
          0.9 * (0.3 + 0.7 * next()),
        ),
      );
  });
  LEAVES.forEach((leaf) =>
    made.push(series(next, "buffer", "B", leaf, leaf, null, null, 3e6 * (0.3 + 0.7 * next()))),
  );
  for (let port = 0; port < 2; port++)
    made.push(
      series(next, "input", "B", `${LEAVES[0]}:${port} p3`, LEAVES[0], port, 3, 1e5 * (port + 1)),
    );
  return [...made, ...pools()];
}

// Two switches; each pool at times of its own, as the results leave out what does not change.
function pools() {
  const next = random(11);
  const sizes = { reserved: 4e5, shared: 3e6, headroom: 3e6, insurance: 6e5 };
  return LEAVES.slice(0, 2).flatMap((leaf, i) =>
    Object.entries(sizes).map(([metric, size], k) => {
      const made = series(next, metric, "B", leaf, leaf, null, null, size * (0.3 + 0.3 * i));
      const points = made.points.filter((_, at) => at % (k + 1) === 0);
      return { ...made, points, capacity: size, buffer: 4e6 };
    }),
  );
}

// Hosts sit at the ports 0 to 3 of their leaf, spines at 4 and 5; a spine's port is its leaf's number.
const PORTS = [
  ...LEAVES.flatMap((leaf, i) => [
    ...[0, 1, 2, 3].map((port) => [leaf, port, HOSTS[4 * i + port], 0]),
    ...SPINES.map((spine, k) => [leaf, 4 + k, spine, i]),
  ]),
  ...SPINES.flatMap((spine, k) => LEAVES.map((leaf, i) => [spine, i, leaf, 4 + k])),
];

// Who paused whom: single stops in nanoseconds, and one row with too many of them.
function stops(next) {
  const rows = PORTS.map(([node, port, peer], i) => {
    const spans = Array.from({ length: 20 }, () => [
      Math.floor((next() * END_S * 1e9) / 25),
      1 + Math.floor((next() * END_S * 1e9) / 30),
    ]).flat();
    const paused_s = spans.filter((_, k) => k % 2).reduce((a, b) => a + b) * 1e-9;
    const row = { name: `${node} pauses ${peer} p3`, node, port, peer, priority: 3, paused_s };
    return i === 7 ? { ...row, bins: "A40Zz3aA355" } : { ...row, spans };
  });
  return { t0_s: 0, tick_s: 1e-9, bins: 400, rows, rows_left_out: 0 };
}

function replay(next) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const bins = () =>
    Array.from({ length: 40 }, () => `${letters[Math.floor(52 * next())]}5`).join("");
  const row = ([node, port]) => ({ node, port, bins: bins() });
  return {
    t0_s: 0,
    dt_s: END_S / 200,
    bins: 200,
    longest_queue: 9e5,
    queues: PORTS.map(row),
    loads: PORTS.map(row),
    buffers: LEAVES.map((node) => row([node, null])),
  };
}

function topology(next) {
  const nodes = [
    ...HOSTS.map((name) => ({ name, kind: "host", level: 0, buffer: null })),
    ...LEAVES.map((name) => ({
      name,
      kind: "switch",
      level: 1,
      buffer: { name: "shared", peak: 4e6 * next(), size: 4e6 },
    })),
    ...SPINES.map((name) => ({
      name,
      kind: "switch",
      level: 2,
      buffer: { name: "shared", peak: 1e6 * next(), size: 4e6 },
    })),
  ];
  const link = ([a, a_port, b, b_port]) => ({
    a,
    a_port,
    b,
    b_port,
    rate_bps: 1e11,
    utilisation_ab: next() * 0.9,
    utilisation_ba: next() * 0.9,
    paused_ab: next() > 0.6 ? next() * 0.14 : 0,
    paused_ba: next() > 0.8 ? next() * 0.05 : 0,
  });
  const links = PORTS.slice(0, 24).map(link); // those of the leaves are all
  return { nodes, links, hosts_folded: 0 };
}

function pauses(next) {
  const node = (name, paused, egress, children) => ({
    name: `${name} port 3 p3`,
    node: name,
    paused,
    egress,
    count: 1 + Math.floor(40 * next()),
    paused_s: 4e-4 * next() * next(),
    first_s: 2e-4 + 1e-4 * next(),
    children,
  });
  const roots = [0, 1, 2, 3].flatMap((leaf) =>
    SPINES.map((spine) =>
      node(
        LEAVES[leaf],
        spine,
        `h${leaf * 4}`,
        [1, 2, 3].map((k) => {
          const other = (leaf + k) % 4;
          const hosts = [0, 1, 2].map((n) =>
            node(LEAVES[other], `h${other * 4 + n}`, spine, []),
          );
          return node(spine, LEAVES[other], LEAVES[leaf], hosts);
        }),
      ),
    ),
  );
  const victims = Array.from({ length: 6 }, (_, i) => ({
    flow: 40 + i,
    from: `h${i}`,
    to: `h${i + 5}`,
    bytes: 120000 * (i + 1),
    slowdown: 3.5 + i,
    waited_s: 8.1e-5 * (i + 1),
  }));
  return { n: 932, roots, depth: 3, spread: 19, victims };
}

function metrics(worse) {
  const rows = [
    ["flows", 640, "", "flows started"],
    ["flows.finished", 633, "", "flows whose last byte was received"],
    [
      "throughput",
      198e9 / worse,
      "bps",
      "payload received per second of the time with traffic, sum of the flows",
    ],
    ["fct.p50", 7.708952e-5 * worse, "s", "completion time, finished flows, median"],
    ["fct.p99", 0.002029780397 * worse, "s", "completion time, finished flows, 99th percentile"],
    [
      "slowdown.p99",
      9.94931219335796 * worse,
      "ratio",
      "completion time over that of the same transfer alone in the network, 99th percentile",
    ],
    ["pauses", worse > 1 ? 932 : 466, "", "decisions to pause (XOFF), refreshes apart"],
    [
      "pause_time",
      0.00470603021 * worse,
      "s",
      "time that transmitters were paused, sum over ports and priorities",
    ],
    ["stops", worse > 1 ? 5 : 0, "", "times that full queues stopped pipelines"],
    ["stop_time", worse > 1 ? 0.0123 : 0, "s", "time of these stops"],
    ["drops", worse > 1 ? 17 : 0, "frames", "frames lost, all causes"],
    ["buffer.peak", 1545604, "B", "most bytes held by a switch"],
    ["jain", 0.689489146780724, "ratio", "Jain's fairness index of the flows' mean throughputs"],
    ["operations.unfinished", worse > 1 ? 3 : 0, "", "operations not done"],
    ["deadlocks", 0, "", "cycles of ports that wait for one another"],
  ];
  for (const [entry, n, unfinished] of [
    ["web", 480, 0],
    ["burst", 160, 7],
  ]) {
    rows.push([`flows.${entry}`, n, "", "flows started"]);
    rows.push([`flows.${entry}.finished`, n - unfinished, "", "flows that finished"]);
    rows.push([`flows.${entry}.unfinished`, unfinished, "", "flows that did not"]);
    rows.push([`throughput.${entry}`, (n * 2e8) / worse, "bps", "payload per second"]);
    rows.push([`fct.all.${entry}.p99`, 9.9e-5, "s", "completion time, all"]);
    for (const [i, s] of ["mean", "p50", "p99", "max"].entries())
      rows.push([`fct.${entry}.${s}`, (i + 1) * 1e-5 * worse, "s", `completion time, ${s}`]);
  }
  for (const size of ["le10KB", "le100KB", "le1MB"])
    for (const [i, s] of ["mean", "p50", "p95", "p99", "max"].entries())
      rows.push([
        `slowdown.${size}.${s}`,
        (1.5 + i) * worse,
        "ratio",
        `slowdown of flows ${size.slice(2)} and smaller, ${s}`,
      ]);
  return rows.map(([name, value, unit, meaning]) => ({ name, value, unit, meaning }));
}

function explain(name, worse) {
  return {
    headline: `In ${name}, h0 was sent more than it could take in; leaf0 paused both spines.`,
    difference: worse === 1 ? null : `Against PFC: ${name} changed the times by a factor of ${worse}.`,
    sure: { level: "high", why: "All pauses descend from one port." },
    healthy: false,
    facts: ["Nothing was dropped."],
    roots: [
      {
        kind: "incast",
        title: "incast at h0",
        what: "Six hosts sent to h0 at once.",
        node: "h0",
        harm_share: 0.93,
        chain: [{ node: "leaf0", peer: "spine0", held_fraction: 0.31 }],
        evidence: ["leaf0's port to h0 was busy all the time."],
        remedies: [{ change: "transport=dcqcn", words: "let senders slow down" }],
        sure: { level: "high", why: "" },
      },
    ],
    minor: 1,
  };
}

function run(name, seed, worse) {
  const next = random(seed);
  return {
    name,
    title: "Sixteen hosts, one of them popular",
    scenario_file: "scenarios/incast.yaml",
    seed: 7,
    digest: "7491ec1d6ebc33c8",
    verdict: worse > 1 ? "fail" : "pass",
    interrupted: false,
    version_differs: false,
    end_s: END_S,
    traffic_s: END_S,
    from_s: 0,
    to_s: END_S,
    stop_s: 0.002,
    wall_s: 0.0695,
    packet_hops: 415748,
    threads: 2,
    findings: worse > 1 ? ["expected drops == 0, but drops is 17", "a byte went missing"] : [],
    expectations: [
      { text: "PFC.pauses > 0", holds: true, detail: "PFC.pauses = 466 > 0" },
      { text: "drops == 0", holds: false, detail: "drops = 17, not == 0" },
    ],
    explain: explain(name, worse),
    metrics: metrics(worse),
    spreads: [
      ["fct.web.mean", "s", 1e-5],
      ["throughput.web", "bps", 9e10],
      ["pauses", "", 466],
      ["drops", "frames", 0],
    ].map(([metric, unit, mean]) => ({
      name: metric,
      unit,
      n: 20,
      mean: mean * worse,
      ci95: mean / 50,
      stddev: mean / 25,
      min: mean / 2,
      max: mean * 2,
    })),
    config: "title: Sixteen hosts\nseed: 7\nswitch:\n  buffer: 4MB\n  pause: pfc\n",
    scenario: "# As written\ntitle: Sixteen hosts\n",
    flows: flows(next, worse),
    operations: {
      n: 90,
      by_entry: { query: { n: 90, duration: curve(next, 1e-5, 4e-4 * worse, 90) } },
    },
    series: allSeries(next),
    series_left_out: 12,
    stops: stops(next),
    replay: replay(next),
    topology: topology(next),
    pauses: pauses(next),
    drops:
      worse > 1
        ? [
            {
              node: "leaf0",
              port: 4,
              out_port: 0,
              priority: 3,
              cause: "buffer",
              lossless: true,
              frames: 17,
              bytes: 25806,
              first_s: 3.1e-4,
            },
          ]
        : [],
    deadlocks: [],
    watermarks: {
      buffers: [...LEAVES, ...SPINES].map((node) => ({
        node,
        name: "shared",
        peak: Math.round(4e6 * next()),
        size: 4000000,
        pools: [
          { name: "reserved", peak: 3e5, size: 4e5 },
          { name: "shared", peak: 2e6, size: 3.6e6 },
        ],
      })),
      headroom: LEAVES.flatMap((l) =>
        [0, 1, 2, 3].map((p) => ({
          name: `${l}:${p} p3`,
          peak: Math.round(54170 * next()),
          size: 54170,
        })),
      ),
    },
  };
}

// Four switches in a ring that waits for itself; pauses, no samples.
export function ringFixture() {
  const names = [0, 1, 2, 3];
  const one = run("", 4, 1);
  const link = (a, a_port, b, b_port) => ({
    a,
    a_port,
    b,
    b_port,
    rate_bps: 1e11,
    utilisation_ab: 0.1,
    utilisation_ba: 0,
    paused_ab: 0.9,
    paused_ba: 0,
  });
  const links = names.flatMap((i) => [
    link(`s${i}`, 1, `s${(i + 1) % 4}`, 2),
    link(`h${i}`, 0, `s${i}`, 0),
  ]);
  const closed = [3, 1, 4, 2].map((us) => us * 1e-6);
  const rows = names.map((i) => ({
    name: `s${(i + 1) % 4} pauses s${i} p3`,
    node: `s${(i + 1) % 4}`,
    port: 2,
    peer: `s${i}`,
    priority: 3,
    paused_s: END_S - closed[i],
    spans: [Math.round(closed[i] * 1e9), Math.round((END_S - closed[i]) * 1e9)],
  }));
  return {
    page: "run",
    title: "A ring that waits for itself",
    xoff_version: "0.3.0",
    runs: [
      {
        ...one,
        explain: null,
        expectations: [],
        flows: null,
        operations: null,
        series: [],
        replay: null,
        drops: [],
        topology: {
          nodes: [
            ...names.map((i) => ({ name: `h${i}`, kind: "host", level: 0, buffer: null })),
            ...names.map((i) => ({ name: `s${i}`, kind: "switch", level: 1, buffer: null })),
          ],
          links,
        },
        stops: { t0_s: 0, tick_s: 1e-9, bins: 20, rows, rows_left_out: 0 },
        pauses: { n: 0, roots: [] },
        deadlocks: [
          {
            onset_s: 5e-6,
            found_s: 1e-3,
            ports: names.map((i) => ({
              name: `s${i}:1 (s${(i + 1) % 4}) p3`,
              node: `s${i}`,
              port: 1,
              peer: `s${(i + 1) % 4}`,
              priority: 3,
              closed_s: closed[i],
            })),
          },
        ],
      },
    ],
  };
}

export function runFixture() {
  return {
    page: "run",
    title: "Sixteen hosts, one of them popular",
    xoff_version: "0.3.0",
    runs: [run("PFC", 1, 1), run("no PFC", 2, 1.6), run("DCQCN with a long name", 3, 0.7)],
  };
}

// As little as can be: everything missing, null or empty.
export function bareFixture() {
  return {
    page: "run",
    title: 'Almost <nothing> & "more"',
    xoff_version: null,
    runs: [
      {
        name: "",
        title: null,
        verdict: null,
        findings: ["a <img src=x onerror=alert(1)> in a finding"],
        expectations: [{ text: "drops == 0", holds: true, detail: null }],
        interrupted: true,
        version_differs: true,
        end_s: null,
        metrics: [],
        flows: null,
        operations: null,
        series: [],
        stops: null,
        topology: { nodes: [], links: [] },
        pauses: { n: 0, roots: [] },
        drops: null,
      },
    ],
  };
}

export function reproduceFixture() {
  const claim = (id, verdict, recorded, published, measured, unit, more) => ({
    id,
    kind: "number",
    strength: "independent",
    strength_why: null,
    chapter: "5 Flow control",
    quote: "About 40 % of the data is lost.",
    place: "section 5.3",
    statement: "Without PFC a receiver at half the speed loses two fifths of what is sent to it.",
    published,
    measured,
    unit,
    tolerance: "+-5 points",
    why: "The paper reads the number off a figure.",
    verdict,
    recorded,
    changed: recorded === "holds" && verdict === "fails" ? "worse" : null,
    notes: "The buffer's size is not given; 4 MB taken.",
    shipped: null,
    readings: [],
    ...more,
  });
  const share = (held, all) => ({ held, all });
  const row = (independent, returned, tuned) => ({ independent, returned, tuned });
  const totals = {
    reproduced: share(2, 4),
    left_out: 1,
    number: row(share(2, 3), share(0, 0), share(0, 1)),
    direction: row(share(0, 1), share(0, 0), share(0, 0)),
    own: row(share(0, 0), share(0, 0), share(0, 0)),
  };
  const spread = (mean) => ({ mean, min: mean * 0.95, max: mean * 1.06, n: 5, text: null });
  return {
    page: "reproduce",
    title: "Claims of the papers",
    xoff_version: "0.3.0",
    quick: true,
    totals,
    papers: [
      {
        paper: "fairness-in-a-data-center",
        title: "Fairness in a data center",
        source: "a dissertation of 2012",
        results: { xoff_version: "0.2.9", digest: "0123456789abcdef" },
        readings: [
          { id: "plain", title: "as the text says", held: 1, all: 1, plain_held: 1 },
          {
            id: "cells",
            title: "counts in cells",
            text: "Given in 6.2.",
            after_the_fact: true,
            held: 0,
            all: 1,
            plain_held: 1,
          },
        ],
        totals,
        claims: [
          claim(
            "pfc-off-loss",
            "holds",
            "holds",
            { value: 0.4, text: null },
            spread(0.41),
            "fraction",
            {
              readings: [
                {
                  reading: "cells",
                  verdict: "fails",
                  measured: spread(0.9),
                  changed: "worse",
                  why: "Cells make more of it.",
                },
              ],
            },
          ),
          claim(
            "pfc-on-loss",
            "holds",
            "holds",
            { value: 0, text: "no loss" },
            { mean: 0, min: 0, max: 0, n: 5, text: null },
            "fraction",
          ),
          claim(
            "victim",
            "direction",
            "direction",
            { value: 5e9, text: null },
            spread(6.4e9),
            "bps",
            { strength: "tuned", strength_why: "the delay, 9 us; it holds from 8 to 12 us" },
          ),
          claim(
            "ets",
            "fails",
            "holds",
            { value: null, text: "within 10 %" },
            spread(0.17),
            "fraction",
          ),
          claim("cost", "untestable", "untestable", { value: null, text: "cheaper" }, null, null, {
            kind: "direction",
            chapter: "6 Costs",
          }),
          claim(
            "long",
            "left-out",
            "fails",
            { value: 10, text: null },
            { mean: null, min: null, max: null, n: null, text: "not in --quick" },
            "MB/s",
            { shipped: { verdict: "fails", measured: { ...spread(20), n: 9 } } },
          ),
        ],
        figures: [
          {
            id: "5-3",
            title: "Figure 5-3: loss with and without PFC",
            kind: "bar",
            x: { label: "stream", unit: "", categories: ["slow receiver", "fast receiver"] },
            y: { label: "data lost", unit: "fraction" },
            series: [
              {
                name: "PFC off",
                points: [
                  [0, 0.41, 0.38, 0.44],
                  [1, 0.02, 0.01, 0.03],
                ],
              },
              {
                name: "PFC on",
                points: [
                  [0, 0, 0, 0],
                  [1, 0, 0, 0],
                ],
              },
            ],
            marks: [{ name: "PFC off", points: [[0, 0.4]] }],
          },
          {
            id: "5-4",
            title: "Figure 5-4: throughput of the victim",
            kind: "line",
            x: { label: "time", unit: "s", categories: null },
            y: { label: "throughput", unit: "bps" },
            series: [
              {
                name: "victim",
                points: Array.from({ length: 20 }, (_, i) => [
                  i * 1e-3,
                  5e9 + 2e8 * (i % 3),
                  4.8e9,
                  5.6e9,
                ]),
              },
            ],
            marks: [{ name: "victim", points: [[0.01, 5e9]] }],
          },
          {
            id: "5-5",
            title: "Figure 5-5: throughput over time",
            kind: "time",
            x: { label: "time", unit: "us", categories: null },
            y: { label: "throughput", unit: "Gb/s" },
            series: ["static", "shared"].map((name, k) => ({
              name,
              points: Array.from({ length: 300 }, (_, i) => [
                10 * (i + 1),
                k && i > 100 && i < 200 ? 12 : 40 - (i % 4),
              ]),
            })),
            marks: [{ name: "paper", points: [[1500, 40]] }],
          },
          {
            id: "5-6",
            title: "Figure 5-6: onset of deadlocks",
            kind: "cdf",
            x: { label: "onset", unit: "ms", categories: null },
            y: { label: "share of runs", unit: "" },
            series: [
              {
                name: "static",
                n: 3,
                of: 4,
                points: [
                  [1.5, 0.25],
                  [2, 0.75],
                ],
              },
              { name: "shared", n: 0, of: 4, points: [] },
            ],
            marks: [{ name: "static", points: [[3, 1]] }],
          },
          {
            id: "5-7",
            title: "Figure 5-7: many streams",
            kind: "line",
            state: "shipped",
            x: { label: "size", unit: "B", categories: null },
            y: { label: "throughput", unit: "Gb/s" },
            series: Array.from({ length: 9 }, (_, k) => ({
              name: `stream ${k + 1} with a name that takes room`,
              points: [
                [64, k, k, k],
                [1500, 9 - k, 9 - k, 9 - k],
              ],
            })),
            marks: [{ name: "paper", points: [[64, 9]] }],
          },
          {
            id: "5-8",
            title: "Figure 5-8: not run, without shipped results",
            kind: "line",
            state: "left-out",
            x: { label: "size", unit: "B", categories: null },
            y: { label: "throughput", unit: "Gb/s" },
            series: [],
            marks: [{ name: "paper", points: [[64, 9]] }],
          },
          {
            id: "many",
            title: "Twenty policies side by side",
            kind: "bar",
            x: {
              label: "pause policy",
              unit: "",
              categories: Array.from({ length: 20 }, (_, i) => `CaPFC-policy-${i}`),
            },
            y: { label: "completion time", unit: "ms" },
            series: [{ name: "queries", points: Array.from({ length: 20 }, (_, i) => [i, 5 + i]) }],
            marks: [],
          },
        ],
      },
    ],
  };
}

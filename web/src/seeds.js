// Figures over several seeds: mean, confidence interval and spread, a line per run; the same choice of metrics as
// in the terminal. Everything else on the page is of the first seed.

const OF_ENTRY = [
  ["operations", ".mean"],
  ["operations", ".p99"],
  ["fct", ".mean"],
  ["fct", ".p99"],
  ["throughput", ""],
  ["flows", ".unfinished"],
];
const OF_NETWORK = [
  "throughput",
  "jain",
  "utilisation.max",
  "queue.peak",
  "buffer.peak",
  "headroom.peak",
  "pauses",
  "marks",
  "pause_time",
  "retransmissions",
  "drops",
  "drops.lossless",
  "deadlocks",
  "starved",
];

function seedsSection(runs) {
  const figures = runs.map((r) => new Map(list(r.spreads).map((f) => [f.name, f])));
  const n = Math.max(0, ...runs.flatMap((r) => list(r.spreads).map((f) => f.n || 0)));
  if (n < 2) return null;
  const names = [
    ...entriesOf(runs).flatMap((entry) => entryNames(figures, entry)),
    ...OF_NETWORK.filter((name) => isAny(figures, name)),
  ];
  const rows = names.flatMap((name) =>
    runs.map((run, i) => ({ name, i, run, figure: figures[i].get(name) || {} })),
  );
  const amount = (key) => (row) => show(row.figure[key], row.figure.unit);
  return section(
    "seeds",
    `Over ${n} seeds`,
    "\u00b1: the true mean is within this of the mean shown, with 95 % confidence. The other sections are " +
      "of the first seed.",
    h(
      "div.card.panel",
      h(
        "div.figure-head",
        h("span"),
        csvButton("Figures over seeds", fileName("seeds"), () => seedsCsv(runs)),
      ),
      plainTable(
        [
          ["metric", (row) => (row.i ? "" : h("span.mono", row.name))],
          ...(runs.length > 1
            ? [["run", (row) => [swatch(row.i), " ", runName(row.run, row.i)]]]
            : []),
          ["mean", amount("mean"), { number: true }],
          ["\u00b1", amount("ci95"), { number: true }],
          ["deviation", amount("stddev"), { number: true }],
          ["smallest", amount("min"), { number: true }],
          ["largest", amount("max"), { number: true }],
        ],
        rows,
        "Figures over seeds",
      ),
    ),
  );
}

function isAny(figures, name) {
  return figures.some((f) => f.has(name) && f.get(name).max !== 0);
}

// Operations, flows that end or streams, by what the entry is; and what did not finish.
function entryNames(figures, entry) {
  const found = OF_ENTRY.map(([family, end]) => ({ family, name: `${family}.${entry}${end}` })).filter(
    ({ name }) => isAny(figures, name),
  );
  const [first] = found;
  return found
    .filter(({ family }) => family === first.family || family === "flows")
    .map(({ name }) => name);
}

function seedsCsv(runs) {
  return [
    ["run", "metric", "unit", "n", "mean", "ci95", "stddev", "min", "max"],
    ...runs.flatMap((r, i) =>
      list(r.spreads).map((f) => [
        runName(r, i),
        f.name,
        f.unit,
        f.n,
        f.mean,
        f.ci95,
        f.stddev,
        f.min,
        f.max,
      ]),
    ),
  ];
}

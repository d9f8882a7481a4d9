// Runs against the first of them: a row per traffic entry and run, by what the entry is, as the summary in
// the terminal has it.

// What is told of an entry: [metric, what follows the entry's name, heading]. `judged`: the change shown.
const ENTRY_KINDS = {
  operation: {
    title: "operation time",
    unit: "s",
    judged: 3,
    figures: [
      ["operations", "", "done"],
      ["operations", ".mean", "mean"],
      ["operations", ".p50", "median"],
      ["operations", ".p99", "p99"],
      ["operations", ".max", "longest"],
    ],
  },
  completion: {
    title: "completion time",
    unit: "s",
    judged: 3,
    figures: [
      ["flows", ".finished", "finished"],
      ["fct", ".mean", "mean"],
      ["fct", ".p50", "median"],
      ["fct", ".p99", "p99"],
      ["fct", ".max", "longest"],
    ],
  },
  throughput: {
    title: "throughput",
    unit: "bps",
    judged: 1,
    figures: [
      ["flows", "", "flows"],
      ["throughput", "", "all"],
      ["throughput", ".min", "slowest"],
      ["throughput", ".max", "fastest"],
    ],
  },
};

// Metrics by name, made once for each run.
const metricMaps = new WeakMap();

function metricsOf(run) {
  if (!metricMaps.has(run)) metricMaps.set(run, new Map(list(run.metrics).map((m) => [m.name, m])));
  return metricMaps.get(run);
}

function valueOf(run, name) {
  const m = metricsOf(run).get(name);
  return m && isFigure(m.value) ? m.value : null;
}

// Names of the traffic entries, in the order of the scenario.
function entriesOf(runs) {
  const names = runs.flatMap((r) =>
    [...metricsOf(r).keys()].map((name) => (name.match(/^flows\.(.+)\.finished$/) || [])[1]),
  );
  return [...new Set(names.filter(Boolean))];
}

function kindOf(runs, entry) {
  if (runs.some((r) => valueOf(r, `operations.${entry}`) > 0)) return ENTRY_KINDS.operation;
  return runs.some((r) => valueOf(r, `fct.${entry}.max`) !== null)
    ? ENTRY_KINDS.completion
    : ENTRY_KINDS.throughput;
}

function unfinishedOf(run, entry) {
  return valueOf(run, `flows.${entry}.unfinished`) || 0;
}

// The change against the first run, in percent, or as a factor where that says more.
function showChange(first, value) {
  if (!isFigure(first) || !isFigure(value) || first === 0) return "";
  const ratio = value / first;
  if (ratio >= 10) return `${significant(ratio, 3)} times`;
  const percent = Math.round((ratio - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "\u2212" : "\u00b1"}${Math.abs(percent)} %`;
}

function entryTable(runs, entry) {
  const kind = kindOf(runs, entry);
  const several = runs.length > 1;
  const value = (run, [metric, end]) => valueOf(run, `${metric}.${entry}${end}`);
  const cell = (run, figure, i) => {
    const v = value(run, figure);
    if (i > 0) return show(v, kind.unit);
    const n = unfinishedOf(run, entry);
    return kind === ENTRY_KINDS.completion && n > 0
      ? [`${showNumber(v)} of `, h("b.bad", showNumber(v + n))]
      : showNumber(v);
  };
  const judged = kind.figures[kind.judged];
  // A narrow page has no room for all columns: how many, what is judged, and the change.
  const minor = (k) => (k === 0 || k === kind.judged ? "" : ".minor");
  return h(
    "div.table",
    { tabindex: "0", role: "region", "aria-label": `${entry}, ${kind.title}` },
    h(
      "table.entries",
      h("caption", h("b", entry), h("span.soft", `, ${kind.title}`)),
      h(
        "thead",
        h(
          "tr",
          h("th", { scope: "col" }, several ? "run" : ""),
          kind.figures.map(([, , name], k) => h(`th.number${minor(k)}`, { scope: "col" }, name)),
          several && h("th.number", { scope: "col" }, `${judged[2]}, change`),
        ),
      ),
      h(
        "tbody",
        runs.map((run, i) =>
          h(
            "tr",
            h("th", { scope: "row" }, several && swatch(i), several ? runName(run, i) : "this run"),
            kind.figures.map((f, k) => h(`td.number${minor(k)}`, cell(run, f, k))),
            several &&
              h("td.number.change", i ? showChange(value(runs[0], judged), value(run, judged)) : ""),
          ),
        ),
      ),
    ),
  );
}

// Which runs have flows that never finished: their percentiles are those of the others.
function unfinishedNote(runs, entries) {
  const found = runs.flatMap((run, i) =>
    entries
      .filter((e) => unfinishedOf(run, e) > 0 && kindOf(runs, e) === ENTRY_KINDS.completion)
      .map((e) => {
        const whose = runs.length > 1 ? `${runName(run, i)}: ` : "";
        return `${whose}${plural(unfinishedOf(run, e), "flow")} of ${e} never finished`;
      }),
  );
  return found.length
    ? h("p.note.bad", `${found.join("; ")}. Times are those of finished flows.`)
    : null;
}

function comparisonSection(runs) {
  const entries = entriesOf(runs);
  if (!entries.length) return null;
  const several = runs.length > 1;
  return section(
    "comparison",
    several ? "Comparison" : "Traffic",
    several && `Changes are against ${runName(runs[0])}.`,
    unfinishedNote(runs, entries),
    h(
      "div.card.panel",
      entries.map((entry) => entryTable(runs, entry)),
    ),
    several && h("div.grid.two", compareFigures(runs, entries)),
  );
}

const MOST_ENTRIES = 6; // with a figure of their own

// Distributions of completion times entry by entry, and the throughputs of all entries; the runs over one
// another.
function compareFigures(runs, entries) {
  const timed = entries.filter(
    (e) => kindOf(runs, e) !== ENTRY_KINDS.throughput && runs.some((r) => curveOf(r, e, "fct").length),
  );
  const figures = timed
    .slice(0, MOST_ENTRIES)
    .map((entry) =>
      cdfFigure(runs, { entry, tail: false }, `Completion time of ${entry}`, "fct", "s", "completion time"),
    );
  const throughput = throughputFigure(runs, entries);
  if (throughput && figures.length % 2 === 0) throughput.classList.add("wide");
  return [...figures, throughput];
}

function throughputFigure(runs, entries) {
  const value = (run, entry) => valueOf(run, `throughput.${entry}`);
  const shown = entries.filter((e) => runs.some((r) => value(r, e) !== null));
  if (!shown.length) return null;
  return figure({
    title: "Throughput by traffic",
    height: (width) => 266 + keyRoom(runs.map(runName), width),
    log: "y",
    option: (width, isLog) =>
      barsOption(runs, shown, (run, entry) => value(run, entry), "bps", isLog, (entry) => entry, width),
    says: () =>
      shown
        .map((e) => `${e}: ${runs.map((r, i) => `${runName(r, i)} ${showRate(value(r, e))}`).join(", ")}.`)
        .join(" "),
    csv: () => [
      ["run", "traffic", "throughput_bps"],
      ...runs.flatMap((r, i) => shown.map((e) => [runName(r, i), e, value(r, e)])),
    ],
  });
}

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
  // The same with every flow in it: an unfinished one counts with its age at the end of the run.
  ages: {
    title: "completion time",
    unit: "s",
    judged: 3,
    figures: [
      ["flows", "", "flows"],
      ["fct.all", ".mean", "mean"],
      ["fct.all", ".p50", "median"],
      ["fct.all", ".p99", "p99"],
      ["fct.all", ".max", "longest"],
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

// Flows of an entry that did not finish, or operations where it consists of them.
function unfinishedOf(run, kind, entry) {
  if (kind === ENTRY_KINDS.throughput) return 0; // streams have no end
  const family = kind === ENTRY_KINDS.operation ? "operations" : "flows";
  return valueOf(run, `${family}.${entry}.unfinished`) || 0;
}

// The change against the first run, in percent, or as a factor where that says more.
function showChange(first, value) {
  if (!isFigure(first) || !isFigure(value) || first === 0) return "";
  const ratio = value / first;
  if (ratio >= 10) return `\u00d7 ${significant(ratio, 3)}`;
  const percent = Math.round((ratio - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "\u2212" : "\u00b1"}${Math.abs(percent)} %`;
}

// A line of a table; `first` has what the change is against.
function entryLine(kind, entry, run, first, label) {
  const value = (r, [metric, end]) => valueOf(r, `${metric}.${entry}${end}`);
  const n = kind === ENTRY_KINDS.ages ? 0 : unfinishedOf(run, kind, entry);
  const cell = (figure, k) => {
    const v = value(run, figure);
    // fct.max counts flows that did not finish: it belongs to the line of ages.
    if (n > 0 && kind === ENTRY_KINDS.completion && figure[1] === ".max") return show(null, kind.unit);
    if (k > 0) return show(v, kind.unit);
    return n > 0 ? h("b.bad", `${showNumber(v || 0)} of ${showNumber((v || 0) + n)}`) : showNumber(v);
  };
  const judged = kind.figures[kind.judged];
  return h(
    "tr",
    h("th", { scope: "row" }, label),
    kind.figures.map((f, k) => h(`td.number${isMinor(kind, k)}`, cell(f, k))),
    first && h("td.number.change", first === run ? "" : showChange(value(first, judged), value(run, judged))),
  );
}

// A narrow page has no room for all columns: it has how many, what is judged, and the change.
function isMinor(kind, k) {
  return k === 0 || k === kind.judged ? "" : ".minor";
}

function entryTable(runs, entry) {
  const kind = kindOf(runs, entry);
  const several = runs.length > 1;
  const first = several ? runs[0] : null;
  const lines = runs.flatMap((run, i) => [
    entryLine(kind, entry, run, first, several ? [swatch(i), runName(run, i)] : "this run"),
    kind === ENTRY_KINDS.completion && unfinishedOf(run, kind, entry) > 0
      ? entryLine(ENTRY_KINDS.ages, entry, run, first, h("span.soft.aged", "all, by age"))
      : null,
  ]);
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
          kind.figures.map(([, , name], k) =>
            h(`th.number${isMinor(kind, k)}`, { scope: "col" }, name),
          ),
          several && h("th.number", { scope: "col" }, `${kind.figures[kind.judged][2]}, change`),
        ),
      ),
      h("tbody", lines),
    ),
  );
}

// Which runs have flows or operations that never finished: their percentiles are those of the others.
function unfinishedNote(runs, entries) {
  const found = runs.flatMap((run, i) =>
    entries.flatMap((e) => {
      const kind = kindOf(runs, e);
      const n = unfinishedOf(run, kind, e);
      const noun = kind === ENTRY_KINDS.operation ? "operation" : "flow";
      return n > 0 ? [`${ofRun(runs, i)}${plural(n, noun)} of ${e} never finished`] : [];
    }),
  );
  return found.length
    ? h(
        "p.note.bad",
        `${found.join("; ")}. Times are those of what finished; by age: an unfinished flow counts with its ` +
          "age at the end of the run.",
      )
    : null;
}

function comparisonSection(runs) {
  const entries = entriesOf(runs);
  if (!entries.length) return null;
  const several = runs.length > 1;
  return section(
    "comparison",
    several ? "Comparison" : "Traffic",
    (several ? `Changes are against ${runName(runs[0])}. ` : "") + saysMeasured(runs),
    unfinishedNote(runs, entries),
    h(
      "div.card.panel",
      entries.map((entry) => entryTable(runs, entry)),
    ),
    several && h("div.grid.two", compareFigures(runs, entries)),
  );
}

// Over which time throughputs are.
function saysMeasured(runs) {
  const times = new Set(
    runs.map((r) => {
      const [from, to] = ["measure_start", "measure_end"].map((name) => valueOf(r, name));
      return from !== null && to !== null ? `${showTime(from)} to ${showTime(to)}` : "";
    }),
  );
  const [time] = times;
  return times.size === 1 && time ? `Throughput is over the time with traffic on offer, ${time}.` : "";
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

// Completion time and slowdown of the flows: distribution and by size, the runs over one another.

function flowsSection(runs) {
  const any = runs.some((r) => r.flows && r.flows.finished > 0);
  if (!any && !runs.some(hasOperations)) return null;
  const state = { entry: "", tail: false, statistic: "p99" };
  const cdfs = [
    cdfFigure(runs, state, "Flow completion time", "fct", "s", "completion time"),
    cdfFigure(runs, state, "Slowdown", "slowdown", "ratio", "slowdown"),
  ];
  const again = () => cdfs.forEach(redraw);
  const entries = [
    ...new Set(runs.flatMap((r) => Object.keys((r.flows && r.flows.by_entry) || {}))),
  ];
  const controls = h(
    "div.controls",
    entries.length > 1 &&
      dropDown("Traffic", [["", "all"], ...entries.map((e) => [e, e])], "", (v) => {
        state.entry = v;
        again();
      }),
    choice(
      "Kind of curve",
      [
        [false, "Distribution"],
        [true, "Tail"],
      ],
      false,
      (v) => {
        state.tail = v;
        again();
      },
    ),
  );
  const started = runs
    .map(
      (r, i) =>
        r.flows &&
        isFigure(r.flows.n) &&
        `${ofRun(runs, i)}${plural(r.flows.n, "flow")}, ${showNumber(r.flows.finished)} finished` +
          (r.flows.summarised > 0
            ? `, ${showNumber(r.flows.summarised)} of them summarised: values are within 0.1 %`
            : ""),
    )
    .filter(Boolean);
  return section(
    "flows",
    "Flows",
    started.join("; ") + (started.length ? "." : ""),
    any && controls,
    any && h("div.grid.two", cdfs),
    any && bucketFigure(runs, state),
    operationsFigure(runs),
  );
}

// Curve of one run, [[value, share]...]; empty when there is none. Flows that did not finish have no value,
// and the curve ends below 1 by their share.
function curveOf(run, entry, what) {
  const { n, finished, curve } = curveSource(run, entry, what);
  const part = finished < n && n > 0 ? finished / n : 1;
  return part < 1 ? curve.map(([x, y]) => [x, y * part]) : curve;
}

function curveSource(run, entry, what) {
  const flows = run.flows || {};
  const source = (entry ? (flows.by_entry || {})[entry] : flows) || {};
  const curve = list((entry ? source : source.cdf || {})[what]);
  return { n: source.n, finished: source.finished, curve };
}

// Tells of the flows that a figure of finished ones cannot show; no run is left out silently.
function saysUnfinished(runs, entry) {
  return runs
    .map((r, i) => {
      const { n, finished } = curveSource(r, entry, "fct");
      if (!(finished < n)) return "";
      const many = finished > 0 ? `${showNumber(n - finished)} of ${plural(n, "flow")}` : "no flow";
      const ends = finished > 0 ? `did not finish: the curve ends at ${showShare(finished / n)}` : "finished";
      return ` ${ofRun(runs, i)}${many} ${ends}.`;
    })
    .join("");
}

function cdfFigure(runs, state, title, what, unit, noun) {
  const curves = () => runs.map((r) => curveOf(r, state.entry, what));
  return figure({
    title,
    height: (width) => 266 + keyRoom(runs.map(runName), width),
    nothing: "No flow finished.",
    log: "x!",
    option: (width, isLog) =>
      cdfOption(runs.map(runName), curves(), unit, noun, state.tail, isLog, width),
    says: () => saysQuantiles(runs, curves(), unit, noun) + saysUnfinished(runs, state.entry),
    csv: () => [
      ["run", "traffic", what === "fct" ? "fct_s" : what, "share"],
      ...runs.flatMap((r, i) =>
        curveOf(r, state.entry, what).map(([x, y]) => [runName(r, i), state.entry || "all", x, y]),
      ),
    ],
  });
}

// Smallest value that the given share of a curve does not exceed.
function quantile(curve, share) {
  const at = curve.find(([, y]) => y >= share - 1e-12);
  return at ? at[0] : null;
}

// Of the flows that finished.
function quantiles(curve, unit) {
  const all = curve[curve.length - 1][1];
  const [median, high] = [0.5, 0.99].map((share) => show(quantile(curve, share * all), unit));
  return `median ${median}, 99th percentile ${high}`;
}

// Whom a sentence is about, when there are several.
function ofRun(runs, i) {
  return runs.length > 1 ? `${runName(runs[i], i)}: ` : "";
}

function saysQuantiles(runs, curves, unit, noun) {
  const whole = `${noun[0].toUpperCase()}${noun.slice(1)}: `;
  return curves
    .map(
      (c, i) =>
        c.length &&
        `${ofRun(runs, i) || whole}${quantiles(c, unit)}, ` +
          `largest ${show(c[c.length - 1][0], unit)}.`,
    )
    .filter(Boolean)
    .join(" ");
}

// Logarithmic axes reach a whole decade only when the data does: the round values around it.
function logRange(values) {
  const positive = values.filter((v) => v > 0);
  if (!positive.length) return {};
  const [low, high] = positive.reduce(
    ([a, b], v) => [Math.min(a, v), Math.max(b, v)],
    [Infinity, 0],
  );
  return { min: roundDown(low), max: roundUp(high) };
}

const ROUND = [1, 2, 5, 10];

function roundDown(x) {
  const decade = 10 ** Math.floor(Math.log10(x) + 1e-9);
  return tidy([...ROUND].reverse().find((r) => r * decade <= x * 1.000001) * decade);
}

function roundUp(x) {
  const decade = 10 ** Math.floor(Math.log10(x) + 1e-9);
  return tidy(ROUND.find((r) => r * decade >= x * 0.999999) * decade);
}

function tidy(x) {
  return Number(x.toPrecision(6));
}

function cdfOption(names, curves, unit, noun, tail, isLog, width) {
  if (!curves.some((c) => c.length)) return null;
  const points = curves.map((c) =>
    c
      .filter(([x]) => x > 0 || !isLog)
      .map(([x, y]) => [x, tail ? 1 - y : y])
      .filter(([, y]) => !tail || y > 1e-12),
  );
  const range = isLog ? logRange(points.flat().map(([x]) => x)) : { min: 0 };
  if (range.min === range.max) range.max = roundUp(range.max * 1.5);
  const y = tail
    ? { type: "log", min: logRange(points.flat().map(([, v]) => v)).min, max: 1 }
    : { type: "value", min: 0, max: 1, interval: 0.25 };
  return {
    grid: { left: 8, right: 18, top: keyRoom(names, width), bottom: 26, containLabel: true },
    legend: legend(names, width),
    tooltip: tooltip({
      trigger: "axis",
      axisPointer: { type: "line", snap: true },
      formatter: (at) => cdfTip(at[0].axisValue, names, curves, unit, noun),
    }),
    xAxis: axis({
      type: isLog ? "log" : "value",
      ...range,
      name: `${noun}${unit === "ratio" ? " (times the ideal)" : ""}`,
      nameLocation: "middle",
      nameGap: 26,
      axisLabel: { formatter: (v) => show(v, unit, 3) },
    }),
    yAxis: axis({ ...y, axisLabel: { formatter: (v) => showShare(v) } }),
    series: points.map((data, i) => curveSeries(names[i], data, i)),
  };
}

function curveSeries(name, data, i) {
  const style = styleOf(i);
  return {
    name,
    type: "line",
    step: "end",
    data,
    symbol: style.marker,
    symbolSize: 7,
    showSymbol: data.length <= 12,
    itemStyle: { color: style.color },
    lineStyle: { width: 2, color: style.color, type: style.dash },
    emphasis: { disabled: true },
  };
}

// At a value of the x axis: the share of each run's flows that needed no more.
function cdfTip(x, names, curves, unit, noun) {
  const rows = curves
    .map((c, i) => {
      let share = 0;
      for (const [value, y] of c) if (value <= x * (1 + 1e-12)) share = y;
      return c.length ? [styleOf(i).color, names[i], showShare(share, 4)] : null;
    })
    .filter(Boolean);
  return tip(`${noun} up to ${show(x, unit)}`, rows);
}

// -------------------------------------------------------------------------------- by flow size

const STATISTICS = [
  ["mean", "mean"],
  ["p50", "median"],
  ["p95", "95th percentile"],
  ["p99", "99th percentile"],
  ["max", "largest"],
];

function bucketFigure(runs, state) {
  const labels = [
    ...new Set(
      runs.flatMap((r) =>
        list(r.flows && r.flows.buckets)
          .filter((b) => b.n > 0)
          .map((b) => b.label),
      ),
    ),
  ];
  if (!labels.length) return null;
  const bucket = (run, label) =>
    list(run.flows && run.flows.buckets).find((b) => b.label === label);
  const word = () => STATISTICS.find(([v]) => v === state.statistic)[1];
  const element = figure({
    title: "Slowdown by flow size",
    height: (width) => 266 + keyRoom(runs.map(runName), width),
    nothing: "No flow finished.",
    controls: h(
      "div.controls",
      dropDown("Statistic", STATISTICS, state.statistic, (v) => {
        state.statistic = v;
        redraw(element);
      }),
    ),
    log: "y",
    option: (width, isLog) =>
      barsOption(
        runs,
        labels,
        (run, label) => (bucket(run, label) || {})[state.statistic],
        "ratio",
        isLog,
        (label) => `${label}, ${word()}`,
        width,
      ),
    says: () =>
      saysBuckets(runs, labels, bucket, state.statistic, word()) + saysCut(runs, "flow", cutFlows),
    csv: () => [
      ["run", "size", "from_bytes", "to_bytes", "flows", ...STATISTICS.map(([s]) => s)],
      ...runs.flatMap((r, i) =>
        list(r.flows && r.flows.buckets).map((b) => [
          runName(r, i),
          b.label,
          b.from_bytes,
          b.to_bytes,
          b.n,
          b.mean,
          b.p50,
          b.p95,
          b.p99,
          b.max,
        ]),
      ),
    ],
  });
  return h("div.grid", element);
}

// Bars of the runs side by side for each category.
function barsOption(runs, categories, value, unit, isLog, heading, width) {
  const names = runs.map(runName);
  const values = runs.flatMap((r) => categories.map((c) => value(r, c)));
  return {
    grid: { left: 8, right: 12, top: keyRoom(names, width), bottom: 8, containLabel: true },
    legend: legend(names, width, { itemWidth: 14 }),
    tooltip: tooltip({
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (at) => {
        const category = categories[at[0].dataIndex];
        return tip(
          heading(category),
          runs.map((r, i) => [styleOf(i).color, runName(r, i), show(value(r, category), unit)]),
        );
      },
    }),
    xAxis: axis({
      type: "category",
      data: categories,
      axisLabel: { interval: 0, hideOverlap: false, width: 70, overflow: "break" },
    }),
    yAxis: axis({
      type: isLog ? "log" : "value",
      ...(isLog ? { min: logRange(values).min } : {}),
      axisLabel: { formatter: (v) => show(v, unit, 3) },
    }),
    series: runs.map((r, i) => ({
      name: runName(r, i),
      type: "bar",
      barMaxWidth: 34,
      barGap: "12%",
      itemStyle: { color: styleOf(i).color, borderRadius: [3, 3, 0, 0], decal: decalOf(i) },
      data: categories.map((c) => {
        const v = value(r, c);
        return isFigure(v) && !(isLog && v <= 0) ? v : null;
      }),
    })),
  };
}

// Bars of the second and later runs are hatched, each its own way.
function decalOf(i) {
  if (i === 0) return null;
  const colour = theme().dark ? "rgb(0 0 0/28%)" : "rgb(255 255 255/40%)";
  return {
    color: colour,
    dashArrayX: [1, 0],
    dashArrayY: [2, 4 + i],
    rotation: ((i % 2 ? 1 : -1) * Math.PI) / 4,
  };
}

function saysBuckets(runs, labels, bucket, statistic, word) {
  return runs
    .map((r, i) => {
      const found = labels
        .map((l) => [l, bucket(r, l)])
        .filter(([, b]) => b && isFigure(b[statistic]));
      if (!found.length) return null;
      const [label, worst] = found.reduce((a, b) => (b[1][statistic] > a[1][statistic] ? b : a));
      const most = `highest for flows ${label}, at ${showNumber(worst[statistic])}`;
      return `${ofRun(runs, i)}${runs.length > 1 ? "the" : "The"} ${word} of the slowdown is ${most}.`;
    })
    .filter(Boolean)
    .join(" ");
}

function cutFlows(run) {
  return run.flows ? run.flows.n - run.flows.finished : 0;
}

function cutOperations(run) {
  return valueOf(run, "operations.unfinished") || 0;
}

// What a figure of finished flows or operations cannot show, run by run.
function saysCut(runs, noun, count) {
  return runs
    .map((r, i) =>
      count(r) > 0 ? ` ${ofRun(runs, i)}${plural(count(r), noun)} not in it did not finish.` : "",
    )
    .join("");
}

// ---------------------------------------------------------------------------------- operations

function hasOperations(run) {
  return Boolean(run.operations && run.operations.n > 0);
}

function operationsFigure(runs) {
  if (!runs.some(hasOperations)) return null;
  const curves = runs.flatMap((r, i) =>
    Object.entries((r.operations && r.operations.by_entry) || {}).map(([entry, o]) => ({
      run: runName(r, i),
      entry,
      name: `${runs.length > 1 ? `${runName(r, i)}, ` : ""}${entry}`,
      n: o.n,
      data: list(o.duration),
    })),
  );
  const names = curves.map((c) => c.name);
  return h(
    "div.grid",
    figure({
      title: "Duration of operations",
      height: (width) => 266 + keyRoom(names, width),
      log: "x!",
      option: (width, isLog) =>
        cdfOption(
          names,
          curves.map((c) => c.data),
          "s",
          "duration",
          false,
          isLog,
          width,
        ),
      says: () =>
        curves
          .filter((c) => c.data.length)
          .map((c) => `${c.name}: ${plural(c.n, "operation")}, ${quantiles(c.data, "s")}.`)
          .join(" ") + saysCut(runs, "operation", cutOperations),
      csv: () => [
        ["run", "traffic", "duration_s", "share"],
        ...curves.flatMap((c) => c.data.map(([x, y]) => [c.run, c.entry, x, y])),
      ],
    }),
  );
}

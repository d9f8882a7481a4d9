// The page of `xoff sweep`: the best and the worst point of each metric, metrics against one parameter with
// confidence intervals, heat maps over two, and the Pareto front. A cell is a point with a variant.

function sweepPage(data) {
  const dims = dimensions(data);
  return [
    sweepHead(data, dims),
    list(data.metrics).length > 0 && curvesSection(data, dims),
    list(data.metrics).length > 0 && heatSection(data, dims),
    frontSection(data, dims),
    cellsSection(data, dims),
  ].filter(Boolean);
}

// What cells differ by: the parameters, and the variant where there are several.
function dimensions(data) {
  const points = list(data.points);
  const own = list(data.parameters).map((p, i) => ({
    ...p,
    text: (cell) => points[cell.point].values[i],
    number: (cell) => points[cell.point].numbers[i],
  }));
  const variant = {
    name: "variant",
    unit: "",
    scale: "lin",
    text: (cell) => cell.variant,
    number: () => null,
  };
  const all = list(data.variants).length > 1 ? [...own, variant] : own;
  return all.map((d) => ({
    ...d,
    texts: [...new Set(list(data.cells).map(d.text))],
    isNumber: list(data.cells).every((cell) => isFigure(d.number(cell))),
  }));
}

function cellPlace(dims, cell) {
  return dims.map((d) => `${d.name} ${d.text(cell)}`).join(", ");
}

function estimateOf(metric, cell) {
  const m = cell && cell.metrics[metric.name];
  if (!m) return NONE;
  return show(m.mean, metric.unit) + (isFigure(m.ci95) ? ` \u00b1 ${show(m.ci95, metric.unit, 3)}` : "");
}

// The cell, and how many others have the same mean.
function placeWithTies(dims, metric, cells, index) {
  const same = cells.filter(
    (c) => c.metrics[metric.name] && meanOf(metric, c) === meanOf(metric, cells[index]),
  ).length;
  if (same === cells.length && same > 1) return "all points";
  return cellPlace(dims, cells[index]) + (same > 1 ? `, and ${same - 1} more` : "");
}

// What is the same at all points, the seeds, and how narrow the intervals were to be.
function conditions(data) {
  const settings = Object.entries(data.settings || {});
  const { until } = data;
  const rows = [
    settings.length && ["Set at all points", settings.map(([k, v]) => `${k}: ${v}`).join(", ")],
    list(data.seeds).length && ["Seeds", seedRanges(list(data.seeds)) + (until ? ", and more until the goal" : "")],
    until && ["Goal", `${until.metric} \u00b1 ${toleranceOf(data)}, at most ${plural(until.max_seeds, "seed")}`],
  ].filter(Boolean);
  return rows.length > 0 && h("dl.facts", rows.map(([term, value]) => [h("dt", term), h("dd", value)]));
}

function toleranceOf({ until, metrics }) {
  const { unit } = list(metrics).find((m) => m.name === until.metric) || {};
  return until.relative ? showShare(until.tolerance) : show(until.tolerance, unit);
}

// 1, 2, 3, 7 as "1..3, 7".
function seedRanges(seeds) {
  const runs = [];
  for (const seed of seeds) {
    const last = runs[runs.length - 1];
    if (last && seed === last[1] + 1) last[1] = seed;
    else runs.push([seed, seed]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}..${to}`)).join(", ");
}

function noMetrics(data) {
  return list(data.failures).length === data.runs
    ? "No run is done, so there are no figures."
    : "No run has a figure of any metric that the sweep asks for: sweep.csv has those that there are.";
}

// How many cells have no figure of a metric: their flows did not finish, or their runs failed.
function countWithout(metric, cells) {
  return cells.filter((c) => !c.metrics[metric.name]).length;
}

// What xoff run would say of the runs: a sweep often looks for the points that fail.
function verdictNote(data, dims) {
  const { runs = 0, failed = 0, reasons = [] } = data.verdicts || {};
  if (!failed) return null;
  const cellOf = (r) =>
    list(data.cells).find((c) => c.point === r.point && c.variant === r.variant);
  return h(
    "div.note",
    h("strong", `${failed} of ${plural(runs, "run")} failed an expectation or the audit. `),
    h(
      "ul",
      reasons.map((r) =>
        h(
          "li",
          h("span.mono", r.reason),
          `: ${plural(r.runs, "run")}, first seed ${r.seed} of ${cellPlace(dims, cellOf(r))}: ${r.why}`,
        ),
      ),
    ),
  );
}

// Parameters that change nothing.
function idleNotes(data) {
  return list(data.parameters)
    .filter((p) => p.matters === false)
    .map((p) =>
      h(
        "p.note",
        h("span.mono", p.name),
        " makes no difference: every run is the same with each of its values.",
      ),
    );
}

function sweepHead(data, dims) {
  const cells = list(data.cells);
  const failures = list(data.failures);
  const loose = data.until ? cells.filter((c) => !c.tight) : [];
  const at = (metric, index) => (isFigure(index) ? placeWithTies(dims, metric, cells, index) : NONE);
  return section(
    "best",
    "Best and worst",
    `${plural(list(data.points).length, "point")}, ${plural(data.runs, "run")} of ${data.scenario}. ` +
      "\u00b1: the true mean is within this of the mean shown, with 95 % confidence.",
    conditions(data),
    !list(data.metrics).length && h("p.note", noMetrics(data)),
    failures.length > 0 &&
      h(
        "div.note.bad",
        h("strong", `${plural(failures.length, "run")} failed. `),
        `Point ${failures[0].point}, seed ${failures[0].seed}: ${failures[0].error}`,
      ),
    verdictNote(data, dims),
    idleNotes(data),
    data.until &&
      h(
        loose.length ? "p.note" : "p.lead",
        `${data.until.metric} is as tight as asked at ${cells.length - loose.length} of ${plural(cells.length, "point")}.`,
        loose.length > 0 &&
          ` Not after ${Math.max(...loose.map((c) => c.runs))} seeds: ${cellPlace(dims, loose[0])}` +
            (loose.length > 1 ? `, and ${loose.length - 1} more.` : "."),
      ),
    list(data.metrics).length > 0 && h(
      "div.card.panel",
      plainTable(
        [
          ["metric", (m) => h("span.mono", m.name)],
          ["best", (m) => estimateOf(m, cells[m.best]), { number: true }],
          ["at", (m) => at(m, m.best)],
          ["worst", (m) => estimateOf(m, cells[m.worst]), { number: true }],
          ["at", (m) => at(m, m.worst)],
          ...(list(data.metrics).some((m) => countWithout(m, cells))
            ? [["no figure", (m) => (countWithout(m, cells) ? `at ${countWithout(m, cells)}` : ""), { number: true }]]
            : []),
        ],
        list(data.metrics),
        "Best and worst point of each metric",
      ),
    ),
  );
}

// Drop-downs for the roles of dimensions, and for the value of each that has no role. `fill` gets the chosen
// names and makes the figures anew.
// In a Latin hypercube all points are shown, whatever their other parameters: only the variants lie upon each other.
const MAX_COLOURS = 8;

function chooser(dims, roles, data, fill) {
  const holder = h("div.grid.two");
  const controls = h("div.controls");
  const fixed = new Map(dims.map((d) => [d.name, d.texts[0]]));
  const chosen = { ...roles };
  const update = () => {
    const free = Object.values(chosen);
    const rest = dims.filter(
      (d) => !free.includes(d.name) && (data.design !== "latin" || d.name === "variant"),
    );
    const cells = list(data.cells).filter((cell) =>
      rest.every((d) => d.text(cell) === fixed.get(d.name)),
    );
    forget(holder);
    holder.replaceChildren(...fill(chosen, cells));
    controls.replaceChildren(
      ...Object.keys(roles).map((role) =>
        dropDown(
          `${role} `,
          [
            ...(role === "lines" ? [["", "one line"]] : []),
            ...(role === "colours" ? [["", "one colour"]] : []),
            ...dims
              .filter((d) => role !== "colours" || d.texts.length <= MAX_COLOURS)
              .map((d) => [d.name, d.name]),
          ],
          chosen[role],
          (name) => {
            const other = Object.keys(chosen).find((r) => r !== role && chosen[r] === name);
            if (other) chosen[other] = other === "colours" ? "" : chosen[role];
            chosen[role] = name;
            update();
          },
        ),
      ),
      ...rest
        .filter((d) => d.texts.length > 1)
        .map((d) =>
          dropDown(
            `${d.name} = `,
            d.texts.map((t) => [t, t]),
            fixed.get(d.name),
            (text) => {
              fixed.set(d.name, text);
              update();
            },
          ),
        ),
    );
    drawWaiting();
  };
  update();
  return [dims.length > 1 && controls, holder].filter(Boolean);
}

function curvesSection(data, dims) {
  const asked = data.show || {};
  const isLatin = data.design === "latin";
  const x = asked.x || dims[0].name;
  const other = dims.find((d) => d.name !== x);
  const roles = isLatin
    ? { against: x, colours: dims.some((d) => d.name === "variant") && x !== "variant" ? "variant" : "" }
    : { against: x, lines: asked.series || (other ? other.name : "") };
  return section(
    "curves",
    "Metrics against a parameter",
    isLatin
      ? "Each mark is a point of the Latin hypercube; its other parameters differ as well."
      : "Bars are 95 % confidence intervals of the mean.",
    chooser(dims, roles, data, (chosen, cells) =>
      list(data.metrics).map((m) => curveFigure(data, dims, m, chosen, cells)),
    ),
  );
}

function curveFigure(data, dims, metric, chosen, cells) {
  const x = dims.find((d) => d.name === chosen.against);
  const by = dims.find((d) => d.name === (chosen.lines || chosen.colours));
  const names = by ? by.texts : [""];
  const series = names.map((name) => ({
    name: by ? `${by.name} ${name}` : metric.name,
    points: cells
      .filter((cell) => (!by || by.text(cell) === name) && cell.metrics[metric.name])
      .map((cell) => ({ cell, ...cell.metrics[metric.name] }))
      .sort((a, b) => (x.isNumber ? x.number(a.cell) - x.number(b.cell) : 0)),
  }));
  const points = series.flatMap((s) => s.points);
  return figure({
    title: `${metric.name} against ${x.name}`,
    run: data.title,
    log: "y",
    height: (width) => 290 + (names.length > 1 ? keyHeight(series.map((s) => s.name), width) : 0),
    nothing: "No run at these points has this metric.",
    option: (width, isLog) =>
      points.length ? curveOption(data, metric, x, series, width, isLog) : null,
    says: () => {
      const sorted = [...points].sort((a, b) => a.mean - b.mean);
      const [low, high] = [sorted[0], sorted[sorted.length - 1]];
      return low.mean === high.mean
        ? `${show(low.mean, metric.unit)} ` +
            (points.length < cells.length ? `at ${points.length} of ${cells.length} points.` : "everywhere.")
        : `From ${show(low.mean, metric.unit)} (${cellPlace(dims, low.cell)}) to ` +
            `${show(high.mean, metric.unit)} (${cellPlace(dims, high.cell)}).`;
    },
    csv: () => [
      [...dims.map((d) => d.name), "n", "mean", "ci95"],
      ...points.map((p) => [...dims.map((d) => d.text(p.cell)), p.n, p.mean, p.ci95]),
    ],
  });
}

// The place of a cell on an axis: its number, or its name.
function along(dim, cell) {
  return dim.isNumber ? dim.number(cell) : dim.text(cell);
}

function dimensionAxis(dim, more) {
  return axis({
    type: dim.isNumber ? (dim.scale === "log" ? "log" : "value") : "category",
    data: dim.isNumber ? undefined : dim.texts,
    scale: true,
    name: dim.name,
    nameLocation: "middle",
    nameGap: 28,
    axisLabel: { formatter: (v) => (dim.isNumber ? show(v, dim.unit, 3) : v) },
    ...more,
  });
}

function curveOption(data, metric, x, series, width, isLog) {
  const t = theme();
  const isLatin = data.design === "latin";
  const shown = (p) => !isLog || p.mean > 0;
  return {
    grid: {
      left: 10,
      right: 22,
      top: keyRoom(series.map((s) => s.name), width) + 14,
      bottom: 30,
      containLabel: true,
    },
    legend: legend(series.map((s) => s.name), width),
    tooltip: tooltip({
      trigger: "item",
      formatter: (at) => {
        const p = at.data.point;
        return tip(`${x.name} ${x.text(p.cell)}`, [
          [at.color, at.seriesName, estimateOf(metric, p.cell)],
          [null, "seeds", String(p.n)],
        ]);
      },
    }),
    xAxis: dimensionAxis(x, { splitLine: { show: false } }),
    yAxis: axis({
      type: isLog ? "log" : "value",
      name: metric.name,
      nameTextStyle: { align: "left", color: t.soft, fontSize: 11, padding: [0, 0, 0, -30] },
      axisLabel: { formatter: (v) => show(v, metric.unit, 3) },
    }),
    series: series.flatMap((s, i) => [
      {
        name: s.name,
        type: isLatin ? "scatter" : "line",
        symbol: styleOf(i).marker,
        symbolSize: 7,
        itemStyle: { color: styleOf(i).color },
        lineStyle: { width: 2, color: styleOf(i).color, type: styleOf(i).dash },
        data: s.points
          .filter(shown)
          .map((p) => ({ value: [along(x, p.cell), p.mean], point: p })),
        z: 3,
      },
      intervalsOf(s, i, x, isLog),
    ]),
  };
}

// Confidence intervals as whiskers; on a logarithmic axis they end above zero.
function intervalsOf(s, i, x, isLog) {
  const colour = styleOf(i).color;
  return {
    name: s.name,
    type: "custom",
    silent: true,
    z: 2,
    encode: { x: 0, y: [1, 2] },
    data: s.points
      .filter((p) => p.ci95 > 0 && (!isLog || p.mean > 0))
      .map((p) => [
        along(x, p.cell),
        isLog ? Math.max(p.mean - p.ci95, p.mean / 10) : Math.max(p.mean - p.ci95, Math.min(0, p.min)),
        p.mean + p.ci95,
      ]),
    renderItem(params, api) {
      const [at, low] = api.coord([api.value(0), api.value(1)]);
      const [, high] = api.coord([api.value(0), api.value(2)]);
      return whisker(at, low, high, { stroke: colour, lineWidth: 1.2, fill: null, opacity: 0.75 });
    },
  };
}

function heatSection(data, dims) {
  if (dims.length < 2) return null;
  const asked = list((data.show || {}).heat);
  const roles = {
    across: asked[0] || dims[0].name,
    up: asked[1] || dims.find((d) => d.name !== (asked[0] || dims[0].name)).name,
  };
  return section(
    "heat",
    "Two parameters at a time",
    rampKey("least", "most"),
    chooser(dims, roles, data, (chosen, cells) =>
      list(data.metrics).map((m) => heatFigure(data, dims, m, chosen, cells)),
    ),
  );
}

function heatFigure(data, dims, metric, chosen, all) {
  const [x, y] = [chosen.across, chosen.up].map((name) => dims.find((d) => d.name === name));
  const cells = all.filter((cell) => cell.metrics[metric.name]);
  return figure({
    title: `${metric.name} over ${x.name} and ${y.name}`,
    run: data.title,
    height: data.design === "latin" ? 330 : Math.max(220, 110 + 34 * y.texts.length),
    nothing: "No run at these points has this metric.",
    option: (width) => (cells.length ? heatOption(data, metric, x, y, cells, width) : null),
    says: () => {
      const low = cells.reduce((a, c) => (meanOf(metric, c) < meanOf(metric, a) ? c : a));
      const high = cells.reduce((a, c) => (meanOf(metric, c) > meanOf(metric, a) ? c : a));
      return (
        `Least ${show(meanOf(metric, low), metric.unit)} at ${cellPlace([x, y], low)}; ` +
        `most ${show(meanOf(metric, high), metric.unit)} at ${cellPlace([x, y], high)}.`
      );
    },
    csv: () => [
      [x.name, y.name, metric.name],
      ...cells.map((c) => [x.text(c), y.text(c), meanOf(metric, c)]),
    ],
  });
}

function meanOf(metric, cell) {
  return cell.metrics[metric.name].mean;
}

function heatOption(data, metric, x, y, cells, width) {
  const t = theme();
  const isLatin = data.design === "latin";
  const values = cells.map((c) => meanOf(metric, c));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const share = (v) => (high > low ? (v - low) / (high - low) : 0);
  const named = (dim, more) =>
    isLatin
      ? dimensionAxis(dim, { splitLine: { show: false }, ...more })
      : axis({
          type: "category",
          data: dim.texts,
          name: dim.name,
          nameLocation: "middle",
          nameGap: 28,
          splitLine: { show: false },
          ...more,
        });
  const isRoomy = (width - 110) / x.texts.length > 60;
  return {
    grid: { left: 34, right: 22, top: 14, bottom: 30, containLabel: true },
    tooltip: tooltip({
      trigger: "item",
      formatter: (at) =>
        tip(cellPlace([x, y], at.data.cell), [[null, metric.name, estimateOf(metric, at.data.cell)]]),
    }),
    xAxis: named(x),
    yAxis: named(y, { nameGap: 58, nameRotate: 90 }),
    series: [
      isLatin
        ? {
            type: "scatter",
            symbolSize: 16,
            data: cells.map((cell) => ({
              value: [along(x, cell), along(y, cell)],
              cell,
              itemStyle: { color: rampColour(share(meanOf(metric, cell))), borderColor: t.line },
            })),
          }
        : {
            type: "heatmap",
            data: cells.map((cell) => {
              const at = share(meanOf(metric, cell));
              return {
                value: [x.texts.indexOf(x.text(cell)), y.texts.indexOf(y.text(cell)), at],
                cell,
                itemStyle: { color: rampColour(at), borderColor: t.paper, borderWidth: 2 },
                label: { color: at > 0.5 !== t.dark ? "#ffffff" : "#1b1f24" },
              };
            }),
            label: {
              show: isRoomy,
              fontSize: 11,
              formatter: (at) => show(meanOf(metric, at.data.cell), metric.unit, 3),
            },
          },
    ],
    visualMap: isLatin ? undefined : { show: false, min: 0, max: 1, inRange: { opacity: 1 } },
  };
}

// What the front is about: metrics, or parameters.
function goalsOf(data, dims) {
  const { min = [], max = [] } = ((data.show || {}).pareto) || {};
  const goal = (name, most) => {
    const metric = list(data.metrics).find((m) => m.name === name);
    const dim = dims.find((d) => d.name === name);
    return {
      name,
      most,
      unit: metric ? metric.unit : (dim || {}).unit,
      value: (cell) => (dim ? dim.number(cell) : (cell.metrics[name] || {}).mean),
    };
  };
  return [...min.map((n) => goal(n, false)), ...max.map((n) => goal(n, true))];
}

function leftOutOfFront(goals, cells) {
  const n = cells.filter((c) => !goals.every((g) => isFigure(g.value(c)))).length;
  return n ? ` ${plural(n, "point")} without a figure of each can be on none.` : "";
}

function frontSection(data, dims) {
  const goals = goalsOf(data, dims);
  if (goals.length < 2) return null;
  const cells = list(data.cells);
  const front = cells.filter((c) => c.pareto);
  const holder = h("div.grid.two");
  const chosen = { x: goals[0].name, y: goals[1].name };
  const fill = () => {
    forget(holder);
    holder.replaceChildren(
      frontFigure(data, dims, ...["x", "y"].map((k) => goals.find((g) => g.name === chosen[k])), cells),
    );
    drawWaiting();
  };
  fill();
  const names = goals.map((g) => [g.name, g.name]);
  const pick = (key, label) =>
    dropDown(label, names, chosen[key], (name) => {
      chosen[key] = name;
      fill();
    });
  return section(
    "pareto",
    "Pareto front",
    `${front.length} of ${plural(cells.length, "point")}: no other is at least as good in all of ` +
      `${goals.map((g) => `${g.most ? "most" : "least"} ${g.name}`).join(", ")} and better in one.` +
      leftOutOfFront(goals, cells),
    goals.length > 2 && h("div.controls", pick("x", "across "), pick("y", "up ")),
    holder,
    h(
      "div.card.panel",
      plainTable(
        [
          ...dims.map((d) => [d.name, (c) => d.text(c)]),
          ...goals
            .filter((g) => !dims.some((d) => d.name === g.name))
            .map((g) => [h("span.mono", g.name), (c) => show(g.value(c), g.unit), { number: true }]),
        ],
        front,
        "Points of the Pareto front",
      ),
    ),
  );
}

function frontFigure(data, dims, x, y, cells) {
  const there = cells.filter((c) => isFigure(x.value(c)) && isFigure(y.value(c)));
  const [front, rest] = [there.filter((c) => c.pareto), there.filter((c) => !c.pareto)];
  const marks = (shown, name, i, size) => ({
    name,
    type: "scatter",
    symbol: styleOf(i).marker,
    symbolSize: size,
    itemStyle: i ? { color: theme().soft, opacity: 0.5 } : { color: styleOf(0).color },
    data: shown.map((cell) => ({ value: [x.value(cell), y.value(cell)], cell })),
    z: i ? 2 : 3,
  });
  const named = (goal, more) =>
    axis({
      type: "value",
      scale: true,
      name: `${goal.name} (${goal.most ? "more" : "less"} is better)`,
      nameLocation: "middle",
      axisLabel: { formatter: (v) => show(v, goal.unit, 3) },
      ...more,
    });
  return figure({
    title: `${y.name} against ${x.name}`,
    run: data.title,
    isWide: true,
    height: 340,
    nothing: "No point has both.",
    option: (width) =>
      there.length && {
        grid: { left: 34, right: 58, top: 40, bottom: 30, containLabel: true }, // half of the last label
        legend: legend(["on the front", "not"], width),
        tooltip: tooltip({
          trigger: "item",
          formatter: (at) =>
            tip(cellPlace(dims, at.data.cell), [
              [at.color, x.name, show(x.value(at.data.cell), x.unit)],
              [at.color, y.name, show(y.value(at.data.cell), y.unit)],
            ]),
        }),
        xAxis: named(x, { nameGap: 28 }),
        yAxis: named(y, { nameGap: 62 }),
        series: [marks(front, "on the front", 0, 11), marks(rest, "not", 1, 7)],
      },
    says: () => `${plural(front.length, "point")} on the front, ${rest.length} not.`,
    csv: () => [
      [...dims.map((d) => d.name), x.name, y.name, "front"],
      ...there.map((c) => [...dims.map((d) => d.text(c)), x.value(c), y.value(c), c.pareto]),
    ],
  });
}

function verdictOf(cell) {
  if (cell.verdict_failed) return `${cell.verdict_failed} failed`;
  return cell.failed === cell.runs ? NONE : "passed";
}

const MAX_CELLS = 200; // rows of the table; the CSV has all

function cellsSection(data, dims) {
  const cells = list(data.cells);
  const metrics = list(data.metrics);
  return section(
    "points",
    "All points",
    `Every run with every metric is in sweep.csv and sweep.sqlite.${leftOut(cells.length - MAX_CELLS, "point")}`,
    h(
      "div.card.panel",
      h(
        "div.figure-head",
        h("span"),
        csvButton("All points", fileName("points"), () => [
          [...dims.map((d) => d.name), "runs", "verdict_failed", ...metrics.flatMap((m) => [m.name, `${m.name} ci95`])],
          ...cells.map((c) => [
            ...dims.map((d) => d.text(c)),
            c.runs,
            c.verdict_failed,
            ...metrics.flatMap((m) => {
              const { mean: value, ci95 } = c.metrics[m.name] || {};
              return [value, ci95];
            }),
          ]),
        ]),
      ),
      plainTable(
        [
          ...dims.map((d) => [d.name, (c) => d.text(c)]),
          ["runs", (c) => (c.failed ? `${c.runs} (${c.failed} failed)` : String(c.runs)), { number: true }],
          ["verdict", verdictOf],
          ...metrics.map((m) => [h("span.mono", m.name), (c) => estimateOf(m, c), { number: true }]),
        ],
        cells.slice(0, MAX_CELLS),
        "All points",
      ),
    ),
  );
}

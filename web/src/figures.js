// A figure of a paper redrawn: our series with their spread over seeds, curves over time or
// distributions over seeds, and the paper's numbers as hollow marks.

function paperFigure(paper, f) {
  const series = list(f.series);
  const marks = list(f.marks);
  return figure({
    title: [f.id, f.title].filter(Boolean).join(": ") || "Figure",
    run: paper.paper,
    isWide: list(categories(f)).length > WIDE_FROM,
    height: (width) => 298 + keyHeight(keyNames(f, series, marks), width) + turnedHeight(f, width),
    controls:
      f.state === "shipped" && h("p.small.soft.shipped", `Not run now: ${shippedName(paper)}.`),
    nothing:
      f.kind === "cdf" && series.length
        ? `No run has such a value: ${series.map((s) => seriesName(f, s)).join(", ")}.`
        : f.state === "left-out"
          ? "Not part of the reduced set (--quick), and there are no shipped results."
          : "Nothing was measured for this figure.",
    option: (width) =>
      [...series, ...marks].some((s) => list(s.points).length)
        ? paperOption(f, series, marks, width)
        : null,
    says: () =>
      [f.state === "left-out" && "Not run now.", saysPaper(f, series, marks), f.notes]
        .filter(Boolean)
        .join(" "),
    csv: () => [
      ["kind", "series", "x", "y", "low", "high"],
      ...series.flatMap((s) =>
        list(s.points).map((p) => ["measured", s.name, nameOfX(f, p[0]), p[1], p[2], p[3]]),
      ),
      ...marks.flatMap((m) =>
        list(m.points).map((p) => ["published", m.name, nameOfX(f, p[0]), p[1], null, null]),
      ),
    ],
  });
}

// Of a distribution over runs, how many of them have a value: a curve may end below 1.
function seriesName(f, s) {
  return isFigure(s.of) ? `${s.name} (${s.n} of ${s.of})` : s.name;
}

function keyNames(f, series, marks) {
  return [...series.map((s) => seriesName(f, s)), ...marks.map(markName)];
}

// Categories are named by their position or by their name.
function categories(f) {
  return f.x && Array.isArray(f.x.categories) ? f.x.categories : null;
}

const WIDE_FROM = 8; // categories: from here on a figure takes the whole width
const LETTER = 6.5; // px, rather more than most letters have

function slotWidth(f, width) {
  return (width - 90) / categories(f).length - 6;
}

// Names of categories stand upright where their longest word does not fit below its bars. Returns
// how high they are then, or 0.
function turnedHeight(f, width) {
  const names = list(categories(f)).map(String);
  const word = Math.max(0, ...names.flatMap((n) => n.split(" ")).map((w) => w.length));
  return names.length && word * LETTER > slotWidth(f, width)
    ? LETTER * Math.max(...names.map((n) => n.length))
    : 0;
}

function nameOfX(f, x) {
  const names = categories(f);
  return names && isFigure(x) && names[x] !== undefined ? names[x] : x;
}

function showX(f, x) {
  return categories(f) ? String(nameOfX(f, x)) : show(x, f.x && f.x.unit);
}

function saysPaper(f, series, marks) {
  const points = series.flatMap((s) => list(s.points).map((p) => [s.name, ...p]));
  const hollow = marks.some((m) => list(m.points).length)
    ? "Hollow marks are the paper's numbers."
    : "The paper gives no numbers for it.";
  if (f.kind === "cdf") {
    const overRuns = series.filter((s) => isFigure(s.of));
    const counts = overRuns.map((s) => `${s.name} ${s.n} of ${s.of}`).join(", ");
    return (counts ? `Runs with a value: ${counts}. ` : "") + hollow;
  }
  const unit = (f.y && f.y.unit) || "";
  const top = points.reduce((a, p) => (isFigure(p[2]) && (!a || p[2] > a[2]) ? p : a), null);
  return (
    (top
      ? `Highest measured: ${top[0] || "ours"} at ${showX(f, top[1])}, ${show(top[2], unit)}. `
      : "") + hollow
  );
}

function paperOption(f, series, marks, width) {
  const t = theme();
  const names = categories(f);
  const unit = (f.y && f.y.unit) || "";
  const xUnit = (f.x && f.x.unit) || "";
  const title = (a) => (a && a.label) || "";
  const label = (v) => (names ? v : show(v, xUnit, 3));
  const turned = turnedHeight(f, width);
  const right = Math.max(
    ...series.flatMap((s) => list(s.points).map((p) => p[0])),
    ...marks.flatMap((m) => list(m.points).map((p) => p[0])),
  );
  const ours = series.map((s, i) =>
    f.kind === "bar" ? paperBars(f, s, i, names) : paperLine(f, s, i, right),
  );
  return {
    grid: {
      left: 10,
      right: 18,
      top: 40 + keyHeight(keyNames(f, series, marks), width),
      bottom: turned ? 26 : names ? 48 : 26,
      containLabel: true,
    },
    legend: {
      ...legend([...series.map((s) => seriesName(f, s)), ...marks.map((m) => markKey(m, t))], width),
      show: true,
    },
    tooltip:
      f.kind === "time"
        ? tooltip({ trigger: "axis", formatter: (at) => timeTip(f, at, unit) })
        : tooltip({ trigger: "item", formatter: (at) => paperTip(f, series, marks, at, unit) }),
    xAxis: axis({
      type: names ? "category" : "value",
      data: names,
      scale: f.kind !== "cdf", // distributions of several figures are compared by eye
      name: title(f.x),
      nameLocation: "middle",
      nameGap: turned ? turned + 16 : names ? 50 : 28,
      splitLine: { show: false },
      axisLabel: {
        formatter: label,
        ...(names ? { interval: 0, hideOverlap: false } : {}),
        ...(turned ? { rotate: 90 } : {}),
        ...(names && !turned
          ? { width: Math.min(90, slotWidth(f, width)), overflow: "break", lineHeight: 13 }
          : {}),
      },
    }),
    yAxis: axis({
      type: "value",
      max: f.kind === "cdf" ? 1 : null,
      name: title(f.y),
      nameTextStyle: { align: "left", color: t.soft, fontSize: 11, padding: [0, 0, 0, -30] },
      axisLabel: { formatter: (v) => show(v, unit, 3) },
    }),
    series: [
      ...ours,
      ...series.map((s, i) => spreadOf(f, s, i, series.length)),
      ...marks.map((m, i) => paperMarks(f, m, i, series, t)),
    ].filter(Boolean),
  };
}

function positions(f, points) {
  return list(points).map((p) => [nameOfX(f, p[0]), p[1]]);
}

function paperBars(f, s, i, names) {
  return {
    name: s.name,
    type: "bar",
    barMaxWidth: 44,
    barGap: "15%",
    data: positions(f, s.points),
    z: 2,
    encode: names ? undefined : { x: 0, y: 1 },
    itemStyle: { color: styleOf(i).color, borderRadius: [3, 3, 0, 0], decal: decalOf(i) },
  };
}

// A distribution rises from 0 at its first value and stays where it is after its last.
function steps(points, right) {
  const [first, last] = [points[0], points[points.length - 1]];
  return first ? [[first[0], 0], ...points, [right, last[1]]] : [];
}

function paperLine(f, s, i, right) {
  const style = styleOf(i);
  const points = positions(f, s.points);
  return {
    name: seriesName(f, s),
    type: "line",
    data: f.kind === "cdf" ? steps(points, right) : points,
    step: f.kind === "cdf" ? "end" : false,
    symbol: style.marker,
    symbolSize: 7,
    showSymbol: f.kind !== "time" && points.length < 40,
    itemStyle: { color: style.color },
    lineStyle: { width: 2, color: style.color, type: style.dash },
    z: 2,
  };
}

// Where the i-th of n bars of a category stands, as an offset from the middle in units of the band.
// Mirrors the library's own layout: gap 15 % of a bar, 20 % of the band free at the sides.
function barOffset(i, n, band) {
  const width = Math.min(44, (band * 0.8) / (n + 0.15 * (n - 1)));
  return (i - (n - 1) / 2) * width * 1.15;
}

// Smallest to largest value over the seeds, as a whisker.
function spreadOf(f, s, i, n) {
  const points = list(s.points).filter((p) => isFigure(p[2]) && isFigure(p[3]) && p[2] !== p[3]);
  if (!points.length) return null;
  const ink = theme().ink;
  return {
    name: `${s.name} spread`,
    type: "custom",
    silent: true,
    z: 4,
    encode: { x: 0, y: [1, 2] },
    data: points.map((p) => [nameOfX(f, p[0]), p[2], p[3]]),
    renderItem(params, api) {
      const [x, low] = api.coord([api.value(0), api.value(1)]);
      const [, high] = api.coord([api.value(0), api.value(2)]);
      const at = x + (f.kind === "bar" ? barOffset(i, n, api.size([1, 0])[0]) : 0);
      return whisker(at, low, high, { stroke: ink, lineWidth: 1.3, fill: null });
    },
  };
}

function markName(m) {
  return m.name && m.name !== "paper" ? `${m.name} (paper)` : "paper";
}

function markKey(m, t) {
  return {
    name: markName(m),
    icon: "diamond",
    itemStyle: { color: t.paper, borderColor: t.ink, borderWidth: 2 },
  };
}

// A mark stands over the bar of the series of the same name, else in the middle.
function paperMarks(f, m, i, series, t) {
  const own = series.findIndex((s) => s.name === m.name);
  return {
    name: markName(m),
    type: "custom",
    z: 5,
    data: positions(f, m.points),
    encode: { x: 0, y: 1 },
    itemStyle: { color: t.ink },
    renderItem(params, api) {
      const [x, y] = api.coord([api.value(0), api.value(1)]);
      const at =
        x + (f.kind === "bar" && own >= 0 ? barOffset(own, series.length, api.size([1, 0])[0]) : 0);
      return {
        type: "polygon",
        shape: {
          points: [
            [at, y - 7],
            [at + 7, y],
            [at, y + 7],
            [at - 7, y],
          ],
        },
        style: { fill: t.paper, stroke: t.ink, lineWidth: 2 },
      };
    },
  };
}

// All series at the instant that is pointed at.
function timeTip(f, at, unit) {
  const points = list(at);
  return points.length
    ? tip(
        showX(f, points[0].value[0]),
        points.map((p) => [p.color, p.seriesName, show(p.value[1], unit)]),
      )
    : "";
}

function paperTip(f, series, marks, at, unit) {
  const found = series.find((s) => seriesName(f, s) === at.seriesName);
  const point = found && f.kind !== "cdf" && list(found.points)[at.dataIndex];
  const [x, y] = at.value;
  const rows = [[at.color, found ? "measured" : "published", show(y, unit)]];
  if (point && isFigure(point[2]) && isFigure(point[3]))
    rows.push([null, "over the seeds", `${show(point[2], unit)} to ${show(point[3], unit)}`]);
  return tip(`${at.seriesName}, ${showX(f, x)}`, rows);
}

// Throughput, queues, inputs, pauses and buffers over time: one figure each, all on one time axis, as are
// buffers by pool (pools.js) and lanes (lanes.js). Zooming one zooms all (they are connected), also
// with the buttons above them and with the keyboard. The network stands above them and can be
// replayed (replay.js): a line in the charts marks its instant.

const TIME_GROUP = "time";
const TIME_LEFT = 118; // px; the same in all charts, so that instants stand above one another
const TIME_RIGHT = 16;
// `before`: a value is the mean of the interval that its sample ends.
const METRICS = [
  { metric: "throughput", title: "Throughput", unit: "bps", before: true },
  { metric: "queue", title: "Queues", unit: "B" },
  { metric: "input", title: "Inputs", unit: "B" },
  { metric: "pause", title: "Time paused", unit: "fraction", before: true, isBars: true },
  { metric: "buffer", title: "Buffers", unit: "B" },
];
const FIRST_SHOWN = 4; // series drawn before anyone chooses
const FIRST_KEYS = 16; // keys not folded away

// The time that the charts of the run on the page span, in seconds.
let span = { from: 0, to: 1 };

// The part of the time axis that is shown, in percent.
const zoom = { start: 0, end: 100, listeners: new Set() };

function timelineSection(run) {
  span = timeSpan(run);
  const series = list(run.series).filter((s) => list(s.points).length && peakOf(s)[2] > 0);
  const stops = stopRows(run);
  const hasTime = series.length > 0 || stops.length > 0;
  zoom.start = 0;
  zoom.end = 100;
  zoom.listeners.clear();
  const replay = networkFigure(run, hasTime ? stops : []);
  if (!hasTime && !replay) return null;
  if (!hasTime)
    return section(
      "timeline",
      "Network",
      "No series were recorded; a scenario asks for them with measure.",
      h("div.grid", replay),
      linksPanel(run),
    );
  // Sampled shares say no more than the pauses themselves, unless some of those are missing.
  const isTwice = stops.length > 0 && !((run.pauses || {}).left_out > 0);
  const kinds = METRICS.filter(
    (m) => series.some((s) => s.metric === m.metric) && !(m.isBars && isTwice),
  );
  const figures = kinds.map((m, i) =>
    metricFigure(
      run,
      m,
      series.filter((s) => s.metric === m.metric),
      i === 0,
    ),
  );
  const pools = poolsFigure(run, series, !kinds.length);
  const pauses = pausesFigure(run, stops, !kinds.length && !pools);
  const lead =
    (figures.length
      ? "A line is the mean of each interval, its band reaches from the smallest to the largest value."
      : "") +
    (run.series_left_out > 0
      ? ` Only in run.sqlite: ${plural(run.series_left_out, "quieter series", "quieter series")}.`
      : "");
  return section(
    "timeline",
    "Over time",
    lead,
    timeBar(Boolean(replay)),
    h("div.grid", replay, figures, pools, pauses),
    linksPanel(run),
  );
}

// From shortly before the first traffic to the last.
function timeSpan(run) {
  if (run.to_s > run.from_s) return { from: run.from_s, to: run.to_s };
  if (run.end_s > 0) return { from: 0, to: run.end_s };
  const ends = list(run.series)
    .map((s) => list(s.points))
    .filter((p) => p.length)
    .map((p) => p[p.length - 1][0]);
  return { from: 0, to: Math.max(1e-9, ...ends) };
}

// An instant, with as many more digits as the axis begins far from 0: those of 2 s and 2.0001 s
// must not read alike.
function showInstant(t, digits = 4) {
  const far = Math.floor(Math.log10(span.to / (span.to - span.from)));
  return showTime(t, digits + Math.max(0, far));
}

// ------------------------------------------------------------------------------------------ zoom

function timeChart() {
  for (const chart of charts)
    if (chart.f.group === TIME_GROUP && chart.instance) return chart.instance;
  return null;
}

// The shown part of the time axis, in seconds.
function shownTime() {
  const at = (percent) => span.from + ((span.to - span.from) * percent) / 100;
  return { from: at(zoom.start), to: at(zoom.end) };
}

const LEAST_ZOOM = 0.05; // percent

function zoomTo(start, end) {
  const width = Math.max(LEAST_ZOOM, Math.min(100, end - start));
  const from = Math.max(0, Math.min(100 - width, start));
  const instance = timeChart();
  if (instance)
    instance.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start: from, end: from + width });
}

const ZOOMS = {
  in: () =>
    zoomTo(zoom.start + (zoom.end - zoom.start) / 4, zoom.end - (zoom.end - zoom.start) / 4),
  out: () =>
    zoomTo(zoom.start - (zoom.end - zoom.start) / 2, zoom.end + (zoom.end - zoom.start) / 2),
  earlier: () =>
    zoomTo(zoom.start - (zoom.end - zoom.start) / 4, zoom.end - (zoom.end - zoom.start) / 4),
  later: () =>
    zoomTo(zoom.start + (zoom.end - zoom.start) / 4, zoom.end + (zoom.end - zoom.start) / 4),
  all: () => zoomTo(0, 100),
};
const ZOOM_KEYS = {
  "+": "in",
  "=": "in",
  "-": "out",
  ArrowLeft: "earlier",
  ArrowRight: "later",
  0: "all",
  Home: "all",
};

function onTimeKey(event) {
  const action = ZOOM_KEYS[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  ZOOMS[action]();
}

function iconButton(text, label, onclick) {
  return h("button", { type: "button", "aria-label": label, title: label, onclick }, text);
}

function timeBar(hasReplay) {
  const output = h("output", { "aria-live": "polite" });
  const tell = () => {
    const { from, to } = shownTime();
    output.textContent = `${showInstant(from)} to ${showInstant(to)}`;
  };
  zoom.listeners.add(tell);
  tell();
  return h(
    "div.timebar.screen",
    { role: "toolbar", "aria-label": "Time axis" },
    hasReplay && replayBar(),
    h(
      "div.controls",
      { style: "margin:0" },
      iconButton("+", "Zoom in", ZOOMS.in),
      iconButton("\u2212", "Zoom out", ZOOMS.out),
      iconButton("\u2190", "Earlier", ZOOMS.earlier),
      iconButton("\u2192", "Later", ZOOMS.later),
      iconButton("Whole run", "Show the whole run", ZOOMS.all),
      output,
      h(
        "span.soft.small.hint",
        { title: "On a focused chart: + and - zoom, arrows move, 0 shows all" },
        "Ctrl + wheel or pinch zooms, drag moves" +
          (hasReplay ? ", a click shows the network at that time." : "."),
      ),
    ),
  );
}

// What every chart on the time axis has: axis, zoom, pointer.
// One of them carries the slider; the others have it unseen, since a zoom finds its like by name.
function timeParts(slider, width) {
  const coarse = matchMedia("(pointer: coarse)").matches;
  const { start, end } = zoom;
  const t = theme();
  return {
    grid: {
      left: TIME_LEFT,
      right: TIME_RIGHT,
      top: 12,
      bottom: slider ? 46 : 24,
      outerBoundsMode: "none",
    },
    xAxis: axis({
      type: "value",
      min: span.from,
      max: span.to,
      splitLine: { show: false },
      splitNumber: Math.max(3, Math.round((width - TIME_LEFT) / 110)),
      axisLabel: {
        formatter: (v) => showInstant(v, 3),
        showMinLabel: span.from > 0 ? false : null,
        showMaxLabel: false,
      },
    }),
    dataZoom: [
      {
        id: "inside",
        type: "inside",
        xAxisIndex: 0,
        start,
        end,
        minSpan: LEAST_ZOOM,
        filterMode: "none",
        zoomOnMouseWheel: "ctrl",
        moveOnMouseWheel: false,
        moveOnMouseMove: !coarse,
        preventDefaultMouseMove: false,
      },
      {
        id: "slider",
        type: "slider",
        xAxisIndex: 0,
        start,
        end,
        minSpan: LEAST_ZOOM,
        filterMode: "none",
        show: slider && !printing,
        height: 12,
        bottom: 4,
        left: TIME_LEFT,
        right: TIME_RIGHT,
        showDetail: false,
        showDataShadow: false,
        brushSelect: false,
        borderColor: "transparent",
        backgroundColor: t.faint,
        fillerColor: t.dark ? "rgb(108 192 240/22%)" : "rgb(0 114 178/14%)",
        handleStyle: { color: t.paper, borderColor: t.soft },
        moveHandleSize: 0,
      },
    ],
  };
}

// Notes where the zoom stands after any change of it; a click moves the replay.
function followZoom(instance) {
  instance.on("datazoom", () => {
    const at = instance.getOption().dataZoom[0];
    if (zoom.start === at.start && zoom.end === at.end) return;
    zoom.start = at.start;
    zoom.end = at.end;
    for (const f of zoom.listeners) f();
  });
  instance.getZr().on("click", (event) => {
    if (instance.containPixel("grid", [event.offsetX, event.offsetY]))
      replayAt(instance.convertFromPixel({ xAxisIndex: 0 }, event.offsetX));
  });
}

// ---------------------------------------------------------------------------------------- series

function nameOfSeries(s) {
  if (s.name) return s.name;
  const port = isFigure(s.port) ? `:${s.port}` : "";
  return `${s.node || "?"}${port}${isFigure(s.priority) ? ` priority ${s.priority}` : ""}`;
}

function peakOf(s) {
  return s.points.reduce((a, p) => (p[2] > a[2] ? p : a));
}

function seriesCsv(ranked) {
  return [
    ["series", "node", "port", "priority", "t_s", "min", "max", "mean"],
    ...ranked.flatMap((r) =>
      r.s.points.map((p) => [r.name, r.s.node, r.s.port, r.s.priority, ...p]),
    ),
  ];
}

function saysPeak([top], unit) {
  return `Highest: ${top.name}, ${show(top.peak[2], unit)} at ${showInstant(top.peak[0])}.`;
}

function metricFigure(run, m, series, slider) {
  const unit = m.isBars ? "fraction" : series[0].unit || m.unit;
  // Style belongs to the series, by rank, so that a key keeps its colour when others come and go.
  const ranked = series
    .map((s) => ({ s, name: nameOfSeries(s), peak: peakOf(s) }))
    .sort((a, b) => b.peak[2] - a.peak[2])
    .map((r, i) => ({ ...r, i, before: m.before, on: i < FIRST_SHOWN }));
  const isMany = m.metric === "throughput" && ranked.length > FIRST_SHOWN;
  return m.isBars || isMany
    ? seriesLanes(run, m, unit, ranked, slider)
    : lineFigure(run, m.title, unit, ranked, slider);
}

// Many ports, each with its lane: in the order of their names, so that neighbours stand together.
function seriesLanes(run, m, unit, ranked, slider) {
  const most = m.isBars ? 1 : ranked[0].peak[2];
  const lanes = [...ranked]
    .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }))
    .map((r) => ({ name: r.name, label: r.name, ...stepsOfPoints(r.s.points, most, m.before) }));
  return laneFigure(
    run,
    {
      title: m.title,
      lanes,
      isBars: m.isBars,
      most: show(most, unit),
      show: (level) => show(level * most, unit),
      says: () => `${plural(ranked.length, "port")}. ${saysPeak(ranked, unit)}`,
      csv: () => seriesCsv(ranked),
    },
    slider,
  );
}

function lineFigure(run, title, unit, ranked, slider) {
  const element = figure({
    title,
    run: run.name,
    height: slider ? 252 : 230,
    group: TIME_GROUP,
    log: "y",
    onCreate: followZoom,
    onKey: onTimeKey,
    option: (width, isLog) => {
      const shown = ranked.filter((r) => r.on);
      return seriesOption(unit, shown, slider, width, isLog);
    },
    says: () => saysSeries(ranked, unit),
    below: seriesKeys(ranked, () => redraw(element)),
    csv: () => seriesCsv(ranked),
  });
  return element;
}

function saysSeries(ranked, unit) {
  const shown = ranked.filter((r) => r.on).length;
  const drawn = `${shown} of ${plural(ranked.length, "series", "series")} drawn`;
  return `${drawn}. ${saysPeak(ranked, unit)}`;
}

function seriesKeys(ranked, onChange) {
  const key = (r) => {
    const button = h(
      "button",
      {
        type: "button",
        "aria-pressed": String(r.on),
        onclick: () => {
          r.on = !r.on;
          button.setAttribute("aria-pressed", String(r.on));
          onChange();
        },
      },
      swatch(r.i),
      r.name,
    );
    return h("li", button);
  };
  const rest = ranked.slice(FIRST_KEYS);
  return h(
    "div",
    h("ul.keys", { "aria-label": "Series" }, ranked.slice(0, FIRST_KEYS).map(key)),
    rest.length > 0 &&
      h(
        "details.more",
        h("summary", `${plural(rest.length, "more series", "more series")}`),
        h("ul.keys", rest.map(key)),
      ),
  );
}

function seriesOption(unit, shown, slider, width, isLog) {
  // A logarithmic axis has no place for 0: what is below its end is drawn there.
  const range = isLog ? logRange(shown.flatMap((r) => r.s.points.map((p) => p[3]))) : {};
  const floor = isLog ? range.min || 1 : 0;
  return {
    ...timeParts(slider, width),
    yAxis: axis({
      type: isLog ? "log" : "value",
      min: floor,
      splitNumber: 4,
      max: isLog ? undefined : axisTop(unit, shown),
      interval: !isLog && axisTop(unit, shown) === 1 ? 0.25 : null,
      axisLabel: { formatter: (v) => show(v, unit, 3) },
    }),
    tooltip: tooltip({
      trigger: "axis",
      axisPointer: { type: "line", snap: true },
      formatter: (at) => seriesTip(at[0].axisValue, shown, unit),
    }),
    series: shown.flatMap((r) => [bandSeries(r, 0.2, floor), lineSeries(r, floor)]).filter(Boolean),
  };
}

// A share ends at all; nothing shown leaves an empty axis.
function axisTop(unit, shown) {
  if (!shown.length) return 1;
  return unit === "fraction" && shown.some((r) => r.peak[2] > 0.8) ? 1 : null;
}

// Times at which the values of the points begin and end: a line starts where its data does. A value
// holds until the next point, since repeated values may have been left out; that of an interval is
// drawn over it.
function edgesOf(points, before) {
  const last = points.length - 1;
  const width = last > 0 ? points[1][0] - points[0][0] : 0;
  return points.map((p, i) =>
    before
      ? [i ? points[i - 1][0] : Math.max(span.from, p[0] - width), p[0]]
      : [p[0], i < last ? points[i + 1][0] : p[0]],
  );
}

function lineSeries(r, floor = 0) {
  const style = styleOf(r.i);
  const data = r.s.points.map(([t, , , mean]) => [t, Math.max(floor, mean)]);
  if (r.before) data.unshift([edgesOf(r.s.points, true)[0][0], data[0][1]]);
  return {
    name: r.name,
    type: "line",
    step: r.before ? "start" : "end",
    data,
    showSymbol: data.length < 2,
    symbol: style.marker,
    itemStyle: { color: style.color },
    lineStyle: { width: 1.6, color: style.color, type: style.dash },
    emphasis: { disabled: true },
    z: 3,
  };
}

// From smallest to largest value as one polygon, drawn with the first point; the other points only
// give the axis its range.
function bandSeries(r, opacity = 0.2, floor = 0) {
  if (r.s.points.every(([, min, max]) => min === max)) return null;
  const points = r.s.points;
  const { color } = styleOf(r.i);
  return {
    name: `${r.name} band`,
    type: "custom",
    clip: true,
    silent: true,
    z: 2,
    progressive: 0,
    data: points.map(([t, min, max]) => [t, Math.max(floor, min), Math.max(floor, max)]),
    encode: { x: 0, y: [1, 2] },
    renderItem(params, api) {
      if (params.dataIndex !== 0) return null;
      const times = edgesOf(points, r.before);
      const edge = (column) =>
        points.flatMap((p, i) => times[i].map((t) => api.coord([t, Math.max(floor, p[column])])));
      return {
        type: "polygon",
        shape: { points: [...edge(1), ...edge(2).reverse()] },
        style: { fill: color, opacity },
      };
    },
  };
}

function seriesTip(t, shown, unit) {
  return tip(
    showInstant(t),
    shown.map((r) => {
      const p = pointAt(r.s.points, t);
      if (!p) return [styleOf(r.i).color, r.name, NONE];
      const range = p[1] === p[2] ? "" : ` (${show(p[1], unit, 3)} to ${show(p[2], unit, 3)})`;
      return [styleOf(r.i).color, r.name, show(p[3], unit), range];
    }),
  );
}

// The last point not after t.
function pointAt(points, t) {
  const n = countUntil(points, t, (p) => p[0]);
  return n ? points[n - 1] : null;
}

// Throughput, queues, inputs, pauses and buffers over time: one figure each, all on one time axis, as are
// buffers by pool (pools.js) and the heat map of pauses. Zooming one zooms all (they are
// connected), also with the buttons above them and with the keyboard.

const TIME_GROUP = "time";
const TIME_LEFT = 104; // px; the same in all charts, so that instants stand above one another
const METRICS = [
  ["throughput", "Throughput", "bps"],
  ["queue", "Queues", "B"],
  ["input", "Inputs", "B"],
  ["pause", "Time paused", "fraction"],
  ["buffer", "Buffers", "B"],
];
const FIRST_SHOWN = 4; // series drawn before anyone chooses
const FIRST_KEYS = 16; // keys not folded away

// The time that the charts of the run on the page span, in seconds.
let span = { from: 0, to: 1 };

// The part of the time axis that is shown, in percent.
const zoom = { start: 0, end: 100, listeners: new Set() };

function timelineSection(run) {
  span = timeSpan(run);
  const series = list(run.series).filter((s) => list(s.points).length);
  const heat = heatFigure(run, !series.length);
  if (!series.length && !heat)
    return section(
      "timeline",
      "Over time",
      "No series were recorded; a scenario asks for them with measure.",
    );
  zoom.start = 0;
  zoom.end = 100;
  zoom.listeners.clear();
  const sliderOn = (METRICS.find(([metric]) => series.some((s) => s.metric === metric)) || [])[0];
  const figures = METRICS.map(([metric, title, unit]) =>
    seriesFigure(
      run,
      title,
      unit,
      series.filter((s) => s.metric === metric),
      metric === sliderOn,
    ),
  ).filter(Boolean);
  const pools = poolsFigure(run, series, !sliderOn);
  const lead =
    "The line is the mean of each interval, the band reaches from its smallest to its largest " +
    "value." +
    (run.series_left_out > 0
      ? ` Only in run.sqlite: ${plural(run.series_left_out, "quieter series", "quieter series")}.`
      : "");
  return section("timeline", "Over time", lead, timeBar(), h("div.grid", figures, pools, heat));
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

function zoomTo(start, end) {
  const width = Math.max(0.05, Math.min(100, end - start));
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

function timeBar() {
  const output = h("output", { "aria-live": "polite" });
  const tell = () => {
    const [from, to] = [zoom.start, zoom.end].map((percent) =>
      showInstant(span.from + ((span.to - span.from) * percent) / 100),
    );
    output.textContent = `${from} to ${to}`;
  };
  zoom.listeners.add(tell);
  tell();
  const button = (action, text, label) =>
    h(
      "button",
      { type: "button", "aria-label": label, title: label, onclick: ZOOMS[action] },
      text,
    );
  return h(
    "div.timebar.screen",
    { role: "toolbar", "aria-label": "Time axis" },
    h(
      "div.controls",
      { style: "margin:0" },
      button("in", "+", "Zoom in"),
      button("out", "\u2212", "Zoom out"),
      button("earlier", "\u2190", "Earlier"),
      button("later", "\u2192", "Later"),
      button("all", "Whole run", "Show the whole run"),
      output,
      h(
        "span.soft.small",
        { title: "On a focused chart: + and - zoom, arrows move, 0 shows all" },
        "Ctrl + wheel or pinch zooms, drag moves.",
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
      right: 16,
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
        filterMode: "none",
        show: slider && !printing,
        height: 12,
        bottom: 4,
        left: TIME_LEFT,
        right: 16,
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

// Notes where the zoom stands after any change of it.
function followZoom(instance) {
  instance.on("datazoom", () => {
    const at = instance.getOption().dataZoom[0];
    if (zoom.start === at.start && zoom.end === at.end) return;
    zoom.start = at.start;
    zoom.end = at.end;
    for (const f of zoom.listeners) f();
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

function seriesFigure(run, title, fallbackUnit, series, slider) {
  if (!series.length) return null;
  const unit = series[0].metric === "pause" ? "fraction" : series[0].unit || fallbackUnit;
  // Style belongs to the series, by rank, so that a key keeps its colour when others come and go.
  const ranked = series
    .map((s) => ({ s, name: nameOfSeries(s), peak: peakOf(s) }))
    .sort((a, b) => b.peak[2] - a.peak[2])
    .map((r, i) => ({ ...r, i, on: i < FIRST_SHOWN }));
  const element = figure({
    title,
    run: run.name,
    height: slider ? 252 : 230,
    group: TIME_GROUP,
    onCreate: followZoom,
    onKey: onTimeKey,
    option: (width) =>
      seriesOption(
        unit,
        ranked.filter((r) => r.on),
        slider,
        width,
      ),
    says: () => saysSeries(ranked, unit),
    below: seriesKeys(ranked, () => redraw(element)),
    csv: () => [
      ["series", "node", "port", "priority", "t_s", "min", "max", "mean"],
      ...ranked.flatMap((r) =>
        r.s.points.map((p) => [r.name, r.s.node, r.s.port, r.s.priority, ...p]),
      ),
    ],
  });
  return element;
}

function saysSeries(ranked, unit) {
  const [top] = ranked;
  const shown = ranked.filter((r) => r.on).length;
  return (
    `${shown} of ${plural(ranked.length, "series", "series")} drawn. ` +
    `Highest: ${top.name}, ${show(top.peak[2], unit)} at ${showInstant(top.peak[0])}.`
  );
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

function seriesOption(unit, shown, slider, width) {
  return {
    ...timeParts(slider, width),
    yAxis: axis({
      type: "value",
      min: 0,
      splitNumber: 4,
      max: axisTop(unit, shown),
      interval: axisTop(unit, shown) === 1 ? 0.25 : null,
      axisLabel: { formatter: (v) => show(v, unit, 3) },
    }),
    tooltip: tooltip({
      trigger: "axis",
      axisPointer: { type: "line", snap: true },
      formatter: (at) => seriesTip(at[0].axisValue, shown, unit),
    }),
    series: shown.flatMap((r) => [bandSeries(r), lineSeries(r)]).filter(Boolean),
  };
}

// A share ends at all; nothing shown leaves an empty axis.
function axisTop(unit, shown) {
  if (!shown.length) return 1;
  return unit === "fraction" && shown.some((r) => r.peak[2] > 0.8) ? 1 : null;
}

// The value holds until the next point: repeated values may have been left out.
function lineSeries(r) {
  const style = styleOf(r.i);
  const data = r.s.points.map(([t, , , mean]) => [t, mean]);
  const last = data[data.length - 1];
  if (last[0] < span.to) data.push([span.to, last[1]]);
  return {
    name: r.name,
    type: "line",
    step: "end",
    data,
    showSymbol: false,
    symbol: style.marker,
    itemStyle: { color: style.color },
    lineStyle: { width: 1.6, color: style.color, type: style.dash },
    emphasis: { disabled: true },
    z: 3,
  };
}

// From smallest to largest value as one polygon, drawn with the first point; the other points only
// give the axis its range.
function bandSeries(r, opacity = 0.2) {
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
    data: points.map(([t, min, max]) => [t, min, max]),
    encode: { x: 0, y: [1, 2] },
    renderItem(params, api) {
      if (params.dataIndex !== 0) return null;
      const edge = (column) =>
        points.flatMap((p, i) => {
          const until = i + 1 < points.length ? points[i + 1][0] : span.to;
          return [api.coord([p[0], p[column]]), api.coord([until, p[column]])];
        });
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
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= t) low = middle + 1;
    else high = middle;
  }
  return low ? points[low - 1] : null;
}

// A lane per port on the time axis of the other charts: bars for pauses (as high as the share of the time
// they took), shades for throughput of many ports. Lanes are drawn anew for the time that is shown, one
// value for every few pixels, so that zooming in goes down to single pauses.

const DRAWN_LANES = 60;

// f: {title, lanes: [{name, label, times, levels}], isBars, show(level), most, says, csv, leftOut}
function laneFigure(run, f, slider) {
  const lanes = f.lanes.slice(0, DRAWN_LANES);
  const step = lanes.length > 40 ? 12 : lanes.length > 16 ? 16 : 22;
  let hovered = span.from;
  return figure({
    title: f.title,
    run: run.name,
    group: TIME_GROUP,
    onCreate: (instance) => {
      followZoom(instance);
      instance.getZr().on("mousemove", (event) => {
        hovered = instance.convertFromPixel({ xAxisIndex: 0 }, event.offsetX);
      });
    },
    onKey: onTimeKey,
    height: (slider ? 58 : 36) + Math.max(2, lanes.length) * step,
    option: (width) => laneOption({ ...f, lanes }, step, slider, width, () => hovered),
    says: f.says,
    below: h(
      "div.ramps",
      f.isBars
        ? h("span.ramp", "a bar is as high as the share of the time that was paused")
        : rampKey("0", f.most, "cool"),
    ),
    csv: f.csv,
  });
}

function laneOption(f, step, slider, width, hovered) {
  const t = theme();
  return {
    ...timeParts(slider, width),
    yAxis: axis({
      type: "category",
      inverse: true,
      data: f.lanes.map((l) => l.label),
      splitLine: { show: true, lineStyle: { color: t.faint } },
      axisLine: { show: false },
      axisLabel: {
        fontSize: Math.min(11, step - 2),
        interval: 0,
        width: TIME_LEFT - 10,
        overflow: "truncate",
        ellipsis: "\u2026",
      },
    }),
    tooltip: tooltip({
      trigger: "item",
      formatter: (at) => {
        const lane = f.lanes[at.dataIndex];
        const row = [null, showInstant(hovered()), f.show(levelAt(lane, hovered()))];
        return tip(lane.name, [row]);
      },
    }),
    series: [
      {
        type: "custom",
        clip: true,
        progressive: 0,
        encode: { x: [0, 1], y: 2 },
        data: f.lanes.map((_, i) => [span.from, span.to, i]),
        renderItem: (params, api) => drawLane(f, f.lanes[params.dataIndex], params, api),
      },
    ],
  };
}

function drawLane(f, lane, params, api) {
  const t = theme();
  const [begin, y] = api.coord([span.from, api.value(2)]);
  const [end] = api.coord([span.to, api.value(2)]);
  const { x, width } = params.coordSys;
  const time = (pixel) => span.from + ((pixel - begin) / (end - begin)) * (span.to - span.from);
  const n = Math.max(1, Math.floor(width / (f.isBars ? 1 : 3)));
  const means = meansOf(lane, time(x), time(x + width), n);
  const height = Math.max(3, api.size([0, 1])[1] - 2);
  const ground = {
    type: "rect",
    shape: { x, y: y - height / 2, width, height },
    style: { fill: t.dark ? "#ffffff" : "#000000", opacity: 0.001 },
  };
  const drawn = f.isBars
    ? laneBars(means, x, width / n, y + height / 2, height, t)
    : laneShades(means, x, width / n, y - height / 2, height);
  return { type: "group", children: [ground, ...drawn] };
}

// One outline for all bars of a lane. A pause, however short, must show.
function laneBars(means, x, step, bottom, height, t) {
  const points = [[x, bottom]];
  means.forEach((mean, i) => {
    const top = bottom - (mean > 0 ? Math.max(2, mean * height) : 0);
    points.push([x + i * step, top], [x + (i + 1) * step, top]);
  });
  points.push([x + means.length * step, bottom]);
  return [
    { type: "polygon", silent: true, shape: { points }, style: { fill: t.bad, opacity: 0.9 } },
  ];
}

const SHADES = 24;

// Neighbours of the same shade are one rectangle.
function laneShades(means, x, step, top, height) {
  const drawn = [];
  const shade = (i) => (means[i] > 0 ? Math.max(1, Math.round(means[i] * SHADES)) : 0);
  for (let i = 0, from = 0; i <= means.length; i++) {
    if (i < means.length && shade(i) === shade(from)) continue;
    if (shade(from) > 0)
      drawn.push({
        type: "rect",
        silent: true,
        shape: { x: x + from * step, y: top, width: (i - from) * step + 0.3, height },
        style: { fill: rampColour(shade(from) / SHADES, "cool") },
      });
    from = i;
  }
  return drawn;
}

// ---------------------------------------------------------------------------------------- pauses

// Rows of the results' stops, each with its steps.
function stopRows(run) {
  const stops = run.stops || {};
  const width = (span.to - span.from) / (stops.bins || 1);
  return list(stops.rows).map((row) => ({
    ...row,
    label: pauseLabel(row),
    ...(row.spans
      ? stepsOfSpans(row.spans, stops.t0_s, stops.tick_s)
      : stepsOfBins(row.bins || "", stops.t0_s, width)),
  }));
}

// Who pauses whom, short enough for the axis. The sign is not an arrow: those stand for traffic.
const STOPS = "\u22a3";

function pauseLabel(row) {
  return `${row.node} ${STOPS} ${row.peer}${isFigure(row.priority) ? ` p${row.priority}` : ""}`;
}

function pausesFigure(run, rows, slider) {
  if (!rows.length) return null;
  const { rows_left_out: n = 0 } = run.stops;
  const notDrawn = n + Math.max(0, rows.length - DRAWN_LANES);
  return laneFigure(
    run,
    {
      title: "Pauses by port and priority",
      lanes: rows,
      isBars: true,
      show: (level) => (level > 0 ? (level < 1 ? `paused ${showShare(level)}` : "paused") : "open"),
      says: () =>
        `${plural(rows.length, "port and priority", "ports and priorities")} paused ` +
        `${rows.length > 1 ? "their peers" : "its peer"}. Longest: ${rows[0].name}, ` +
        `${showTime(rows[0].paused_s)}.${leftOut(notDrawn, "less paused row")}`,
      csv: () => [
        ["port", "from_s", "to_s", "paused_fraction"],
        ...rows.flatMap((row) =>
          [...row.times]
            .map((from, i) => [row.name, from, row.times[i + 1] ?? span.to, row.levels[i]])
            .filter(([, , , level]) => level > 0),
        ),
      ],
    },
    slider,
  );
}

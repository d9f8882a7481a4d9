// What went wrong in the network (drops, deadlocks), and how near it came (watermarks).

function lossesSection(run) {
  const drops = list(run.drops);
  const deadlocks = list(run.deadlocks);
  if (!drops.length && !deadlocks.length) return null;
  return section(
    "losses",
    drops.length ? (deadlocks.length ? "Losses and deadlocks" : "Losses") : "Deadlocks",
    null,
    drops.length > 0 &&
      h(
        "div.card.panel",
        h(
          "div.figure-head",
          h("h3", "Frames lost"),
          csvButton("Frames lost", fileName(run.name, "drops"), () => recordRows(drops)),
        ),
        dropTable(drops),
      ),
    deadlocks.length > 0 &&
      h(
        "div.card.panel",
        h("h3", "Deadlocks"),
        h(
          "ul.deadlocks",
          deadlocks.map((d) => h("li", saysDeadlock(d))),
        ),
      ),
  );
}

// Records as CSV, with whatever fields they have.
function recordRows(records) {
  const keys = [...new Set(records.flatMap((r) => Object.keys(r)))];
  return [
    keys,
    ...records.map((r) =>
      keys.map((k) => (typeof r[k] === "object" && r[k] !== null ? JSON.stringify(r[k]) : r[k])),
    ),
  ];
}

function dropTable(drops) {
  const text = (key) => (d) => (d[key] === null || d[key] === undefined ? NONE : String(d[key]));
  const columns = [
    ["node", text("node")],
    ["came in at port", text("port")],
    ["bound for port", text("out_port")],
    ["priority", text("priority")],
    ["cause", text("cause")],
    ["class", (d) => (d.lossless ? "lossless" : "lossy")],
    ["frames", (d) => showNumber(d.frames), { number: true }],
    ["bytes", (d) => showBytes(d.bytes), { number: true }],
    ["first at", (d) => showInstant(d.first_s), { number: true }],
  ];
  const known = {
    "came in at port": "port",
    "bound for port": "out_port",
    class: "lossless",
    "first at": "first_s",
  };
  return plainTable(
    columns.filter(([name]) => drops.some((d) => (known[name] || name) in d)),
    drops,
    "Frames lost, by place and cause",
  );
}

// The cycle, each port waiting for the next, and when their gates closed.
function saysDeadlock(d) {
  const ports = list(d.ports);
  const when = [
    isFigure(d.onset_s) && `complete at ${showInstant(d.onset_s)}`,
    isFigure(d.found_s) && `found at ${showInstant(d.found_s)}`,
  ].filter(Boolean);
  const closing = (p) => (isFigure(p.closed_s) ? `; gate closed at ${showInstant(p.closed_s)}` : "");
  return [
    when.join(", "),
    h(
      "ol.cycle",
      ports.map((p, i) =>
        h(
          "li",
          h("b", p.name),
          ` waits for ${i + 1 < ports.length ? "the next" : "the first"}`,
          h("span.soft", closing(p)),
        ),
      ),
    ),
  ];
}

// ------------------------------------------------------------------------------------ watermarks

function watermarksSection(run) {
  const marks = run.watermarks || {};
  const figures = [
    watermarkFigure(
      run,
      "Buffers, fullest instant",
      list(marks.buffers).map((b) => ({ ...b, name: `${b.node} ${b.name}`, buffer: b.name })),
      "buffer",
    ),
    watermarkFigure(run, "Own headroom, most used", list(marks.headroom), "headroom"),
  ].filter(Boolean);
  return figures.length
    ? section(
        "watermarks",
        "Watermarks",
        "The most that was ever in use, of what there is.",
        h("div.grid.two", figures),
      )
    : null;
}

const DRAWN_BARS = 24;

function watermarkFigure(run, title, marks, noun) {
  if (!marks.length) return null;
  const part = (m) => (m.size > 0 ? m.peak / m.size : 0);
  const sorted = [...marks].sort((a, b) => part(b) - part(a) || b.peak - a.peak);
  const shown = sorted.slice(0, DRAWN_BARS);
  return figure({
    title,
    run: run.name,
    height: 44 + Math.max(2, shown.length) * 22,
    option: (width) => watermarkOption(shown, part, width),
    says: () =>
      `Fullest ${noun}: ${sorted[0].name}, ${showBytes(sorted[0].peak)}` +
      (sorted[0].size > 0
        ? ` of ${showBytes(sorted[0].size)} (${showShare(part(sorted[0]))}).`
        : ".") +
      (sorted.length > shown.length
        ? ` ${sorted.length - shown.length} less full are in the CSV.`
        : ""),
    csv: () => [
      [...(noun === "buffer" ? ["node", "buffer", "pool"] : ["name"]), "peak_bytes", "size_bytes"],
      ...marks.flatMap((m) =>
        noun === "buffer" ? bufferRows(m) : [[m.name, m.peak, m.size]],
      ),
    ],
  });
}

// The whole buffer, then its pools.
function bufferRows({ node, buffer, peak, size, pools }) {
  return [{ name: "all", peak, size }, ...list(pools)].map((p) => [
    node,
    buffer,
    p.name,
    p.peak,
    p.size,
  ]);
}

function watermarkOption(shown, part, width) {
  const t = theme();
  const sized = shown.some((m) => m.size > 0);
  const wide = Math.min(
    width * 0.3,
    12 + 6.6 * Math.max(...shown.map((m) => String(m.name).length)),
  );
  return {
    grid: { left: wide, right: 66, top: 4, bottom: 24, outerBoundsMode: "none" },
    tooltip: tooltip({
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (at) => {
        const m = shown[at[0].dataIndex];
        return tip(m.name, [
          [null, "most used", showBytes(m.peak)],
          [null, "size", showBytes(m.size)],
          ...list(m.pools).map((p) => [
            null,
            p.name,
            `${showBytes(p.peak)} of ${showBytes(p.size)}`,
          ]),
        ]);
      },
    }),
    xAxis: axis({
      type: "value",
      min: 0,
      max: sized ? 1 : null,
      interval: sized ? 0.25 : null,
      splitNumber: 4,
      axisLabel: { formatter: (v) => (sized ? showShare(v) : showBytes(v, 3)) },
    }),
    yAxis: axis({
      type: "category",
      inverse: true,
      data: shown.map((m) => m.name),
      splitLine: { show: false },
      axisLabel: { interval: 0, width: wide - 8, overflow: "truncate", color: t.ink },
    }),
    series: [
      {
        type: "bar",
        barWidth: 11,
        data: shown.map((m) => (sized ? part(m) : m.peak)),
        showBackground: sized,
        backgroundStyle: { color: t.faint, borderRadius: 3 },
        itemStyle: {
          color: (at) => (sized && at.value > 0.9 ? t.bad : t.series[0]),
          borderRadius: 3,
        },
        label: {
          show: true,
          position: "right",
          color: t.soft,
          fontSize: 11,
          formatter: (at) => showBytes(shown[at.dataIndex].peak, 3),
        },
      },
    ],
  };
}

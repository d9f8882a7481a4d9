// What a switch's buffer held over time, by pool, stacked; with the size of the buffer. Means are
// stacked: they add up, while the largest values of the pools need not have met.

const POOLS = ["reserved", "shared", "headroom", "insurance"];
// Where ports have insurance, footroom and headroom are one space.
const SHARED_POOLS = { shared: "shared footroom", headroom: "shared headroom" };

function isPool(s) {
  return POOLS.includes(s.metric);
}

// The switches that have samples, fullest first.
function poolSwitches(series) {
  const byNode = new Map();
  for (const s of series.filter(isPool)) byNode.set(s.node, [...(byNode.get(s.node) || []), s]);
  return [...byNode]
    .map(([node, found]) => stackedPools(node, found))
    .sort((a, b) => b.peak[1] - a.peak[1]);
}

// The pools of a switch, each with points [t, below, above, above]: where its layer lies. The times
// are those of all pools, since each may have left out what did not change.
function stackedPools(node, found) {
  const isOneSpace = found.some((s) => s.metric === "insurance");
  const pools = POOLS.flatMap((metric, i) => {
    const s = found.find((f) => f.metric === metric);
    return s ? [{ i, s, name: (isOneSpace && SHARED_POOLS[metric]) || metric, layer: [] }] : [];
  });
  const times = new Set(pools.flatMap((p) => p.s.points.map(([t]) => t)));
  let peak = [0, 0];
  for (const t of [...times].sort((a, b) => a - b)) {
    let height = 0;
    for (const p of pools) {
      const at = pointAt(p.s.points, t);
      const below = height;
      height += at ? at[3] : 0;
      p.layer.push([t, below, height, height]);
    }
    if (height > peak[1]) peak = [t, height];
  }
  return { node, pools, peak, buffer: found[0].buffer };
}

function poolsFigure(run, series, slider) {
  const switches = poolSwitches(series);
  if (!switches.length) return null;
  let [chosen] = switches;
  const keys = h("div.ramps");
  const fill = () =>
    keys.replaceChildren(...chosen.pools.map((p) => h("span.ramp", swatch(p.i), p.name)));
  const element = figure({
    title: "Buffer by pool",
    run: run.name,
    height: slider ? 272 : 250,
    group: TIME_GROUP,
    onCreate: followZoom,
    onKey: onTimeKey,
    option: (width) => poolsOption(chosen, slider, width),
    says: () => saysPools(chosen),
    controls:
      switches.length > 1 &&
      h(
        "div.controls",
        dropDown(
          "Switch",
          switches.map(({ node }) => [node, node]),
          chosen.node,
          (node) => {
            chosen = switches.find((s) => s.node === node);
            fill();
            redraw(element);
          },
        ),
      ),
    below: keys,
    csv: () => [
      ["switch", "pool", "capacity_bytes", "t_s", "min", "max", "mean"],
      ...switches.flatMap(({ node, pools }) =>
        pools.flatMap(({ s }) => s.points.map((p) => [node, s.metric, s.capacity, ...p])),
      ),
    ],
  });
  fill();
  return element;
}

// The size of a buffer that stays nearly empty would press everything else flat.
function showsCapacity({ buffer, peak }) {
  return isFigure(buffer) && buffer > 0 && peak[1] > buffer / 4;
}

function saysPools(chosen) {
  const { node, pools, peak, buffer } = chosen;
  const most = pools.map(
    ({ name, s }) => `${name} ${showBytes(peakOf(s)[2])} of ${showBytes(s.capacity)}`,
  );
  return (
    `${node}, fullest at ${showInstant(peak[0])}: ${showBytes(peak[1])} of ${showBytes(buffer)}. ` +
    `Most in each pool: ${most.join(", ")}. Pools are stacked` +
    (showsCapacity(chosen) ? "; the dashed line is the buffer." : ".")
  );
}

function poolsOption(chosen, slider, width) {
  const { pools, buffer } = chosen;
  // The lowest is drawn last: the edge of an empty pool lies on that of the pool below it.
  const layers = pools.map((p) => ({ name: p.name, i: p.i, s: { points: p.layer } })).reverse();
  return {
    ...timeParts(slider, width),
    yAxis: axis({
      type: "value",
      min: 0,
      splitNumber: 4,
      axisLabel: { formatter: (v) => showBytes(v, 3) },
    }),
    tooltip: tooltip({
      trigger: "axis",
      axisPointer: { type: "line", snap: true },
      formatter: (at) => poolsTip(at[0].axisValue, chosen),
    }),
    series: [
      ...layers.flatMap((r) => [bandSeries(r, 0.55), lineSeries(r)]).filter(Boolean),
      showsCapacity(chosen) && capacityLine(buffer),
    ].filter(Boolean),
  };
}

function capacityLine(bytes) {
  const { soft } = theme();
  return {
    name: "buffer",
    type: "line",
    silent: true,
    showSymbol: false,
    data: [
      [span.from, bytes],
      [span.to, bytes],
    ],
    itemStyle: { color: soft },
    lineStyle: { width: 1.2, color: soft, type: [6, 4] },
    emphasis: { disabled: true },
    tooltip: { show: false },
    z: 1,
  };
}

// From the top of the stack down.
function poolsTip(t, { node, pools, buffer }) {
  const rows = pools.map((p) => {
    const at = pointAt(p.s.points, t) || [t, 0, 0, 0];
    const range = at[1] === at[2] ? "" : ` (${showBytes(at[1], 3)} to ${showBytes(at[2], 3)})`;
    return [styleOf(p.i).color, p.name, showBytes(at[3]), range];
  });
  const top = pools.length && pointAt(pools[pools.length - 1].layer, t);
  const all = [null, "all", showBytes(top ? top[2] : 0), ` of ${showBytes(buffer)}`];
  return tip(`${node}, ${showInstant(t)}`, [...rows.reverse(), all]);
}

// The network, a row per level. Each link is two lines, one per direction: the wider, the more it
// carried; the warmer, the longer it was paused. Utilisation and pauses are shares of the time with
// traffic.

function topologySection(run) {
  const topology = run.topology || {};
  const nodes = list(topology.nodes);
  if (!nodes.length) return null;
  const lines = directions(topology);
  const folded =
    topology.hosts_folded > 0
      ? ` ${plural(topology.hosts_folded, "host is", "hosts are")} not drawn.`
      : "";
  const most = Math.max(0, ...lines.map((l) => l.paused || 0));
  const element = figure({
    title: "Topology",
    run: run.name,
    height: (width) => topologyHeight(nodes, width),
    option: (width) => topologyOption(run, nodes, lines, most, width),
    says: () =>
      saysTopology(nodes, lines) +
      folded +
      leftOut(topology.nodes_left_out, "quieter node") +
      leftOut(topology.links_left_out, "link"),
    below: h(
      "div.ramps",
      h("span.ramp", "a line per direction; width: share of the time with traffic that it was busy"),
      most > 0 && rampKey("colour: never paused", `paused for ${showShare(most)} of it`),
    ),
    csv: () => [
      ["from", "to", "rate_bps", "utilisation", "paused"],
      ...lines.map((l) => [l.from, l.to, l.rate, l.busy, l.paused]),
    ],
  });
  return section(
    "topology",
    "Network",
    null,
    h("div.grid", element),
    h("details.card.panel", h("summary", "Links as a table"), linkTable(run, lines)),
  );
}

function directions(topology) {
  return list(topology.links).flatMap((l) => [
    { from: l.a, to: l.b, rate: l.rate_bps, busy: l.utilisation_ab, paused: l.paused_ab },
    { from: l.b, to: l.a, rate: l.rate_bps, busy: l.utilisation_ba, paused: l.paused_ba },
  ]);
}

function linkTable(run, lines) {
  const sorted = [...lines].sort(
    (a, b) => (b.paused || 0) - (a.paused || 0) || (b.busy || 0) - (a.busy || 0),
  );
  return plainTable(
    [
      ["from", (l) => l.from],
      ["to", (l) => l.to],
      ["rate", (l) => showRate(l.rate), { number: true }],
      ["utilisation", (l) => showShare(l.busy), { number: true }],
      ["paused", (l) => pausedFor(run, l), { number: true }],
    ],
    sorted,
    "Links with rate, utilisation and time paused",
  );
}

function pausedFor(run, line) {
  if (!isFigure(line.paused)) return NONE;
  return isFigure(run.traffic_s)
    ? `${showTime(line.paused * run.traffic_s)} (${showShare(line.paused)})`
    : showShare(line.paused);
}

function saysTopology(nodes, lines) {
  const hosts = nodes.filter((n) => n.kind === "host").length;
  const top = (key) =>
    lines.reduce((a, l) => (isFigure(l[key]) && (!a || l[key] > a[key]) ? l : a), null);
  const [busiest, stopped] = [top("busy"), top("paused")];
  return (
    `${plural(nodes.length - hosts, "switch", "switches")} and ${plural(hosts, "host")}.` +
    (busiest ? ` Busiest: ${busiest.from} to ${busiest.to}, ${showShare(busiest.busy)}.` : "") +
    (stopped && stopped.paused > 0
      ? ` Longest paused: ${stopped.from} to ${stopped.to}, ${showShare(stopped.paused)}.`
      : "")
  );
}

// ---------------------------------------------------------------------------------------- places

const ROW_HEIGHT = 118;
const LEAST_GAP = 13; // px between neighbours; a denser row is folded into several

function levelOf(node) {
  return isFigure(node.level) ? node.level : node.kind === "host" ? 0 : 1;
}

// Rows from the top down, hosts at the bottom.
function rowsOf(nodes) {
  const levels = new Map();
  for (const n of nodes) levels.set(levelOf(n), [...(levels.get(levelOf(n)) || []), n]);
  const rows = [...levels].sort((a, b) => b[0] - a[0]).map(([, row]) => row);
  return rows[0].some((n) => n.kind === "host") && rows.length > 1 ? rows.reverse() : rows;
}

function foldsOf(row, width) {
  return Math.max(1, Math.ceil((row.length * LEAST_GAP) / width));
}

function topologyHeight(nodes, width) {
  const rows = rowsOf(nodes);
  const folded = rows.reduce((sum, row) => sum + foldsOf(row, width) - 1, 0);
  return 84 + (rows.length - 1) * ROW_HEIGHT + folded * 22;
}

// Places each row's nodes below (or above) those they hang on; evenly where that would crowd them.
function placeNodes(nodes, lines, width) {
  const neighbours = new Map(nodes.map((n) => [n.name, []]));
  for (const l of lines) if (neighbours.has(l.from)) neighbours.get(l.from).push(l.to);
  const rows = rowsOf(nodes);
  const order = new Map();
  const place = new Map();
  const mean = (node, where) => {
    const known = neighbours
      .get(node.name)
      .map((n) => where.get(n))
      .filter(isFigure);
    return known.length ? known.reduce((a, b) => a + b) / known.length : null;
  };
  for (const row of rows) {
    // top down: an order in which links cross little
    const key = new Map(row.map((n, i) => [n, [mean(n, order) ?? i, i]]));
    row.sort((a, b) => key.get(a)[0] - key.get(b)[0] || key.get(a)[1] - key.get(b)[1]);
    row.forEach((n, i) => order.set(n.name, (i + 0.5) / row.length));
  }
  [...rows].reverse().forEach((row) => {
    // bottom up: places
    const wanted = row.map((n) => mean(n, place));
    const least = 0.6 / row.length;
    const fits = wanted.every((x, i) => x !== null && (i === 0 || x - wanted[i - 1] >= least));
    row.forEach((n, i) => place.set(n.name, fits ? wanted[i] : (i + 0.5) / row.length));
  });
  let y = 0;
  const places = new Map();
  for (const row of rows) {
    const folds = foldsOf(row, width);
    row.forEach((n, i) => places.set(n.name, [place.get(n.name), y + (i % folds) * 22]));
    y += ROW_HEIGHT + (folds - 1) * 22;
  }
  return { places, rows, depth: y - ROW_HEIGHT };
}

// --------------------------------------------------------------------------------------- drawing

function topologyOption(run, nodes, lines, most, width) {
  const t = theme();
  const { places, rows, depth } = placeNodes(nodes, lines, width);
  const rowOf = new Map(rows.flatMap((row) => row.map((n) => [n.name, row])));
  const drawn = lines.filter((l) => places.has(l.from) && places.has(l.to));
  const hidden = { show: false, min: 0, max: 1, type: "value" };
  return {
    grid: { left: 10, right: 10, top: 34, bottom: 50, outerBoundsMode: "none" },
    xAxis: hidden,
    yAxis: { ...hidden, max: Math.max(1, depth), inverse: true },
    tooltip: tooltip({
      trigger: "item",
      formatter: (at) =>
        at.dataType === "edge"
          ? lineTip(run, drawn[at.dataIndex])
          : nodeTip(run, at.data.node, lines),
    }),
    series: [
      {
        type: "graph",
        coordinateSystem: "cartesian2d",
        edgeSymbol: ["none", "arrow"],
        edgeSymbolSize: [0, 6],
        emphasis: { focus: "adjacency", lineStyle: { opacity: 1 } },
        blur: { lineStyle: { opacity: 0.15 } },
        data: nodes.map((node) =>
          nodeItem(node, places.get(node.name), rowOf.get(node.name), width, depth),
        ),
        edges: drawn.map((l) => ({
          source: l.from,
          target: l.to,
          value: l.busy,
          lineStyle: {
            width: 1 + 4.5 * (l.busy || 0),
            curveness: 0.06,
            opacity: 0.9,
            color:
              l.paused > 0
                ? rampColour(0.25 + (0.75 * l.paused) / most)
                : t.dark
                  ? "#59636d"
                  : "#b9bfc4",
          },
        })),
      },
    ],
  };
}

function nodeItem(node, place, row, width, depth) {
  const t = theme();
  const host = node.kind === "host";
  const gap = width / row.length;
  const below = place[1] >= depth - 1e-9 || host;
  const longest = Math.max(...row.map((n) => String(n.name).length));
  const turned = gap < longest * 7 + 6;
  const fill = node.buffer ? node.buffer.peak / node.buffer.size : null;
  return {
    name: node.name,
    node,
    value: place,
    symbol: host ? "circle" : "roundRect",
    symbolSize: host
      ? Math.max(6, Math.min(13, gap * 0.55))
      : [Math.max(14, Math.min(40, gap * 0.6)), 20],
    itemStyle: {
      color: host ? t.paper : fill === null ? t.faint : bufferFill(fill, t),
      borderColor: t.dark ? "#aab2ba" : "#4a525a",
      borderWidth: 1.4,
    },
    label: {
      show: gap >= 11,
      position: below ? "bottom" : "top",
      distance: below && turned ? 7 : 5,
      rotate: turned ? 90 : 0,
      align: turned ? (below ? "right" : "left") : "center",
      verticalAlign: turned ? "middle" : below ? "top" : "bottom",
      color: t.soft,
      fontSize: 11,
      formatter: "{b}",
      backgroundColor: host ? null : t.paper,
      padding: host ? 0 : [1, 3],
      borderRadius: 3,
    },
  };
}

// A switch filled from below as far as its buffer was at the fullest instant.
function bufferFill(share, t) {
  const full = Math.max(0, Math.min(1, share));
  const [wet, dry] = [t.series[0], t.paper];
  return {
    type: "linear",
    x: 0,
    y: 1,
    x2: 0,
    y2: 0,
    colorStops: [
      { offset: 0, color: wet },
      { offset: full, color: wet },
      { offset: full, color: dry },
      { offset: 1, color: dry },
    ],
  };
}

function lineTip(run, l) {
  return tip(`${l.from} to ${l.to}`, [
    [null, "rate", showRate(l.rate)],
    [null, "utilisation", showShare(l.busy)],
    [null, "paused", pausedFor(run, l)],
  ]);
}

function nodeTip(run, node, lines) {
  const rows = [[null, "kind", node.kind || NONE]];
  if (node.buffer) {
    const { name, peak, size } = node.buffer;
    rows.push([null, `${name} buffer, fullest`, `${showBytes(peak)} of ${showBytes(size)}`]);
  }
  if (node.hosts > 0)
    rows.push([
      null,
      plural(node.hosts, "host"),
      `at most ${showShare(node.hosts_utilisation)} busy, ${showShare(node.hosts_paused)} paused`,
    ]);
  const mine = lines.filter((l) => l.from === node.name);
  for (const l of mine.slice(0, 6))
    rows.push([null, `to ${l.to}`, `${showShare(l.busy)} busy, ${showShare(l.paused)} paused`]);
  if (mine.length > 6) rows.push([null, `and ${mine.length - 6} more`, ""]);
  return tip(node.name, rows);
}

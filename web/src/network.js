// The network, as it was over the whole run or at an instant of the replay.
//
// Each link is two lines, one per direction. Over the whole run a line is the wider, the more it carried, and
// the warmer, the longer it was paused; shares are of the time with traffic. At an instant its width is
// its load, its queue grows from where it is sent, and a paused line is dashed and has a bar at the sender
// that must wait. The shapes are made once; a frame changes those that differ from the last one.

const MANY_LINES = 500; // directions; above, queues and arrowheads are left away

function directionsOf(topology) {
  return list(topology.links).flatMap((l) => [
    {
      from: l.a,
      port: l.a_port,
      to: l.b,
      toPort: l.b_port,
      rate: l.rate_bps,
      busy: l.utilisation_ab,
      paused: l.paused_ab,
    },
    {
      from: l.b,
      port: l.b_port,
      to: l.a,
      toPort: l.a_port,
      rate: l.rate_bps,
      busy: l.utilisation_ba,
      paused: l.paused_ba,
    },
  ]);
}

// The network with what it did over time: rows of steps for directions and nodes, and the deadlock's cycle.
function networkOf(run, stops) {
  const topology = run.topology || {};
  const lines = directionsOf(topology);
  const replay = run.replay || {};
  const rows = (kind) =>
    new Map(
      list(replay[kind]).map((r) => [
        isFigure(r.port) ? `${r.node}:${r.port}` : r.node,
        stepsOfBins(r.bins, replay.t0_s, replay.dt_s),
      ]),
    );
  const [queues, loads] = [rows("queues"), rows("loads")];
  for (const l of lines) {
    l.stops = stops.filter((s) => s.node === l.to && s.port === l.toPort);
    l.queue = queues.get(`${l.from}:${l.port}`);
    l.load = loads.get(`${l.from}:${l.port}`);
  }
  return {
    topology,
    nodes: list(topology.nodes),
    lines,
    buffers: rows("buffers"),
    longest: replay.longest_queue,
    cycle: cycleOf(run, lines),
    most: Math.max(0, ...lines.map((l) => l.paused || 0)),
  };
}

// Directions of the first deadlock's cycle in the order in which their gates closed.
function cycleOf(run, lines) {
  const [deadlock] = list(run.deadlocks);
  const cycle = list(deadlock && deadlock.ports)
    .map((p) => ({
      line: lines.find((l) => l.from === p.node && l.port === p.port),
      closed: isFigure(p.closed_s) ? p.closed_s : deadlock.onset_s,
    }))
    .filter((c) => c.line)
    .sort((a, b) => a.closed - b.closed);
  // Gates that closed at the same time have the same number.
  cycle.forEach((c, i) => {
    c.number = i && cycle[i - 1].closed === c.closed ? cycle[i - 1].number : i + 1;
  });
  return cycle;
}

function networkFigure(run, stops) {
  const net = networkOf(run, stops);
  if (!net.nodes.length) return null;
  let drawn = null;
  const { topology } = net;
  const left =
    (topology.hosts_folded > 0
      ? ` ${plural(topology.hosts_folded, "host is", "hosts are")} not drawn.`
      : "") +
    leftOut(topology.nodes_left_out, "quieter node") +
    leftOut(topology.links_left_out, "link");
  const says = () =>
    (clock.t === null ? saysNetwork(net) : saysInstant(net, clock.t)) + saysCycle(net) + left;
  const element = figure({
    title: "Network",
    run: run.name,
    height: (width) => layoutOf(net.nodes, net.lines, width).height,
    paint: (painter, width) => {
      drawn = paintNetwork(run, net, painter, width, element);
      drawn.show(clock.t);
      painter.refreshImmediately(); // paper does not wait
    },
    says,
    onKey: onReplayKey,
    below: networkKeys(net),
    csv: () => [
      ["from", "to", "rate_bps", "utilisation", "paused"],
      ...net.lines.map((l) => [l.from, l.to, l.rate, l.busy, l.paused]),
    ],
  });
  let told = 0;
  startClock(run, net, stops, (t) => {
    if (drawn) drawn.show(t);
    // Words change the height of the page: while it plays, a few times a second are enough.
    if (clock.frame && performance.now() - told < 250) return;
    told = performance.now();
    element.chart.caption.textContent = says();
  });
  return element;
}

function networkKeys(net) {
  return h(
    "div.ramps",
    h("span.ramp", "\u2192 traffic, a line per direction: the wider, the busier"),
    net.most > 0 && rampKey("over the run: never paused", `for ${showShare(net.most)} of it`),
    net.lines.some((l) => l.stops.length) &&
      h("span.ramp", h("b.stops", STOPS), " in the replay: the sender is paused"),
    net.longest > 0 &&
      h("span.ramp", h("i.queue"), `in the replay: queue; the longest is ${showBytes(net.longest)}`),
    net.cycle.length > 0 &&
      h("span.ramp", h("i.cycle"), "deadlock; numbers: the order in which the gates closed"),
  );
}

// ----------------------------------------------------------------------------------------- words

function saysNetwork({ nodes, lines }) {
  const hosts = nodes.filter((n) => n.kind === "host").length;
  const top = (key) =>
    lines.reduce((a, l) => (isFigure(l[key]) && (!a || l[key] > a[key]) ? l : a), null);
  const [busiest, stopped] = [top("busy"), top("paused")];
  return (
    `The whole run: ${plural(nodes.length - hosts, "switch", "switches")} and ` +
    `${plural(hosts, "host")}.` +
    (busiest ? ` Busiest: ${busiest.from} to ${busiest.to}, ${showShare(busiest.busy)}.` : "") +
    (stopped && stopped.paused > 0
      ? ` Longest paused: ${stopped.from} to ${stopped.to}, ${showShare(stopped.paused)}.`
      : "")
  );
}

function pausedAt(line, t) {
  return line.stops.reduce((most, row) => Math.max(most, levelAt(row, t)), 0);
}

function saysInstant({ lines, longest }, t) {
  const paused = lines.filter((l) => pausedAt(l, t) > 0);
  const queued = lines
    .map((l) => [l, l.queue ? levelAt(l.queue, t) : 0])
    .reduce((a, b) => (b[1] > a[1] ? b : a), [null, 0]);
  const some = paused.slice(0, 4).map((l) => `${l.from} to ${l.to}`);
  return (
    `At ${showInstant(t)}: ` +
    (paused.length
      ? `${plural(paused.length, "direction")} paused (${some.join(", ")}` +
        `${paused.length > 4 ? ", \u2026" : ""}).`
      : "nobody is paused.") +
    (queued[0]
      ? ` Longest queue: ${queued[0].from} to ${queued[0].to}, ${showBytes(queued[1] * longest, 2)}.`
      : "")
  );
}

function saysCycle({ cycle }) {
  if (!cycle.length) return "";
  const steps = cycle.map(
    ({ line, closed, number }) =>
      `${number} ${line.from} to ${line.to} at ${showInstant(closed)}`,
  );
  if (cycle.length > 1 && cycle[cycle.length - 1].number === 1) {
    const ring = [...cycle.map(({ line }) => line.from), cycle[0].line.from];
    return ` Deadlock: ${ring.join(", ")}; all gates closed at ${showInstant(cycle[0].closed)}.`;
  }
  return ` Deadlock: the gates closed in the order ${steps.join(", ")}.`;
}

// --------------------------------------------------------------------------------------- shapes

// Draws the network and returns show(t), which brings the drawing to an instant; null: the whole run.
function paintNetwork(run, net, painter, width, element) {
  const t = theme();
  const layout = layoutOf(net.nodes, net.lines, width);
  const { graphic } = echarts;
  painter.storage.delAllRoots(); // clear() would leave the library's SVG painter without a root
  const add = (kind, more) => {
    const shape = new graphic[kind]({ silent: true, ...more });
    painter.add(shape);
    return shape;
  };
  const isMany = net.lines.length > MANY_LINES;
  const places = lineGeometry(net, layout);
  const marks = net.cycle.map((c) => cycleMark(add, places.get(c.line), c.number, t));
  const lines = net.lines
    .filter((l) => places.has(l))
    .map((l) => lineShapes(add, l, places.get(l), isMany, t));
  const nodes = net.nodes.map((n) => nodeShapes(add, n, layout.spots.get(n.name), t));
  const label = add("Text", {
    z: 9,
    style: { x: 4, y: 2, text: " ", fill: t.ink, font: "600 14px system-ui, sans-serif" },
  });
  hoverOn(painter, element, (shape) =>
    shape.line ? lineTip(run, shape.line) : nodeTip(shape.node, net.lines),
  );
  element.chart.box.painter = painter;

  const show = (at) => {
    label.attr({ ignore: at === null, style: { text: at === null ? " " : showInstant(at) } });
    lines.forEach((shapes) => showLine(add, shapes, net, at, t));
    nodes.forEach((shapes) => showNode(shapes, net, at));
    marks.forEach((shapes, i) =>
      shapes.forEach((s) => s.attr("ignore", at !== null && at < net.cycle[i].closed)),
    );
  };
  return { show };
}

// Ends of each direction's line: beside its counterpart, and those of parallel links side by side.
function lineGeometry(net, { spots }) {
  const between = new Map();
  const geometry = new Map();
  const byName = new Map(net.nodes.map((n) => [n.name, n]));
  for (const l of net.lines) {
    if (!spots.has(l.from) || !spots.has(l.to)) continue;
    const pair = `${l.from}>${l.to}`;
    const index = between.get(pair) || 0;
    between.set(pair, index + 1);
    const [a, b] = [spots.get(l.from), spots.get(l.to)];
    const [dx, dy] = [b.at[0] - a.at[0], b.at[1] - a.at[1]];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const offset = 3.2 + 7 * index;
    const end = (spot, node, sign) => {
      const [w, h2] = nodeSize(node, spot.gap);
      const room = Math.min(w / 2 / (Math.abs(ux) + 1e-9), h2 / 2 / (Math.abs(uy) + 1e-9)) + 3;
      const inset = Math.min(room, length * 0.4);
      return [0, 1].map(
        (k) => spot.at[k] + sign * [ux, uy][k] * inset + offset * [-uy, ux][k],
      );
    };
    const [p, q] = [end(a, byName.get(l.from), 1), end(b, byName.get(l.to), -1)];
    geometry.set(l, { p, q, u: [ux, uy], n: [-uy, ux], length: Math.hypot(q[0] - p[0], q[1] - p[1]) });
  }
  return geometry;
}

function nodeSize(node, gap) {
  if (node.kind === "host") return Array(2).fill(Math.max(6, Math.min(14, gap * 0.55)));
  return [Math.max(14, Math.min(42, gap * 0.6)), 22];
}

function lineShapes(add, line, g, isMany, t) {
  const [x1, y1] = g.p;
  const [x2, y2] = g.q;
  const body = add("Line", {
    silent: false,
    z: 2,
    shape: { x1, y1, x2, y2 },
    style: { stroke: t.line, lineWidth: 1, strokeContainThreshold: 6 },
  });
  body.line = line;
  const head =
    isMany ||
    add("Polygon", {
      z: 3,
      shape: {
        points: [
          g.q,
          [x2 - 9 * g.u[0] + 4.6 * g.n[0], y2 - 9 * g.u[1] + 4.6 * g.n[1]],
          [x2 - 9 * g.u[0] - 4.6 * g.n[0], y2 - 9 * g.u[1] - 4.6 * g.n[1]],
        ],
      },
      style: { fill: t.line },
    });
  return { line, g, body, head: isMany ? null : head, bar: null, queue: null, isMany, last: "" };
}

// Brings one direction to an instant, unless it looks as it did.
function showLine(add, shapes, net, at, t) {
  const { line, g, body, head } = shapes;
  const isWhole = at === null;
  const paused = isWhole ? line.paused || 0 : pausedAt(line, at);
  const load = isWhole ? line.busy || 0 : line.load ? levelAt(line.load, at) : 0;
  const queue = isWhole || !line.queue ? 0 : levelAt(line.queue, at);
  const look = `${isWhole} ${paused} ${load} ${queue}`;
  if (look === shapes.last) return;
  shapes.last = look;
  const isStopped = !isWhole && paused > 0;
  const quiet = t.dark ? "#59636d" : "#b9bfc4";
  const busy = t.dark ? "#aab2ba" : "#6b747c";
  const colour = isStopped
    ? t.bad
    : isWhole && paused > 0
      ? rampColour(0.25 + (0.75 * paused) / net.most)
      : load > 0
        ? busy
        : quiet;
  body.setStyle({
    stroke: colour,
    lineWidth: isStopped ? 2 : 1 + 4.5 * load,
    lineDash: isStopped ? [4, 3] : null,
    opacity: isStopped || isWhole || load > 0 ? 1 : 0.55,
  });
  if (head) head.attr({ ignore: isStopped, style: { fill: colour } });
  shapes.bar = stroke(add, shapes.bar, isStopped, stopBar(g), { stroke: t.bad, lineWidth: 3 }, 5);
  if (shapes.isMany) return;
  const long = Math.min(40, g.length * 0.45) * queue;
  const shape = {
    x1: g.p[0],
    y1: g.p[1],
    x2: g.p[0] + g.u[0] * long,
    y2: g.p[1] + g.u[1] * long,
  };
  shapes.queue = stroke(add, shapes.queue, queue > 0, shape, { stroke: t.series[0], lineWidth: 6 }, 4);
}

// A bar across the line where it is sent: the sender must wait. It is no arrow.
function stopBar({ p, u, n }) {
  const [x, y] = [p[0] + 3 * u[0], p[1] + 3 * u[1]];
  return { x1: x - 6 * n[0], y1: y - 6 * n[1], x2: x + 6 * n[0], y2: y + 6 * n[1] };
}

// A line that is made when it is first seen.
function stroke(add, made, isSeen, shape, style, z) {
  if (!made && !isSeen) return null;
  const line = made || add("Line", { z, shape, style });
  line.attr({ ignore: !isSeen, shape });
  return line;
}

// The label's text and box, [x, y, align, vertical, rotation].
function labelPlace({ at, label }, [w, h2]) {
  const [x, y] = at;
  if (isFigure(label.towards)) {
    const [cos, sin] = [Math.cos(label.towards), Math.sin(label.towards)];
    const align = cos > 0.3 ? "left" : cos < -0.3 ? "right" : "center";
    const vertical = sin > 0.3 ? "top" : sin < -0.3 ? "bottom" : "middle";
    return [x + (w / 2 + 3) * cos, y + (h2 / 2 + 3) * sin, align, vertical, 0];
  }
  if (label.isTurned)
    return label.side === "bottom"
      ? [x, y + h2 / 2 + 7, "right", "middle", Math.PI / 2]
      : [x, y - h2 / 2 - 7, "left", "middle", Math.PI / 2];
  switch (label.side) {
    case "bottom":
      return [x, y + h2 / 2 + 5, "center", "top", 0];
    case "left":
      return [x - w / 2 - 5, y, "right", "middle", 0];
    case "right":
      return [x + w / 2 + 5, y, "left", "middle", 0];
    default:
      return [x, y - h2 / 2 - 5, "center", "bottom", 0];
  }
}

function nodeShapes(add, node, spot, t) {
  const size = nodeSize(node, spot.gap);
  const [w, h2] = size;
  const [x, y] = spot.at;
  const isHost = node.kind === "host";
  const style = { fill: t.paper, stroke: t.dark ? "#aab2ba" : "#4a525a", lineWidth: 1.4 };
  const box = isHost
    ? add("Circle", { silent: false, z: 6, shape: { cx: x, cy: y, r: w / 2 }, style })
    : add("Rect", {
        silent: false,
        z: 6,
        shape: { x: x - w / 2, y: y - h2 / 2, width: w, height: h2, r: 4 },
        style,
      });
  box.node = node;
  const fill =
    !isHost &&
    add("Rect", {
      z: 7,
      shape: { x: x - w / 2 + 2, y, width: w - 4, height: 0 },
      style: { fill: t.series[0] },
    });
  if (spot.label.isShown) {
    const [lx, ly, align, verticalAlign, rotation] = labelPlace(spot, size);
    add("Text", {
      z: 8,
      x: lx,
      y: ly,
      rotation,
      style: {
        text: String(node.name),
        align,
        verticalAlign,
        fill: t.soft,
        font: "11px system-ui, sans-serif",
        backgroundColor: isHost ? null : t.paper,
        padding: isHost ? 0 : [1, 3],
        borderRadius: 3,
      },
    });
  }
  return { node, fill, bottom: y + h2 / 2 - 2, room: h2 - 4, last: -1 };
}

// A switch is filled from below as far as its buffer is; over the whole run, as it was when fullest.
function showNode(shapes, net, at) {
  const { node, fill, bottom, room } = shapes;
  if (!fill) return;
  const peak = node.buffer && node.buffer.size > 0 ? node.buffer.peak / node.buffer.size : 0;
  const row = net.buffers.get(node.name);
  const share = Math.min(1, at === null ? peak : row ? levelAt(row, at) : 0);
  if (share === shapes.last) return;
  shapes.last = share;
  fill.setShape({ y: bottom - room * share, height: room * share });
}

// A direction of the deadlock's cycle, and its number.
function cycleMark(add, g, number, t) {
  if (!g) return [];
  const [x1, y1] = g.p;
  const [x2, y2] = g.q;
  const [x, y] = [0, 1].map((k) => (g.p[k] + g.q[k]) / 2 + 11 * g.n[k]);
  const colour = t.series[3];
  return [
    add("Line", {
      z: 1,
      shape: { x1, y1, x2, y2 },
      style: { stroke: colour, lineWidth: 9, opacity: 0.45, lineCap: "round" },
    }),
    add("Circle", { z: 7, shape: { cx: x, cy: y, r: 9 }, style: { fill: colour } }),
    add("Text", {
      z: 8,
      style: {
        x,
        y,
        text: String(number),
        align: "center",
        verticalAlign: "middle",
        fill: t.dark ? "#14171a" : "#1b1f24",
        font: "700 11px system-ui, sans-serif",
      },
    }),
  ];
}

// ----------------------------------------------------------------------------------------- hover

function hoverOn(painter, element, contentOf) {
  let box = element.querySelector(".tip");
  if (!box) {
    box = h("div.tip", { hidden: true, "aria-hidden": "true" });
    element.append(box);
  }
  const hide = () => {
    box.hidden = true;
  };
  painter.off();
  painter.on("globalout", hide);
  painter.on("mousemove", (event) => {
    const shape = event.target;
    if (!shape || !(shape.line || shape.node)) return hide();
    box.replaceChildren(contentOf(shape));
    box.hidden = false;
    const { box: chart } = element.chart;
    const room = chart.clientWidth - box.offsetWidth;
    box.style.left = `${chart.offsetLeft + Math.max(0, Math.min(room, event.offsetX + 12))}px`;
    box.style.top = `${chart.offsetTop + event.offsetY + 14}px`;
  });
}

function pausedFor(run, line) {
  if (!isFigure(line.paused)) return NONE;
  return isFigure(run.traffic_s)
    ? `${showTime(line.paused * run.traffic_s)} (${showShare(line.paused)})`
    : showShare(line.paused);
}

function lineTip(run, l) {
  const now = clock.t === null ? [] : [[null, "now", pausedAt(l, clock.t) > 0 ? "paused" : "open"]];
  return tip(`${l.from} to ${l.to}`, [
    ...now,
    [null, "rate", showRate(l.rate)],
    [null, "utilisation", showShare(l.busy)],
    [null, "paused", pausedFor(run, l)],
  ]);
}

function nodeTip(node, lines) {
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

// ----------------------------------------------------------------------------------------- table

function linksPanel(run) {
  const lines = directionsOf(run.topology || {});
  if (!lines.length) return null;
  const sorted = [...lines].sort(
    (a, b) => (b.paused || 0) - (a.paused || 0) || (b.busy || 0) - (a.busy || 0),
  );
  return h(
    "details.card.panel",
    h("summary", "Links as a table"),
    plainTable(
      [
        ["from", (l) => l.from],
        ["to", (l) => l.to],
        ["rate", (l) => showRate(l.rate), { number: true }],
        ["utilisation", (l) => showShare(l.busy), { number: true }],
        ["paused", (l) => pausedFor(run, l), { number: true }],
      ],
      sorted,
      "Links with rate, utilisation and time paused",
    ),
  );
}

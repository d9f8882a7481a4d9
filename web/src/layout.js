// Where the nodes of a network are drawn: in rows, hosts at the bottom; a ring of switches in a circle.

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

// A drawing of the network at a width: its height, and for each node the point `at`, the place of its label,
// and how much room it has.
function layoutOf(nodes, lines, width) {
  const ring = ringOf(nodes, lines);
  return ring ? ringLayout(nodes, lines, ring, width) : rowLayout(nodes, lines, width);
}

const TOP = 48; // the time of the replay stands above the drawing
const BOTTOM = 50;

function rowLayout(nodes, lines, width) {
  const { places, rows, depth } = placeNodes(nodes, lines, width - 20);
  const spots = new Map();
  for (const row of rows) {
    const gap = width / row.length;
    const longest = Math.max(...row.map((n) => String(n.name).length));
    const isTurned = gap < longest * 7 + 6;
    for (const node of row) {
      const [x, y] = places.get(node.name);
      const isBelow = node.kind === "host" || (y >= depth - 1e-9 && rows.length > 1);
      // Between two rows the links leave above and below.
      const isBeside = row !== rows[0] && !isBelow && gap > 70 + 7 * longest;
      spots.set(node.name, {
        at: [10 + x * (width - 20), TOP + y],
        gap,
        label: { side: isBelow ? "bottom" : isBeside ? "right" : "top", isTurned, isShown: gap >= 11 },
      });
    }
  }
  return { spots, height: TOP + depth + BOTTOM };
}

// The switches of a ring in their order; null: they are not one ring. Two leaves and two spines are a cycle,
// too, but of two levels.
function ringOf(nodes, lines) {
  const all = nodes.filter((n) => n.kind !== "host");
  const switches = all.map((n) => n.name);
  if (new Set(all.map(levelOf)).size > 1 && all.length < 5) return null;
  const next = new Map(switches.map((name) => [name, new Set()]));
  for (const { from, to } of lines) if (next.has(from) && next.has(to)) next.get(from).add(to);
  if (switches.length < 3 || [...next.values()].some((s) => s.size !== 2)) return null;
  const ring = [switches[0]];
  for (;;) {
    const more = [...next.get(ring[ring.length - 1])].find((name) => !ring.includes(name));
    if (!more) break;
    ring.push(more);
  }
  return ring.length === switches.length ? ring : null;
}

// Switches on a circle, clockwise from the upper left, each with its hosts outside. Labels of hosts stand
// outside of them, those of switches inside of the ring.
function ringLayout(nodes, lines, ring, width) {
  const outer = Math.min(width - 90, 460) / 2;
  const inner = outer * 0.6;
  const step = (2 * Math.PI) / ring.length;
  const hosts = new Set(nodes.filter((n) => n.kind === "host").map((n) => n.name));
  const spots = new Map();
  const put = (name, angle, radius, gap, towards) =>
    spots.set(name, {
      at: [width / 2 + radius * Math.cos(angle), radius * Math.sin(angle)],
      gap,
      label: { isShown: true, towards },
    });
  ring.forEach((name, i) => {
    const angle = (i - 0.5) * step - Math.PI / 2;
    put(name, angle, inner, inner * step, angle + Math.PI);
    const own = lines.filter((l) => l.from === name && hosts.has(l.to)).map((l) => l.to);
    own.forEach((host, k) => {
      const turn = angle + ((k + 0.5) / own.length - 0.5) * step * 0.8;
      put(host, turn, outer, (outer * step) / own.length, turn);
    });
  });
  for (const node of nodes) if (!spots.has(node.name)) put(node.name, 0, 0, 40, 0);
  const heights = [...spots.values()].map((s) => s.at[1]);
  const top = Math.min(...heights) - TOP;
  for (const spot of spots.values()) spot.at[1] -= top;
  return { spots, height: Math.max(...heights) - top + TOP };
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

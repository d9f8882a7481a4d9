// Who paused whom, and why: a tree for each place where congestion began, flows that suffered for others.
//
// The tree is text with lines beside it: it wraps at any width, on paper, too. A pause is drawn as a dashed line
// that ends in a bar; arrows stand for traffic.

const OPEN_BRANCHES = 40; // branches open at first, on the whole page

function pausesSection(run) {
  const pauses = run.pauses || {};
  const roots = list(pauses.roots);
  if (!roots.length) return null;
  const causes = causesOf(roots);
  const lead =
    `${plural(pauses.n ?? countAll(roots), "pause")}; congestion began at ` +
    `${plural(causes.length, "place")}.` +
    (isFigure(pauses.depth) ? ` The longest chain has ${plural(pauses.depth, "step")}.` : "") +
    (isFigure(pauses.spread) ? ` ${plural(pauses.spread, "node was", "nodes were")} paused.` : "");
  const missing =
    leftOut(pauses.left_out, "later decision") +
    leftOut(pauses.groups_left_out, "smaller branch", "smaller branches");
  const most = largest(roots);
  const room = { left: OPEN_BRANCHES };
  return section(
    "pauses",
    "Causes of pauses",
    lead,
    h(
      "div.card.panel.causes",
      h(
        "div.figure-head",
        h("h3", "Causality tree"),
        csvButton("Causality tree", fileName(run.name, "causality tree"), () => [
          ["id", "parent", "name", "paused", "egress", "count", "paused_s", "first_s"],
          ...treeRows(roots),
        ]),
      ),
      h(
        "p.small.soft",
        "\u2192 traffic that waits; ",
        h("b.stops", STOPS),
        " a pause: who stops whom. What follows from a pause stands under it.",
      ),
      causes.map((c) => causeBlock(c, most, room)),
      h("p.small.soft", saysTree(causes) + missing),
    ),
    victimsPanel(list(pauses.victims), pauses.n_victims, run.flows?.summarised > 0),
  );
}

// Roots by the queue in which congestion began, the worst first. A root of another queue has nothing to do
// with them.
function causesOf(roots) {
  const byPlace = new Map();
  for (const root of roots) {
    const place = placeOf(root);
    if (!byPlace.has(place)) byPlace.set(place, { place, root, roots: [], paused_s: 0, count: 0 });
    const cause = byPlace.get(place);
    cause.roots.push(root);
    cause.paused_s += root.paused_s || 0;
    cause.count += root.count || 0;
  }
  return [...byPlace.values()].sort((a, b) => b.paused_s - a.paused_s);
}

function placeOf({ node, egress, name }) {
  if (!egress) return node || name || NONE;
  return node && node !== egress ? `${node} \u2192 ${egress}` : egress;
}

function causeBlock(cause, most, room) {
  const { root, place } = cause;
  const isHost = root.egress && root.egress === root.node;
  return h(
    "div.cause",
    h(
      "p.place",
      h("b", place),
      h("span.soft", isHost ? " takes in too little" : " is where traffic waits"),
      h("span.amount", ` \u00b7 ${showTime(cause.paused_s)} of pauses`),
    ),
    h(
      "ul.tree",
      cause.roots.map((r) => treeItem(r, most, room)),
    ),
  );
}

function countAll(nodes) {
  return nodes.reduce((sum, n) => sum + (n.count || 0) + countAll(list(n.children)), 0);
}

function largest(nodes) {
  return nodes.reduce((most, n) => Math.max(most, n.paused_s || 0, largest(list(n.children))), 0);
}

function saysTree([first]) {
  const under = countAll(first.roots.flatMap((r) => list(r.children)));
  const times = first.roots.map((r) => r.first_s).filter(isFigure);
  return (
    `Most waiting comes from ${first.place}: ${plural(first.count, "pause")} for ` +
    `${showTime(first.paused_s)} together` +
    `${times.length ? `, first at ${showInstant(Math.min(...times))}` : ""}` +
    `${under ? `, and ${plural(under, "further pause")} behind it` : ""}.`
  );
}

function treeRows(roots) {
  const rows = [];
  const walk = (nodes, parent) =>
    nodes.forEach((n) => {
      const id = rows.length + 1;
      rows.push([id, parent, n.name, n.paused, n.egress, n.count, n.paused_s, n.first_s]);
      walk(list(n.children), id);
    });
  walk(roots, null);
  return rows;
}

// Who paused whom, how often and for how long, and what followed from it.
function treeItem(node, most, room) {
  const children = list(node.children);
  const share = most > 0 ? (node.paused_s || 0) / most : 0;
  const amount = [
    plural(node.count || 0, "pause"),
    isFigure(node.paused_s) && showTime(node.paused_s),
    isFigure(node.first_s) && `first at ${showInstant(node.first_s)}`,
  ]
    .filter(Boolean)
    .join(", ");
  const line = [
    h("b", node.name || NONE),
    " ",
    h("b.stops", { role: "img", "aria-label": "pauses" }, STOPS),
    node.paused && [" ", h("b", node.paused)],
    h("span.soft", ` \u00b7 ${amount} `),
    h("span.share", { style: `width:${(0.2 + 4 * share).toFixed(2)}rem`, "aria-hidden": "true" }),
  ];
  if (!children.length) return h("li.leaf", line);
  room.left -= children.length;
  return h(
    "li",
    h(
      "details",
      { open: room.left > 0 },
      h("summary", line),
      h(
        "ul",
        children.map((c) => treeItem(c, most, room)),
      ),
    ),
  );
}

// --------------------------------------------------------------------------------------- victims

function victimsPanel(victims, n, isPart) {
  if (!victims.length) return null;
  const head = h(
    "div.figure-head",
    h("h3", "Victims"),
    csvButton("Victims", fileName("victims"), () => [
      ["flow", "from", "to", "bytes", "slowdown", "waited_s"],
      ...victims.map((v) => [v.flow, v.from, v.to, v.bytes, v.slowdown, v.waited_s]),
    ]),
  );
  return h(
    "div.card.panel",
    head,
    h(
      "p.small.soft",
      "Flows that waited behind pauses although they were not going to the congested egress",
      n > victims.length ? `; the ${victims.length} that waited longest of ${showNumber(n)}.` : ".",
      isPart
        ? " Flows were summarised: only those that were kept are looked at, the slowest and those that did not finish."
        : "",
    ),
    plainTable(
      [
        ["flow", (v) => (showNumber(v.flow) === NONE ? String(v.flow ?? NONE) : String(v.flow))],
        ["from", (v) => v.from ?? NONE],
        ["to", (v) => v.to ?? NONE],
        ["size", (v) => showBytes(v.bytes), { number: true }],
        ["slowdown", (v) => showNumber(v.slowdown), { number: true }],
        ["waited", (v) => showTime(v.waited_s), { number: true }],
      ],
      victims,
      "Victim flows",
    ),
  );
}

// Why pauses happened: from the egress that was congested without being paused itself, to whom it
// paused, whom those paused, and the flows that waited though they did not go there. As a drawing,
// and as a list that says everything and can be read aloud.

const DRAWN_CHILDREN = 8; // of one pause in the drawing; the list has all
const DRAWN_LEAVES = 30;

function pausesSection(run) {
  const pauses = run.pauses || {};
  const roots = list(pauses.roots);
  if (!roots.length)
    return section(
      "pauses",
      "Causes of pauses",
      pauses.n === 0 ? "Nobody was paused." : "The causes of pauses were not recorded.",
    );
  const lead =
    `${plural(pauses.n ?? countAll(roots), "pause")} in ${plural(roots.length, "tree")}.` +
    (isFigure(pauses.depth) ? ` The longest chain has ${plural(pauses.depth, "step")}.` : "") +
    (isFigure(pauses.spread) ? ` ${plural(pauses.spread, "node was", "nodes were")} paused.` : "");
  const missing =
    leftOut(pauses.left_out, "later decision") +
    leftOut(pauses.groups_left_out, "smaller branch", "smaller branches");
  const drawing = figure({
    title: "Causality tree",
    run: run.name,
    afresh: true,
    height: (width) => 40 + 15 * roomOf(treeData(roots, width)),
    option: (width) => treeOption(treeData(roots, width), width),
    says: () => saysTree(roots) + missing,
    csv: () => [
      ["id", "parent", "name", "paused", "egress", "count", "paused_s", "first_s"],
      ...treeRows(roots),
    ],
  });
  return section(
    "pauses",
    "Causes of pauses",
    lead,
    h("div.grid", drawing),
    h(
      "div.card.panel",
      h("h3", "The same as a list"),
      h(
        "p.small.soft",
        "Each pause follows from the one it stands under; open one to see what followed.",
      ),
      h(
        "ul.tree",
        roots.map((root) => treeItem(root, largest(roots), 0)),
      ),
    ),
    victimsPanel(list(pauses.victims), pauses.n_victims),
  );
}

function countAll(nodes) {
  return nodes.reduce((sum, n) => sum + (n.count || 0) + countAll(list(n.children)), 0);
}

function largest(nodes) {
  return nodes.reduce((most, n) => Math.max(most, n.paused_s || 0, largest(list(n.children))), 0);
}

function saysTree(roots) {
  const first = roots.reduce((a, r) => ((r.paused_s || 0) > (a.paused_s || 0) ? r : a));
  const under = countAll(list(first.children));
  return (
    `Most waiting comes from ${first.egress || first.name}: ${plural(first.count || 0, "pause")}` +
    `${isFigure(first.paused_s) ? ` for ${showTime(first.paused_s)} together` : ""}` +
    `${isFigure(first.first_s) ? `, first at ${showInstant(first.first_s)}` : ""}` +
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

// ------------------------------------------------------------------------------------------ list

function treeItem(node, most, depth) {
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
    h("span.share", { style: `width:${(0.2 + 4 * share).toFixed(2)}rem`, "aria-hidden": "true" }),
    node.name || NONE,
    node.paused && h("span.soft", ` paused ${node.paused}`),
    node.egress && node.egress !== node.name && h("span.soft", ` for ${node.egress}`),
    " ",
    h("span.amount", `\u00b7 ${amount}`),
  ];
  if (!children.length) return h("li.leaf", line);
  return h(
    "li",
    h(
      "details",
      { open: depth < 1 },
      h("summary", line),
      h(
        "ul",
        children.map((c) => treeItem(c, most, depth + 1)),
      ),
    ),
  );
}

// --------------------------------------------------------------------------------------- drawing

// The largest parts of the tree, few enough to be read at that width; what is left away is counted.
function treeData(roots, width) {
  const deepest = Math.max(1, Math.floor(width / 150) - 1);
  let left = DRAWN_LEAVES;
  const take = (node, depth) => {
    const below = list(node.children);
    if (depth >= deepest && below.length) {
      left -= 1;
      return { name: `${nodeLabel(node)} (+${sizeOf(below)})`, node, children: [] };
    }
    const children = [...below].sort((a, b) => (b.paused_s || 0) - (a.paused_s || 0));
    const shown = [];
    for (const child of children.slice(0, DRAWN_CHILDREN))
      if (left > 0 || !shown.length) shown.push(take(child, depth + 1));
    const hidden = children.length - shown.length;
    if (hidden > 0) shown.push({ name: `${hidden} more`, node: null, children: [] });
    if (!children.length) left -= 1;
    return { name: nodeLabel(node), node, children: shown };
  };
  return {
    name: "pauses",
    node: null,
    children: roots
      .slice(0, 12)
      .map((root) => take(root, 1))
      .concat(
        roots.length > 12 ? [{ name: `${roots.length - 12} more`, node: null, children: [] }] : [],
      ),
  };
}

// Who paused, and whom.
function nodeLabel(node) {
  return `${node.name || node.egress || NONE}${node.paused ? ` \u2192 ${node.paused}` : ""}`;
}

function sizeOf(nodes) {
  return nodes.reduce((sum, n) => sum + 1 + sizeOf(list(n.children)), 0);
}

// Height in lines: one per leaf, and one between those of different parents.
function roomOf(data) {
  if (!data.children.length) return 1;
  const between = data.children.some((c) => !c.children.length) ? 1 : 0;
  return data.children.reduce((sum, c) => sum + roomOf(c), between);
}

function depthOf(data) {
  return 1 + Math.max(0, ...data.children.map(depthOf));
}

function treeOption(data, width) {
  const t = theme();
  const single = data.children.length === 1 ? data.children[0] : data;
  const most = Math.max(
    1e-30,
    ...single.children.concat(single).map(function amount(d) {
      return Math.max((d.node && d.node.paused_s) || 0, ...d.children.map(amount));
    }),
  );
  const column = Math.max(40, (width - 20) / depthOf(single) - 16);
  const dress = (d, depth) => ({
    name: d.name,
    node: d.node,
    children: d.children.map((c) => dress(c, depth + 1)),
    symbolSize: d.node ? 5 + 8 * Math.sqrt((d.node.paused_s || 0) / most) : 4,
    itemStyle: { color: d.node ? (depth === 0 ? t.bad : t.series[0]) : t.line, borderWidth: 0 },
  });
  const root = data === single ? { ...dress(data, -1), name: "" } : dress(single, 0);
  return {
    tooltip: tooltip({
      trigger: "item",
      triggerOn: "mousemove",
      formatter: (at) => (at.data.node ? treeTip(at.data.node) : at.name),
    }),
    series: [
      {
        type: "tree",
        data: [root],
        left: 14,
        right: column,
        top: 12,
        bottom: 12,
        orient: "LR",
        initialTreeDepth: -1,
        symbol: "circle",
        edgeShape: "curve",
        expandAndCollapse: true,
        lineStyle: { color: t.line, width: 1.2, curveness: 0.5 },
        emphasis: { focus: "ancestor" },
        label: {
          position: "top",
          distance: 3,
          color: t.ink,
          fontSize: 11,
          width: column + 20,
          overflow: "truncate",
        },
        leaves: {
          label: {
            position: "right",
            distance: 5,
            align: "left",
            verticalAlign: "middle",
            width: column,
          },
        },
      },
    ],
  };
}

function treeTip(n) {
  return tip(n.name || NONE, [
    ...(n.paused ? [[null, "paused", n.paused]] : []),
    [null, "for", n.egress || NONE],
    [null, "pauses", showNumber(n.count)],
    [null, "time paused", showTime(n.paused_s)],
    [null, "first at", showInstant(n.first_s)],
  ]);
}

// --------------------------------------------------------------------------------------- victims

function victimsPanel(victims, n) {
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

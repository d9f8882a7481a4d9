// Every metric with its unit and meaning, a column per run; to be sorted, and narrowed by a few
// letters.

function metricsSection(runs) {
  const rows = metricRows(runs);
  if (!rows.length) return null;
  const state = { words: "", key: -1, down: false };
  const body = h("tbody");
  const count = h("span.small.soft", { role: "status" });
  const several = runs.length > 1;
  const headings = [
    "metric",
    ...runs.map((r, i) => (several ? runName(r, i) : "value")),
    "meaning",
  ].map((text, i, all) => ({
    text,
    sortable: i < all.length - 1,
    key: i - 1,
    number: i > 0 && i < all.length - 1,
  }));
  const cells = headings.map((c) =>
    h(
      c.number ? "th.number" : "th",
      { scope: "col", "aria-sort": "none" },
      c.sortable ? h("button", { type: "button", onclick: () => sortBy(c) }, c.text) : c.text,
    ),
  );

  function sortBy(c) {
    state.down = state.key === c.key && state.sorted ? !state.down : c.key >= 0;
    Object.assign(state, { key: c.key, sorted: true });
    cells.forEach((cell, i) =>
      cell.setAttribute(
        "aria-sort",
        headings[i] === c ? (state.down ? "descending" : "ascending") : "none",
      ),
    );
    fill();
  }
  function fill() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = rows.filter((r) =>
      words.every((w) => `${r.name} ${r.meaning} ${r.unit}`.toLowerCase().includes(w)),
    );
    if (state.sorted) kept.sort(metricOrder(state));
    body.replaceChildren(...kept.map((r) => metricLine(r, runs, several)));
    count.textContent =
      kept.length === rows.length
        ? plural(rows.length, "metric")
        : `${kept.length} of ${plural(rows.length, "metric")}`;
  }
  fill();
  const filter = h("input", {
    type: "search",
    placeholder: "such as fct p99",
    "aria-label": "Filter metrics",
    oninput: () => {
      state.words = filter.value;
      fill();
    },
  });
  return section(
    "metrics",
    "All metrics",
    null,
    h(
      "div.card.panel",
      h(
        "div.figure-head",
        h("div.controls", { style: "margin:0" }, h("label", "Filter", filter), count),
        csvButton("All metrics", fileName("metrics"), () => metricCsv(runs)),
      ),
      h(
        "div.table",
        h("table.metrics", h("caption.unseen", "All metrics"), h("thead", h("tr", cells)), body),
      ),
    ),
  );
}

// Metrics by name, in the order of the first run that has them.
function metricRows(runs) {
  const rows = new Map();
  runs.forEach((run, i) =>
    list(run.metrics).forEach((m) => {
      if (!rows.has(m.name))
        rows.set(m.name, {
          name: m.name,
          unit: m.unit || "",
          meaning: m.meaning || "",
          values: [],
        });
      rows.get(m.name).values[i] = m.value;
    }),
  );
  return [...rows.values()];
}

function metricOrder({ key, down }) {
  const sign = down ? -1 : 1;
  if (key < 0) return (a, b) => sign * a.name.localeCompare(b.name, "en", { numeric: true });
  const value = (r) => (isFigure(r.values[key]) ? r.values[key] : null);
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    return x === null || y === null ? (x === null) - (y === null) : sign * (x - y);
  };
}

function metricLine(row, runs, several) {
  return h(
    "tr",
    h("th.mono", { scope: "row" }, row.name),
    runs.map((r, i) =>
      h(
        "td.number",
        {
          title: isFigure(row.values[i]) ? `${row.values[i]} ${row.unit}`.trim() : null,
          "data-label": several ? runName(r, i) : null,
        },
        show(row.values[i], row.unit),
      ),
    ),
    h("td.meaning", row.meaning, row.unit && h("span.soft", ` [${row.unit}]`)),
  );
}

function metricCsv(runs) {
  return [
    ["run", "metric", "value", "unit", "meaning"],
    ...runs.flatMap((r, i) =>
      list(r.metrics).map((m) => [runName(r, i), m.name, m.value, m.unit, m.meaning]),
    ),
  ];
}

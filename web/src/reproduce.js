// The scoreboard of the papers' claims: what was published, what we measured, and whether it holds.

const VERDICTS = {
  holds: ["good", "\u2713 holds"],
  direction: ["warn", "\u2248 in direction only"],
  fails: ["bad", "\u2717 does not hold"],
  untestable: ["", "\u2013 cannot be tested"],
  "left-out": ["", "\u2013 left out"],
  error: ["bad", "\u2717 error"],
};

function reproducePage(data) {
  const papers = list(data.papers);
  const claims = papers.flatMap((p) => list(p.claims));
  const parts = [scoreSection(data, papers, claims), ...papers.map(paperSection)];
  return parts.filter(Boolean);
}

function scoreSection(data, papers, claims) {
  const broken = claims.filter(isBroken);
  const tally = Object.entries(VERDICTS)
    .map(([verdict, [kind, text]]) => [
      h(`span.pill${kind ? `.${kind}` : ""}`, text),
      String(claims.filter((c) => c.verdict === verdict).length),
      verdict,
    ])
    .filter(([, n, verdict]) => n !== "0" || ["holds", "fails"].includes(verdict))
    .map(([pill, n]) => [pill, n]);
  return section(
    "scoreboard",
    "Scoreboard",
    `${plural(claims.length, "claim")} of ${plural(papers.length, "paper")}.` +
      (data.quick ? " This is the reduced set: shorter runs, fewer seeds." : ""),
    broken.length > 0 &&
      h(
        "div.note.bad",
        h(
          "strong",
          plural(broken.length, "claim"),
          ` recorded as holding ${broken.length === 1 ? "does" : "do"} not: `,
        ),
        broken.map((c) => c.id).join(", "),
      ),
    pairs("tally", tally),
    claims.length > 0 &&
      h(
        "div.controls",
        csvButton("Claims", fileName("claims"), () => claimRows(papers), "All claims as CSV"),
      ),
  );
}

// A claim that comes out worse than it is recorded.
function isBroken(c) {
  return c.changed === "worse" || c.verdict === "error";
}

function claimRows(papers) {
  return [
    [
      "paper",
      "id",
      "place",
      "figure",
      "statement",
      "published",
      "unit",
      "measured_mean",
      "measured_min",
      "measured_max",
      "seeds",
      "tolerance",
      "verdict",
      "recorded",
    ],
    ...papers.flatMap((p) =>
      list(p.claims).map((c) => {
        const [was, is] = [c.published || {}, c.measured || {}];
        return [
          p.paper,
          c.id,
          c.place,
          c.figure,
          c.statement,
          was.value ?? was.text,
          c.unit,
          is.mean,
          is.min,
          is.max,
          is.n,
          c.tolerance,
          c.verdict,
          c.recorded,
        ];
      }),
    ),
  ];
}

function paperSection(p, i) {
  const figures = list(p.figures);
  const claims = list(p.claims);
  return section(
    `paper-${i}`,
    p.title || p.paper || "Paper",
    p.title && p.paper ? p.paper : null,
    claims.length > 0 && h("div.card.panel", claims.map(claimRow)),
    figures.length > 0 &&
      h(
        "div.grid.two",
        figures.map((f) => paperFigure(p, f)),
      ),
    !claims.length && !figures.length && h("p.soft", "Nothing was run for this paper."),
  );
}

function claimRow(c) {
  const [kind, text] = VERDICTS[c.verdict] || ["", c.verdict || "no verdict"];
  const more = [
    ["Tolerance", c.tolerance],
    ["Why", c.why],
    ["Notes", c.notes],
    [
      "Recorded as",
      c.recorded &&
        c.recorded !== c.verdict &&
        (VERDICTS[c.recorded] ? VERDICTS[c.recorded][1] : c.recorded),
    ],
  ].filter(([, v]) => v !== null && v !== undefined && v !== false && v !== "");
  return h(
    "article.claim",
    { id: `claim-${c.id}` },
    h(
      "div.what",
      h(`span.pill${kind ? `.${kind}` : ""}`, text),
      [c.place, c.figure].filter(Boolean).map((text) => h("p.small.soft", text)),
    ),
    h(
      "div.sentence",
      h("p", c.statement || NONE),
      h("p.small.soft.mono", c.id),
      more.length > 0 &&
        h(
          "details",
          h("summary", "Tolerance and notes"),
          more.map(([k, v]) =>
            h("p", h("strong", `${k}: `), Array.isArray(v) ? v.join(" ") : String(v)),
          ),
        ),
    ),
    h("div", h("span.label", "published"), h("span.value", publishedText(c))),
    h("div", h("span.label", "measured"), measuredText(c)),
  );
}

function publishedText(c) {
  const p = c.published || {};
  return p.text || show(p.value, c.unit);
}

function measuredText(c) {
  const m = c.measured || {};
  const spread =
    isFigure(m.min) &&
    isFigure(m.max) &&
    m.min !== m.max &&
    `${show(m.min, c.unit)} to ${show(m.max, c.unit)}`;
  const seeds = isFigure(m.n) && plural(m.n, "seed");
  return [
    h("span.value", m.text || show(m.mean, c.unit)),
    !m.text && (spread || seeds) && h("span.label", [spread, seeds].filter(Boolean).join(", ")),
  ];
}

// The scoreboard of the papers' claims: what was published, what we measured, whether it holds, and
// what that is worth.

const VERDICTS = {
  holds: ["good", "\u2713 holds"],
  direction: ["warn", "\u2248 in direction only"],
  fails: ["bad", "\u2717 does not hold"],
  untestable: ["", "\u2013 cannot be tested"],
  "left-out": ["", "\u2013 not in --quick"],
  error: ["bad", "\u2717 error"],
};
const KINDS = {
  number: "the paper states a number",
  direction: "the paper states a direction",
  own: "our own variant or check",
};
const STRENGTHS = {
  independent: "nothing that it states went into the model",
  returned: "a figure of the paper went in and comes out again",
  tuned: "a parameter was chosen so that it holds",
};

function reproducePage(data) {
  const papers = list(data.papers);
  const claims = papers.flatMap((p) => list(p.claims));
  const parts = papers.map(paperSection);
  return [
    scoreSection(data, papers, claims),
    claims.length > 0 && filter(claims, parts),
    ...parts,
  ].filter(Boolean);
}

function pillOf(verdict) {
  const [kind, text] = VERDICTS[verdict] || ["", verdict || "no verdict"];
  return h(`span.pill${kind ? `.${kind}` : ""}`, text);
}

function scoreSection(data, papers, claims) {
  const broken = claims.flatMap((c) => [
    ...(isBroken(c) ? [c.id] : []),
    ...list(c.readings)
      .filter(isBroken)
      .map((own) => `${c.id} (${own.reading})`),
  ]);
  const tally = Object.keys(VERDICTS)
    .map((verdict) => [verdict, claims.filter((c) => c.verdict === verdict).length])
    .filter(([verdict, n]) => n > 0 || ["holds", "fails"].includes(verdict))
    .map(([verdict, n]) => [pillOf(verdict), String(n)]);
  return section(
    "scoreboard",
    "Scoreboard",
    headline(data, papers, claims),
    broken.length > 0 &&
      h(
        "div.note.bad",
        h(
          "strong",
          plural(broken.length, "claim"),
          ` ${broken.length === 1 ? "comes" : "come"} out worse than recorded: `,
        ),
        broken.join(", "),
      ),
    data.totals &&
      pairs("tally", [
        [
          "reproduced: independent, and stated by the paper",
          `${data.totals.reproduced.held} of ${data.totals.reproduced.all}`,
        ],
      ]),
    totalsTable(data.totals, "Claims that hold, by kind and strength"),
    pairs("tally.minor", tally),
    claims.length > 0 &&
      h(
        "div.controls",
        csvButton("Claims", fileName("claims"), () => claimRows(papers), "All claims as CSV"),
      ),
  );
}

function headline(data, papers, claims) {
  const left = (data.totals || {}).left_out;
  return [
    `${plural(claims.length, "claim")} of ${plural(papers.length, "paper")}.`,
    data.quick && "This is the reduced set: shorter runs, fewer seeds.",
    left > 0 && `${plural(left, "claim")} not run.`,
  ]
    .filter(Boolean)
    .join(" ");
}

// Rows are kinds, columns strengths, cells "held of all".
function totalsTable(totals, caption) {
  if (!totals) return null;
  const cell = (share) => (share && share.all ? `${share.held} of ${share.all}` : NONE);
  const named = (word, meaning) => h("span", { title: meaning }, word);
  return h(
    "div.totals",
    plainTable(
      [
        ["held of all", ([kind, meaning]) => [h("b", kind), h("span.soft", ` ${meaning}`)]],
        ...Object.entries(STRENGTHS).map(([strength, meaning]) => [
          named(strength, meaning),
          ([kind]) => cell(totals[kind] && totals[kind][strength]),
        ]),
      ],
      Object.entries(KINDS),
      caption,
    ),
  );
}

// Verdicts under which a claim is found: its own, and the shipped one where it was not run.
function verdictsOf(c) {
  return [c.verdict, c.shipped && c.shipped.verdict].filter(Boolean);
}

// Hides claims of the papers' sections, and chapters of which none is left.
function filter(claims, parts) {
  const chosen = { verdict: "", kind: "", strength: "" };
  const shown = h("output.small.soft", { "aria-live": "polite" });
  const has = (element, key) =>
    !chosen[key] || element.dataset[key].split(" ").includes(chosen[key]);
  const apply = () => {
    let n = 0;
    for (const part of parts) {
      for (const element of part.querySelectorAll(".claim")) {
        element.hidden = !Object.keys(chosen).every((key) => has(element, key));
        n += !element.hidden;
      }
      for (const group of part.querySelectorAll(".chapter"))
        group.hidden = !group.querySelector(".claim:not([hidden])");
    }
    shown.textContent = `${n} of ${plural(claims.length, "claim")} shown.`;
  };
  const row = (key, label, words) => {
    const options = words.filter(([word]) =>
      claims.some((c) => (key === "verdict" ? verdictsOf(c) : [c[key]]).includes(word)),
    );
    return (
      options.length > 1 &&
      choice(label, [["", `all ${key}s`], ...options], "", (value) => {
        chosen[key] = value;
        apply();
      })
    );
  };
  apply();
  return h(
    "div.controls.filter",
    row(
      "verdict",
      "Verdict",
      Object.entries(VERDICTS).map(([word, [, text]]) => [word, text]),
    ),
    row(
      "kind",
      "Kind",
      Object.keys(KINDS).map((k) => [k, k]),
    ),
    row(
      "strength",
      "Strength",
      Object.keys(STRENGTHS).map((k) => [k, k]),
    ),
    shown,
  );
}

// A claim that comes out worse than it is recorded.
function isBroken(c) {
  return c.changed === "worse" || c.verdict === "error";
}

// One row for a claim as it is, and one for each other reading.
function claimRows(papers) {
  const row = (p, c, own, reading) => {
    const [was, is] = [c.published || {}, own.measured || {}];
    return [
      p.paper,
      c.id,
      reading,
      c.kind,
      c.strength,
      c.chapter,
      c.place,
      c.statement,
      c.quote,
      was.value ?? was.text,
      c.unit,
      is.mean,
      is.min,
      is.max,
      is.n,
      c.tolerance,
      own.verdict,
      own.recorded,
      own.shipped && own.shipped.verdict,
      own.why,
      c.strength_why,
    ];
  };
  return [
    [
      "paper",
      "id",
      "reading",
      "kind",
      "strength",
      "chapter",
      "place",
      "statement",
      "quote",
      "published",
      "unit",
      "measured_mean",
      "measured_min",
      "measured_max",
      "seeds",
      "tolerance",
      "verdict",
      "recorded",
      "shipped_verdict",
      "why",
      "strength_why",
    ],
    ...papers.flatMap((p) =>
      list(p.claims).flatMap((c) => [
        row(p, c, c, "plain"),
        ...list(c.readings).map((own) => row(p, c, own, own.reading)),
      ]),
    ),
  ];
}

// "xoff 0.4.0, digest 0123456789abcdef", of the shipped results.
function shippedName(p) {
  const { xoff_version: version, digest } = p.results || {};
  return `shipped results of xoff ${version || "?"}, digest ${digest || "?"}`;
}

function paperSection(p, i, all) {
  const figures = list(p.figures);
  const claims = list(p.claims);
  return section(
    `paper-${i}`,
    p.title || p.paper || "Paper",
    [p.title && p.paper, p.source].filter(Boolean).join(": ") || null,
    all.length > 1 && totalsTable(p.totals, `Claims of ${p.paper} that hold, by kind and strength`),
    chapters(claims).map(([title, own]) =>
      h(
        "div.chapter",
        title && h("h3", title),
        h(
          "div.card.panel",
          own.map((c) => claimRow(p, c)),
        ),
      ),
    ),
    readingsPart(p, claims),
    figures.length > 0 &&
      h(
        "div.grid.two",
        figures.map((f) => paperFigure(p, f)),
      ),
    !claims.length && !figures.length && h("p.soft", "Nothing was run for this paper."),
  );
}

// Claims by chapter, in the order of the first of each.
function chapters(claims) {
  const groups = new Map();
  for (const c of claims) groups.set(c.chapter || "", [...(groups.get(c.chapter || "") || []), c]);
  return [...groups];
}

// A reason in the open: people ask for it before anything else.
function reason(label, text) {
  return text && h("p.reason", h("strong", `${label}: `), String(text));
}

function claimRow(p, c) {
  const shipped = c.verdict === "left-out" ? c.shipped : null;
  const verdict = shipped ? shipped.verdict : c.verdict;
  const more = [
    ["Tolerance", c.tolerance],
    ["Measured as", c.measure && h("code", c.measure)],
    ["Compared as", c.direction && h("code", c.direction)],
    ["Scenario", c.scenario && h("code", c.scenario)],
    ["Notes", Array.isArray(c.notes) ? c.notes.join(" ") : c.notes],
  ].filter(([, v]) => v);
  return h(
    "article.claim",
    {
      id: `claim-${c.id}`,
      "data-verdict": verdictsOf(c).join(" "),
      "data-kind": c.kind || "",
      "data-strength": c.strength || "",
    },
    h(
      "div.what",
      pillOf(c.verdict),
      shipped && h("p.shipped", pillOf(verdict), h("span.small.soft", ` ${shippedName(p)}`)),
      [c.place, c.figure].filter(Boolean).map((text) => h("p.small.soft", text)),
      c.kind && h("p.small.soft", { title: KINDS[c.kind] }, `${c.kind}, ${c.strength}`),
    ),
    h(
      "div.sentence",
      h("p", c.statement || NONE),
      c.quote && h("blockquote", c.quote),
      h("p.small.soft.mono", c.id),
      c.error && reason("Error", c.error.message),
      verdict !== "holds" && reason("Why", c.why),
      c.recorded &&
        c.verdict !== "left-out" &&
        c.recorded !== c.verdict &&
        reason("Recorded as", VERDICTS[c.recorded] ? VERDICTS[c.recorded][1] : c.recorded),
      c.strength_why && reason(c.strength === "tuned" ? "Tuned" : "Returned", c.strength_why),
      more.length > 0 &&
        h(
          "details",
          h("summary", "Tolerance and notes"),
          verdict === "holds" && reason("Why", c.why),
          more.map(([k, v]) => h("p", h("strong", `${k}: `), v)),
        ),
    ),
    h(
      "div",
      h("span.label", "published"),
      h("span.value", publishedText(c)),
      isStated(c) && c.published.text && h("span.label", c.published.text),
    ),
    h("div", h("span.label", "measured"), measuredText(shipped || c, c.unit)),
  );
}

function isStated(c) {
  return c.kind === "number" && c.published && isFigure(c.published.value);
}

// The number where the paper states one, else its words: a number is then our way to put them.
function publishedText(c) {
  const p = c.published || {};
  return (!isStated(c) && p.text) || show(p.value, c.unit);
}

function measuredText(own, unit) {
  const m = own.measured || {};
  const spread =
    isFigure(m.min) &&
    isFigure(m.max) &&
    m.min !== m.max &&
    `${show(m.min, unit)} to ${show(m.max, unit)}`;
  const seeds = isFigure(m.n) && plural(m.n, "seed");
  const below = [!m.text && spread, seeds].filter(Boolean).join(", ");
  return [h("span.value", m.text || show(m.mean, unit)), below && h("span.label", below)];
}

// The same claims under each reading of the paper, side by side.
function readingsPart(p, claims) {
  const rows = claims.filter((c) => list(c.readings).length);
  if (!rows.length) return null;
  const under = (c, r) =>
    r.id === "plain" ? c : list(c.readings).find((own) => own.reading === r.id);
  const readings = list(p.readings).filter((r) => rows.some((c) => under(c, r)));
  const cell = (c, r) => {
    const own = under(c, r);
    if (!own) return NONE;
    const found = own.verdict === "left-out" && own.shipped ? own.shipped : own;
    const value = found.measured && isFigure(found.measured.mean);
    return [
      pillOf(found.verdict),
      h("span.cell", value ? show(found.measured.mean, c.unit) : ""),
      found !== own && h("span.cell.soft", "shipped"),
    ];
  };
  const sum = (r) => `${r.held} of ${r.all} hold`;
  const reasons = (r) =>
    rows
      .map((c) => [c, under(c, r)])
      .filter(([c, own]) => own && own !== c && own.why && own.why !== c.why);
  return h(
    "div.readings",
    h("h3", "Readings"),
    h(
      "p.small.soft",
      "The text can be understood in more than one way. Each reading is a column; none is picked " +
        "claim by claim, and only the plain one counts in the totals.",
    ),
    h(
      "div.card.panel",
      chapters(rows).map(([title, own]) => [
        title && h("h4", title),
        plainTable(
          [
            ["claim", (c) => h("span.mono", c.id)],
            ["published", publishedText],
            // Most readings are about one chapter; the others' columns would be empty.
            ...readings
              .filter((r) => own.some((c) => under(c, r)))
              .map((r) => [h("span", { title: r.title }, r.id), (c) => cell(c, r)]),
          ],
          own,
          `Claims of ${title || p.paper} by reading`,
        ),
      ]),
      h(
        "ul.small",
        readings.map((r) =>
          h(
            "li",
            h("strong", `${r.id}: `),
            `${[r.title, r.text].filter(Boolean).join(". ")}. `.replace(/\.\. $/, ". "),
            r.after_the_fact && " Found after the results were known.",
            h("b", ` ${sum(r)}`),
            r.id === "plain" ? "." : `; by the plain reading ${r.plain_held} of the same ${r.all}.`,
            reasons(r).length > 0 &&
              h(
                "ul",
                reasons(r).map(([c, own]) => h("li", h("span.mono", c.id), `: ${own.why}`)),
              ),
          ),
        ),
      ),
    ),
  );
}

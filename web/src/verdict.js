// What happened, what held, and how it ended, before anything else; one card per run.

function runName(run, i = 0) {
  return run.name || (i ? `run ${i + 1}` : "this run");
}

const PASSING = new Set(["pass", "passed", "holds", "ok"]);

function verdictPill(run) {
  if (run.interrupted) return h("span.pill.warn", "\u25d1 interrupted");
  if (!run.verdict) return h("span.pill", "no verdict");
  return PASSING.has(run.verdict)
    ? h("span.pill.good", "\u2713 pass")
    : h("span.pill.bad", `\u2717 ${run.verdict}`);
}

// The figures most people ask for first; those that the run lacks are left out, and of some a 0.
const HEADLINES = [
  ["flows.unfinished", "flows not finished"],
  ["operations.unfinished", "operations not finished"],
  ["slowdown.p99", "slowdown, p99"],
  ["fct.p99", "completion, p99"],
  ["throughput", "throughput"],
  ["pauses", "pauses"],
  ["pause_time", "time paused, all ports"],
  ["stops", "stops of pipelines"],
  ["stop_time", "time of these stops, all switches"],
  ["drops", "frames lost"],
  ["buffer.peak", "fullest buffer"],
  ["deadlocks", "deadlocks"],
];

const ONLY_IF_ANY = new Set(["flows.unfinished", "operations.unfinished", "stops", "stop_time"]);

// Completion times of several entries have nothing in common but a mixture.
function isTold(run, m) {
  if (!m || (m.value === 0 && ONLY_IF_ANY.has(m.name))) return false;
  return m.name !== "fct.p99" || entriesOf([run]).length < 2;
}

function headlines(run) {
  const found = HEADLINES.map(([name, label]) => [metricsOf(run).get(name), label]).filter(([m]) =>
    isTold(run, m),
  );
  const frames = metricsOf(run).get("pauses.frames");
  return found.length
    ? pairs(
        "figures",
        found.map(([m, label]) => [
          label,
          [
            show(m.value, m.unit),
            m.name === "pauses" && frames && frames.value > 0
              ? h("span.small.soft", ` in ${plural(frames.value, "frame")}`)
              : null,
          ],
          {
            title: `${m.name} = ${m.value} ${m.unit || ""}`.trim(),
            class: m.name.endsWith("unfinished") ? "bad" : null,
          },
        ]),
      )
    : null;
}

function facts(run) {
  const speed =
    run.wall_s > 0 && isFigure(run.packet_hops)
      ? `, ${showNumber(run.packet_hops / run.wall_s / 1e6, 3)} M packet-hops/s`
      : "";
  const rows = [
    ["scenario", run.scenario_file && h("span.mono", run.scenario_file)],
    ["seed", isFigure(run.seed) ? String(run.seed) : run.seed],
    ["digest", run.digest && h("span.mono", run.digest)],
    [
      "simulated",
      isFigure(run.end_s) &&
        showTime(run.end_s) +
          (isFigure(run.stop_s) ? `, traffic offered until ${showTime(run.stop_s)}` : ""),
    ],
    [
      "took",
      isFigure(run.wall_s) &&
        showTime(run.wall_s, 3) +
          (isFigure(run.threads) ? ` on ${plural(run.threads, "thread")}` : "") +
          speed,
    ],
    ["version", run.xoff_version],
  ].filter(([, value]) => value);
  return h(
    "dl.facts",
    rows.map(([term, value]) => [h("dt", term), h("dd", value)]),
  );
}

function runNotes(run) {
  const notes = [];
  if (run.interrupted)
    notes.push(
      h("p.note", "Stopped before its end: the figures cover what was simulated until then."),
    );
  if (run.version_differs)
    notes.push(
      h(
        "p.note",
        "Recorded by another version of xoff: some figures may be missing or mean something else.",
      ),
    );
  return notes;
}

// What was found wrong apart from expectations, which stand for themselves.
function otherFindings(runs) {
  return runs.flatMap((run, i) => {
    const known = list(run.expectations).map((e) => `expected ${e.text},`);
    return list(run.findings)
      .filter((f) => !known.some((k) => f.startsWith(k)))
      .map((f) => `${ofRun(runs, i)}${f}`);
  });
}

function findingsNote(runs) {
  const found = otherFindings(runs);
  return found.length
    ? h(
        "div.note.bad",
        h("strong", "Found wrong:"),
        h(
          "ul",
          found.map((f) => h("li", f)),
        ),
      )
    : null;
}

// --------------------------------------------------------------------------------------- headline

const SURE = { high: "very", medium: "fairly", low: "not very" };

// A number stays on the line of its unit.
function unbroken(text) {
  return text.replace(/(\d) (?=%|[pnum]?s\b|[kMGT]?b\/s|[KMG]?B\b)/g, "$1\u00a0");
}

// What happened, in a paragraph, as `xoff explain` says it; and against the first run, where there are several.
function explanation(run, i, several) {
  const e = run.explain;
  if (!e || !e.headline) return null;
  const roots = list(e.roots);
  const sure = e.sure && SURE[e.sure.level];
  return h(
    "article.story",
    several && h("h3", swatch(i), " ", runName(run, i), " ", verdictPill(run)),
    h("p.headline", unbroken(e.headline)),
    e.difference && h("p.difference", unbroken(e.difference)),
    sure &&
      !e.healthy &&
      h("p.small.soft", `How sure: ${sure}${e.sure.why ? `; ${e.sure.why}` : ""}.`),
    roots.length > 0 &&
      h(
        "details",
        h("summary", plural(roots.length, "cause"), ", with the evidence"),
        roots.map(rootOf),
        e.minor > 0 && h("p.small.soft", `${plural(e.minor, "smaller cause")} not named.`),
        h("p.small.soft", list(e.facts).join(" ")),
      ),
  );
}

function rootOf(root) {
  const share = isFigure(root.harm_share) ? ` (${showShare(root.harm_share)} of the harm)` : "";
  const chain = list(root.chain);
  const remedies = list(root.remedies);
  return h(
    "div.root",
    h("h4", root.title, h("span.soft", share)),
    root.what && h("p", root.what),
    chain.length > 0 &&
      h(
        "ol.chain",
        chain.map((c) =>
          h(
            "li",
            h("b", c.node),
            " ",
            h("b.stops", { "aria-label": "pauses" }, STOPS),
            " ",
            h("b", c.peer),
            h("span.soft", `, ${showShare(c.held_fraction)} of the time`),
          ),
        ),
      ),
    h(
      "ul.small",
      list(root.evidence).map((text) => h("li", text)),
    ),
    remedies.length > 0 &&
      h(
        "p.small",
        "Would help: ",
        remedies.map((r, i) => [i ? "; " : "", r.words, r.change && [" (", h("code", r.change), ")"]]),
        ".",
      ),
  );
}

// ----------------------------------------------------------------------------------- expectations

// Expectations of all files, each once, those that failed first.
function expectationsPanel(runs) {
  const all = new Map();
  for (const e of runs.flatMap((r) => list(r.expectations))) {
    const known = all.get(e.text);
    if (!known || (known.holds && !e.holds)) all.set(e.text, e);
  }
  if (!all.size) return null;
  const sorted = [...all.values()].sort((a, b) => a.holds - b.holds);
  const failed = sorted.filter((e) => !e.holds).length;
  const item = (e) =>
    h(
      "li",
      { title: e.detail },
      h(e.holds ? "b.good" : "b.bad", e.holds ? "\u2713 " : "\u2717 "),
      h("code", e.text),
      !e.holds && e.detail && h("span.bad", ` \u2013 ${e.detail}`),
    );
  return h(
    "div.card.panel.expectations",
    h(
      "h3",
      failed
        ? `${failed} of ${plural(sorted.length, "expectation")} failed`
        : `${sorted.length > 1 ? `All ${sorted.length} expectations` : "The expectation"} held` +
            (otherFindings(runs).length ? ", but see above what was found wrong" : ""),
    ),
    h("ul", sorted.map(item)),
  );
}

// ------------------------------------------------------------------------------------------ cards

function runCard(run, i, several) {
  return h(
    "article.card.run",
    h(
      "div.run-head",
      h(
        "div.run-name",
        several && swatch(i),
        h("h3", several ? runName(run, i) : run.name || "Result"),
      ),
      verdictPill(run),
    ),
    several && run.title && run.title !== DATA.title && h("p.small.soft", run.title),
    headlines(run),
    runNotes(run),
    facts(run),
  );
}

function cards(runs) {
  return h(
    "div.verdicts",
    runs.map((run, i) => runCard(run, i, runs.length > 1)),
  );
}

function verdictSection(runs) {
  const several = runs.length > 1;
  const failed = runs.filter((r) => !r.interrupted && r.verdict && !PASSING.has(r.verdict)).length;
  const stories = runs.map((run, i) => explanation(run, i, several)).filter(Boolean);
  return section(
    "verdict",
    stories.length ? "What happened" : "Verdict",
    several &&
      `${plural(runs.length, "run")} side by side; ` +
        (failed ? `${failed} failed.` : "none failed."),
    stories,
    findingsNote(runs),
    expectationsPanel(runs),
    several ? null : cards(runs),
  );
}

// With several runs, their numbers stand behind the comparison.
function runsSection(runs) {
  return runs.length > 1 ? section("runs", "Runs", null, cards(runs)) : null;
}

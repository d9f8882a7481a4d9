// What was run and how it ended, before anything else: one card per run.

function runName(run, i = 0) {
  return run.name || (i ? `run ${i + 1}` : "this run");
}

function metricOf(run, name) {
  return list(run.metrics).find((m) => m.name === name);
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

const ONLY_IF_ANY = new Set(["stops", "stop_time"]);

function headlines(run) {
  const found = HEADLINES.map(([name, label]) => [metricOf(run, name), label]).filter(
    ([m]) => m && (m.value !== 0 || !ONLY_IF_ANY.has(m.name)),
  );
  return found.length
    ? pairs(
        "figures",
        found.map(([m, label]) => [
          label,
          show(m.value, m.unit),
          { title: `${m.name} = ${m.value} ${m.unit || ""}`.trim() },
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
  const findings = list(run.findings);
  if (findings.length)
    notes.push(
      h(
        "div.note.bad",
        h("strong", "Found wrong:"),
        h(
          "ul",
          findings.map((f) => h("li", typeof f === "string" ? f : f.text || JSON.stringify(f))),
        ),
      ),
    );
  return notes;
}

function verdictSection(runs) {
  const several = runs.length > 1;
  const failed = runs.filter((r) => !r.interrupted && r.verdict && !PASSING.has(r.verdict)).length;
  const lead =
    several &&
    `${plural(runs.length, "run")} side by side; ` +
      (failed ? `${failed} did not meet what was expected.` : "none failed.");
  return section(
    "verdict",
    "Verdict",
    lead,
    h(
      "div.verdicts",
      runs.map((run, i) =>
        h(
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
        ),
      ),
    ),
  );
}

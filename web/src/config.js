// The configuration that was in effect, every default spelled out, and the scenario as written.

function configSection(runs) {
  const text = (x) => (typeof x === "string" ? x : JSON.stringify(x, null, 2));
  const several = runs.length > 1;
  const blocks = runs
    .flatMap((r, i) => [
      r.config && [
        several ? `Effective configuration of ${runName(r, i)}` : "Effective configuration",
        text(r.config),
      ],
      r.scenario &&
        (i === 0 || r.scenario !== runs[i - 1].scenario) && [
          several ? `Scenario of ${runName(r, i)}, as written` : "Scenario, as written",
          text(r.scenario),
        ],
    ])
    .filter(Boolean);
  return blocks.length
    ? section(
        "config",
        "Configuration",
        null,
        blocks.map(([title, body]) =>
          h("details.card.panel", h("summary", title), h("pre", { tabindex: "0" }, body)),
        ),
      )
    : null;
}

// The page of `xoff sweep` in a real browser: node tests/browser/sweep.test.mjs [--shots DIR]
import assert from "node:assert/strict";
import { looksRight } from "./looks.mjs";
import { csvOfFigure, dataOf, drawn, inkOf, onPage, pageOf } from "./opened.mjs";

const BUFFERS = ["1MB", "4MB", "16MB"];
const MMUS = ["sih", "dsh"];

// Three buffers, two ways to share them and two variants; at one cell all runs failed.
function sweepFixture() {
  const points = BUFFERS.flatMap((buffer) =>
    MMUS.map((mmu) => ({ values: [buffer, mmu], numbers: [parseInt(buffer) * 1e6, null] })),
  );
  const cells = points.flatMap((p, point) =>
    ["plain", "</script>"].map((variant, v) => {
      const p99 = (120 - 20 * point + 7 * v) * 1e-6;
      const isGone = point === 0 && v === 1;
      return {
        point,
        variant,
        runs: 3,
        failed: isGone ? 3 : 0,
        verdict_failed: point === 2 && v === 0 ? 2 : 0,
        pareto: point === 5 && v === 0,
        tight: point > 1,
        metrics: isGone
          ? {}
          : {
              "fct.p99": { n: 3, mean: p99, ci95: p99 / 10, stddev: p99 / 20, min: p99 / 2, max: p99 },
              drops: { n: 3, mean: 0, ci95: 0, stddev: 0, min: 0, max: 0 },
            },
      };
    }),
  );
  return {
    page: "sweep",
    title: "Buffers <b>large</b> and small",
    xoff_version: "0.0.0",
    file: "sweep.yaml",
    scenario: "star.yaml",
    design: "grid",
    settings: { stop: "2ms", "switch.mmu.allow_loss": "true" },
    seeds: [1, 2, 3, 7],
    parameters: [
      { name: "switch.buffer", unit: "B", scale: "log", matters: true },
      { name: "switch.mmu", unit: "", scale: "lin", matters: false },
    ],
    variants: ["plain", "</script>"],
    points,
    metrics: [
      { name: "fct.p99", unit: "s", more_is_better: false, best: 10, worst: 0 },
      { name: "drops", unit: "frames", more_is_better: false, best: 0, worst: 0 },
    ],
    cells,
    runs: 36,
    failures: [1, 2, 3].map((seed) => ({ point: 0, variant: "</script>", seed, error: "no room" })),
    verdicts: {
      runs: 33,
      failed: 2,
      reasons: [
        {
          reason: "drops == <0>",
          runs: 2,
          point: 2,
          variant: "plain",
          seed: 2,
          why: "expected drops == <0>, but drops = 1",
        },
      ],
    },
    until: { metric: "fct.p99", tolerance: 0.1, relative: true, max_seeds: 3 },
    show: {
      x: "switch.buffer",
      series: "switch.mmu",
      heat: ["switch.buffer", "switch.mmu"],
      pareto: { min: ["fct.p99", "switch.buffer"], max: [] },
    },
  };
}

function latinFixture() {
  const data = sweepFixture();
  return { ...data, design: "latin", until: null, failures: [], show: { pareto: {} } };
}

const file = pageOf("sweep", sweepFixture());

onPage("a sweep", file, {}, {
  "the best and worst, and what went wrong, come first": async (page) => {
    const text = await page.locator("#best").innerText();
    assert.match(text, /6 points, 36 runs of star\.yaml/);
    assert.match(text, /3 runs failed\. Point 0, seed 1: no room/);
    assert.match(text, /Set at all points\s+stop: 2ms, switch\.mmu\.allow_loss: true/);
    assert.match(text, /Seeds\s+1\.\.3, 7, and more until the goal/);
    assert.match(text, /Goal\s+fct\.p99 \u00b1 10 %, at most 3 seeds/);
    assert.match(text, /2 of 33 runs failed an expectation or the audit/);
    assert.match(text, /drops == <0>: 2 runs, first seed 2 of switch\.buffer 4MB, switch\.mmu sih, variant plain: expected/);
    assert.match(text, /switch\.mmu makes no difference/);
    assert.doesNotMatch(text, /switch\.buffer makes no difference/);
    assert.match(text, /fct\.p99 is as tight as asked at 8 of 12 points/);
    assert.deepEqual(await page.locator("#best tbody tr").first().locator("td").allInnerTexts(), [
      "fct.p99",
      "20 us \u00b1 2 us",
      "switch.buffer 16MB, switch.mmu dsh, variant plain",
      "120 us \u00b1 12 us",
      "switch.buffer 1MB, switch.mmu sih, variant plain",
      "at 1",
    ]);
    const drops = await page.locator("#best tbody tr").nth(1).locator("td").allInnerTexts();
    assert.equal(drops[2], "switch.buffer 1MB, switch.mmu sih, variant plain, and 10 more"); // a tie
  },
  "every metric is drawn, against a parameter and over two": async (page) => {
    const { metrics } = await dataOf(page);
    const titles = (await inkOf(page)).map((f) => f.title);
    for (const m of metrics) {
      assert.ok(titles.includes(`${m.name} against switch.buffer`));
      assert.ok(titles.includes(`${m.name} over switch.buffer and switch.mmu`));
    }
    for (const { title, ink } of await inkOf(page)) assert.ok(ink > 300, title);
  },
  "a figure has the points of the variant that is chosen": async (page) => {
    const rows = await csvOfFigure(page, "fct.p99 against switch.buffer");
    assert.deepEqual(rows[0], ["switch.buffer", "switch.mmu", "variant", "n", "mean", "ci95"]);
    assert.equal(rows.length, 7);
    assert.ok(rows.slice(1).every((r) => r[2] === "plain"));
    await page.locator("#curves").getByLabel("variant =").selectOption("</script>");
    await drawn(page);
    const other = await csvOfFigure(page, "fct.p99 against switch.buffer");
    assert.equal(other.length, 6); // one cell has no figures
    assert.ok(other.slice(1).every((r) => r[2] === "</script>"));
  },
  "another parameter can be chosen": async (page) => {
    await page
      .locator("#curves")
      .getByRole("combobox", { name: /^against/ })
      .selectOption("variant");
    await drawn(page);
    const rows = await csvOfFigure(page, "fct.p99 against variant");
    assert.ok(rows.slice(1).every((r) => r[0] === "1MB" || r[1] === "sih"));
    assert.equal(
      await page
        .locator("#curves")
        .getByRole("combobox", { name: /^lines/ })
        .inputValue(),
      "switch.mmu",
    );
  },
  "the front, and all points": async (page) => {
    const text = await page.locator("#pareto").innerText();
    assert.match(text, /1 of 12 points: no other is at least as good in all of least fct\.p99/);
    assert.match(text, /1 point without a figure of each can be on none/);
    assert.equal(await page.locator("#pareto tbody tr").count(), 1);
    const rows = await csvOfFigure(page, "switch.buffer against fct.p99");
    assert.equal(rows.filter((r) => r.at(-1) === "true").length, 1);
    assert.equal(await page.locator("#points tbody tr").count(), 12);
    assert.match(await page.locator("#points").innerText(), /3 \(3 failed\)/);
    const wide = await page.locator("#points .table").evaluate((e) => getComputedStyle(e).backgroundAttachment);
    assert.equal(wide, "local, local, scroll, scroll"); // a shadow where there is more
    assert.equal(await page.locator("#points tbody td", { hasText: /^2 failed$/ }).count(), 1);
  },
});

looksRight("sweep", file);

onPage("a Latin hypercube", pageOf("latin", latinFixture()), {}, {
  "all points are marks, whatever their other parameters": async (page) => {
    const rows = await csvOfFigure(page, "fct.p99 against switch.buffer");
    assert.equal(rows.length, 12);
    assert.equal(await page.locator("#pareto").count(), 0);
    assert.equal(await page.locator("#curves").getByLabel("colours").inputValue(), "variant");
    for (const { title, ink } of await inkOf(page)) assert.ok(ink > 300, title);
  },
  "the variants do not lie upon each other": async (page) => {
    const over = "fct.p99 over switch.buffer and switch.mmu";
    assert.equal((await csvOfFigure(page, over)).length, 7);
    await page.locator("#heat").getByLabel("variant =").selectOption("</script>");
    await drawn(page);
    assert.equal((await csvOfFigure(page, over)).length, 6); // one cell has no figures
    await page.locator("#curves").getByLabel("colours").selectOption("");
    await drawn(page);
    assert.equal(await page.locator("#curves").getByLabel("variant =").inputValue(), "plain");
    assert.equal((await csvOfFigure(page, "fct.p99 against switch.buffer")).length, 7);
    await page
      .locator("#curves")
      .getByRole("combobox", { name: /^against/ })
      .selectOption("variant");
    await drawn(page);
    assert.equal((await csvOfFigure(page, "fct.p99 against variant")).length, 12);
  },
});

// The front over a metric of large counts, whose labels are long.
function countedFixture() {
  const data = sweepFixture();
  for (const [i, c] of data.cells.entries())
    if (c.metrics.drops) Object.assign(c.metrics.drops, { mean: 1300 * i, max: 15000 });
  data.show.pareto = { min: ["drops", "fct.p99"], max: [] };
  return data;
}

onPage("a front over counts", pageOf("counted", countedFixture()), {}, {
  "the last label is whole": async (page) => {
    const ink = await page.evaluate(() => {
      const canvas = document.querySelector("#pareto figure canvas");
      const { data } = canvas.getContext("2d").getImageData(canvas.width - 4, 0, 4, canvas.height);
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    });
    assert.equal(ink, 0); // a label that is cut reaches the edge
  },
});

// A sweep whose metrics no run has, in two ways.
function barrenFixture(failed) {
  const data = sweepFixture();
  const cells = data.cells.map((c) => ({ ...c, metrics: {}, failed: failed ? c.runs : 0 }));
  const failures = cells.flatMap((c) => [1, 2, 3].map((seed) => ({ ...c, seed, error: "no room" })));
  return { ...data, metrics: [], cells, until: null, failures: failed ? failures : [], verdicts: {} };
}

for (const failed of [false, true])
  onPage(`no figures, ${failed ? "all failed" : "none has them"}`, pageOf(`barren${failed}`, barrenFixture(failed)), {}, {
    "the reason is said, and no section is empty": async (page) => {
      const text = await page.locator("#best").innerText();
      assert.match(text, failed ? /No run is done/ : /No run has a figure of any metric/);
      assert.equal(await page.locator("#curves, #heat").count(), 0);
      assert.equal(await page.locator("#points tbody tr").count(), 12);
    },
  });

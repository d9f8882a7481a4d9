// The page of `xoff reproduce` in a real browser: node tests/browser/scoreboard.test.mjs [--shots DIR]
import assert from "node:assert/strict";
import { reproduceFixture } from "./fixture.mjs";
import { looksRight } from "./looks.mjs";
import { csvOfFigure, dataOf, inkOf, onPage, pageOf } from "./opened.mjs";

const file = pageOf("reproduce", reproduceFixture());

onPage("the scoreboard", file, {}, {
  "the scoreboard shows every claim and figure": async (page) => {
    const {
      papers: [paper],
    } = await dataOf(page);
    assert.equal(await page.locator(".claim").count(), paper.claims.length);
    const text = await page.locator("main").innerText();
    assert.match(text, /2 claims come out worse than recorded: pfc-off-loss \(cells\), ets/);
    assert.match(text, /40 %[^]*41 %[^]*5 seeds/);
    assert.equal((await inkOf(page)).length, paper.figures.length);
    // The name by which a figure is asked for stands before its title.
    const titles = paper.figures.map((f) => `${f.id}: ${f.title}`);
    const rows = await csvOfFigure(page, titles[0]);
    assert.deepEqual(rows[1], ["measured", "PFC off", "slow receiver", "0.41", "0.38", "0.44"]);
    assert.deepEqual(rows.at(-1), ["published", "PFC off", "slow receiver", "0.4", "", ""]);
    const overTime = await csvOfFigure(page, titles[2]);
    assert.deepEqual(overTime[1], ["measured", "static", "10", "40", "", ""]);
    // A distribution says how many runs have a value, and stays below 1 where some have none.
    assert.match(text, /Runs with a value: static 3 of 4, shared 0 of 4/);
    const steps = await csvOfFigure(page, titles[3]);
    assert.deepEqual(steps[2], ["measured", "static", "2", "0.75", "", ""]);
    assert.equal(steps.length, 4);
  },
  "the scoreboard says what a result is worth, in the open": async (page) => {
    const text = await page.locator("main").innerText();
    assert.match(text, /reproduced: independent, and stated by the paper\s+2 of 4\n/);
    assert.deepEqual(await page.locator("#scoreboard table tbody tr td").allInnerTexts(), [
      "number the paper states a number",
      "2 of 3",
      "\u2013",
      "0 of 1",
      "direction the paper states a direction",
      "0 of 1",
      "\u2013",
      "\u2013",
      "own our own variant or check",
      "\u2013",
      "\u2013",
      "\u2013",
    ]);
    assert.deepEqual(await page.locator(".chapter h3").allInnerTexts(), [
      "5 Flow control",
      "6 Costs",
    ]);
    // Nothing need be opened to see why a claim is red, and what the paper says itself.
    for (const id of ["ets", "victim", "cost", "long"])
      assert.ok(await page.locator(`#claim-${id} .reason`).first().isVisible(), id);
    assert.match(await page.locator("#claim-ets").innerText(), /Why: The paper reads/);
    // The number that the paper states, with its words under it.
    assert.match(await page.locator("#claim-pfc-on-loss").innerText(), /published\s+0 %\s+no loss/);
    assert.match(await page.locator("#claim-ets blockquote").innerText(), /^About 40 %/);
    assert.match(await page.locator("#claim-victim").innerText(), /Tuned: the delay, 9 us/);
    assert.match(await page.locator("#claim-victim").innerText(), /number, tuned/);
    assert.doesNotMatch(await page.locator("#claim-pfc-off-loss").innerText(), /Why:/);
    // What was not run shows what is shipped, and says so.
    const long = await page.locator("#claim-long").innerText();
    assert.match(long, /does not hold shipped results of xoff 0\.2\.9, digest 0123456789abcdef/);
    assert.match(long, /20 MB\/s[^]*9 seeds/);
    const readings = page.locator(".readings");
    assert.match(await readings.innerText(), /1 of 1 hold[^]*0 of 1 hold/);
    assert.match(
      await readings.innerText(),
      /Found after the results were known\. 0 of 1 hold; by the plain reading 1 of the same 1/,
    );
    const figures = page.locator("figure");
    assert.match(
      await figures.nth(4).innerText(),
      /Not run now: shipped results of xoff 0\.2\.9, digest 0123456789abcdef/,
    );
    assert.match(await figures.nth(5).innerText(), /Not run now\. Hollow marks/);
    assert.match(await readings.innerText(), /pfc-off-loss: Cells make more of it/);
  },
  "many categories have a wide figure and upright names": async (page) => {
    const figures = await page.evaluate(() =>
      [...document.querySelectorAll("figure .chart:not([hidden])")].map((box) => {
        const chart = echarts.getInstanceByDom(box);
        const x = chart.getOption().xAxis[0];
        return {
          n: (x.data || []).length,
          rotate: x.axisLabel.rotate || 0,
          isWide: box.parentElement.classList.contains("wide"),
          share: box.clientWidth / box.closest(".grid").clientWidth,
          plot: chart.getModel().getComponent("grid").coordinateSystem.getRect().height,
        };
      }),
    );
    assert.equal(figures.filter((f) => f.n > 8).length, 1);
    for (const f of figures) {
      assert.equal(f.isWide, f.n > 8);
      assert.equal(f.rotate, f.n > 8 ? 90 : 0);
      assert.ok(f.isWide ? f.share > 0.9 : f.share < 0.6, JSON.stringify(f));
      assert.ok(f.plot > 150, JSON.stringify(f));
    }
  },
  "the scoreboard can be filtered": async (page) => {
    const shown = () =>
      page
        .locator(".claim:visible")
        .evaluateAll((all) => all.map((e) => e.id.replace("claim-", "")));
    const press = (name) => page.getByRole("button", { name, exact: true }).click();
    assert.equal((await shown()).length, 6);
    await press("\u2717 does not hold");
    assert.deepEqual(await shown(), ["ets", "long"]); // the second by its shipped result
    assert.match(await page.locator(".filter output").innerText(), /2 of 6 claims shown/);
    // It stays in sight.
    await page.locator("figure").last().scrollIntoViewIfNeeded();
    await page.waitForFunction(() => scrollY > 500);
    assert.ok((await page.locator(".filter").boundingBox()).y >= 0);
    assert.deepEqual(await page.locator(".chapter:visible h3").allInnerTexts(), ["5 Flow control"]);
    await press("direction");
    assert.deepEqual(await shown(), []);
    await press("all verdicts");
    assert.deepEqual(await shown(), ["cost"]);
    await press("all kinds");
    await press("tuned");
    assert.deepEqual(await shown(), ["victim"]);
    await press("all strengths");
    assert.equal((await shown()).length, 6);
  },
});

onPage("a narrower scoreboard", file, { viewport: { width: 700, height: 900 } }, {
  "a figure's key shows every name, above the plot": async (page) => {
    const figures = await page.evaluate(() =>
      [...document.querySelectorAll("figure .chart:not([hidden])")].map((box) => {
        const chart = echarts.getInstanceByDom(box);
        const key = chart.getModel().getComponent("legend");
        const view = chart.getViewOfComponentModel(key).group;
        const rect = view.getBoundingRect().clone();
        rect.applyTransform(view.getComputedTransform());
        return {
          kind: key.get("type"),
          n: key.get("data").length,
          drawn: view.childAt(0).childCount(),
          bottom: rect.y + rect.height,
          right: rect.x + rect.width,
          width: chart.getWidth(),
          top: chart.getModel().getComponent("grid").coordinateSystem.getRect().y,
        };
      }),
    );
    assert.ok(figures.length > 2);
    for (const f of figures) {
      assert.equal(f.kind, "plain");
      assert.equal(f.drawn, f.n);
      assert.ok(f.bottom < f.top - 7, JSON.stringify(f)); // half a mark may stand above the plot
      assert.ok(f.right <= f.width + 1, JSON.stringify(f));
    }
  },
});

looksRight("reproduce", file);

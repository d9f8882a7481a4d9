// What the tests of the pages share: a browser, pages opened from disk as people do, and what can be read off
// them.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { makePage, web } from "./page.mjs";

const { chromium } = createRequire(join(web, "package.json"))("playwright-core");

const args = process.argv.slice(2);
const at = args.indexOf("--shots");
// Where pictures are left; null: none are.
export const shots = at < 0 ? null : args.splice(at, 2)[1];
export const [given] = args;
const work = mkdtempSync(join(tmpdir(), "xoff-browser-"));
let browser;

before(async () => {
  if (shots) mkdirSync(shots, { recursive: true });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});

after(async () => {
  if (browser) await browser.close();
  rmSync(work, { recursive: true, force: true });
});

// A page of made-up data on disk.
export function pageOf(name, data, change = (html) => html) {
  const file = join(work, `${name}.html`);
  writeFileSync(file, change(makePage(data)));
  return file;
}

export function newContext() {
  return browser.newContext();
}

// Opens a page once for several checks, each a test of its own; they run in this order.
export function onPage(title, file, options, checks) {
  test(title, (t) =>
    withPage(file, options, async (page) => {
      for (const [name, check] of Object.entries(checks)) await t.test(name, () => check(page));
    }),
  );
}

export async function drawn(page) {
  await page.waitForFunction(() => document.documentElement.dataset.drawn === "true");
}

// Opens a page, gives it to `body`, and then asks that nothing went wrong or left the disk.
export async function withPage(file, options, body) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (m) => {
    // Reading pixels is the tests' own doing.
    const isOurs = /willReadFrequently/.test(m.text());
    if (["error", "warning"].includes(m.type()) && !isOurs) wrong.push(m.text());
  });
  page.on("pageerror", (e) => wrong.push(e.stack));
  page.on("request", (r) => {
    if (!/^(file|data|blob):/.test(r.url())) wrong.push(`asked for ${r.url()}`);
  });
  try {
    await page.goto(pathToFileURL(file).href);
    await drawn(page);
    await body(page);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
  }
}

export function dataOf(page) {
  return page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
}

// Per visible chart: its title and how many pixels of it are not blank.
export function inkOf(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("figure")]
      .filter((f) => !f.querySelector(".chart").hidden)
      .map((f) => {
        let ink = 0;
        for (const canvas of f.querySelectorAll("canvas")) {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ink++;
        }
        return {
          title: f.querySelector("h3").textContent,
          ink,
          label: f.querySelector(".chart").getAttribute("aria-label"),
        };
      }),
  );
}

// The part of the time axis that each linked chart shows, read off the axis itself.
export function ranges(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("#timeline .chart")].flatMap((box) => {
      const chart = echarts.getInstanceByDom(box);
      if (!chart) return []; // the network has no time axis
      const rect = chart.getModel().getComponent("grid").coordinateSystem.getRect();
      const left = chart.convertFromPixel({ xAxisIndex: 0 }, rect.x);
      return [[left, chart.convertFromPixel({ xAxisIndex: 0 }, rect.x + rect.width)]];
    }),
  );
}

// The linked charts, which come after the network.
export function timeCharts(page) {
  return page.locator("#timeline figure:not(:first-child) .chart");
}

// Scrolls there; at the upper edge the time bar would lie over it.
export function toMiddle(box) {
  return box.evaluate((e) => e.scrollIntoView({ block: "center", behavior: "instant" }));
}

// All charts show that range; the library rounds it to what a pixel can show.
export function assertSame(all, [from, to], what) {
  assert.ok(all.length > 0);
  const near = Math.abs(to - from) * 1e-3;
  for (const [a, b] of all)
    assert.ok(
      Math.abs(a - from) <= near && Math.abs(b - to) <= near,
      `${what}: ${a} to ${b}, not ${from} to ${to}`,
    );
}

export function figureTitled(page, title) {
  return page
    .locator("figure")
    .filter({ has: page.getByRole("heading", { name: title, exact: true }) });
}

// Rows of the CSV that a button gives; no field of ours holds a line break.
export async function csvOf(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  assert.match(download.suggestedFilename(), /\.csv$/);
  const text = readFileSync(await download.path(), "utf8");
  return text
    .trimEnd()
    .split("\r\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) =>
        m[1] === undefined ? m[2] : m[1].replaceAll('""', '"'),
      ),
    );
}

export function csvOfFigure(page, title) {
  return csvOf(page, figureTitled(page, title).getByRole("button", { name: /CSV$/ }));
}

// Four significant digits, as the page writes them, in that unit.
export function four(x) {
  return String(Number(x.toPrecision(4)));
}

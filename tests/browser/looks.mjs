// What every page must do, whatever it shows: both colour schemes, any width, print, keyboard. One opening of
// the page for all of it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inkOf, onPage, shots } from "./opened.mjs";

const paper = (page) =>
  page.evaluate(() => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]));

const picture = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("canvas")]
      .slice(0, 1)
      .map((c) => c.toDataURL())
      .join(),
  );

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

// Sets the width and waits until the charts have it.
async function resize(page, width) {
  await page.setViewportSize({ width, height: 844 });
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".chart:not([hidden])")].every(
      (c) => Math.abs(c.querySelector("canvas").clientWidth - c.clientWidth) <= 1,
    ),
  );
}

function sideways(page) {
  return page.evaluate(() => document.scrollingElement.scrollWidth);
}

// Words that are cut off: those of the page may wrap, but none may be wider than its box.
function clipped(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll(".tree li, .cause .place, .headline, .expectations li")]
      .filter((e) => e.scrollWidth > e.clientWidth + 1)
      .map((e) => e.textContent.slice(0, 60)),
  );
}

// The first chart once it is no longer drawn as `before`: charts are drawn some frames after their colours
// change, later on a busy machine. Empty on a page without charts.
async function redrawn(page, before) {
  for (const end = Date.now() + 10000; Date.now() < end; ) {
    const now = await picture(page);
    if (!before || now !== before) return now;
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r))));
  }
  assert.fail("the chart keeps the colours of the other scheme");
}

async function bothSchemes(page, name) {
  await page.emulateMedia({ colorScheme: "light" });
  let drawn = await picture(page);
  for (const scheme of ["dark", "light"]) {
    const isDark = scheme === "dark";
    await page.emulateMedia({ colorScheme: scheme });
    if (isDark) drawn = await redrawn(page, drawn); // afterwards the button has left it light
    assert.equal((await paper(page)) < 128, isDark);
    await shoot(page, `${name}-${scheme}`);
    await page.getByRole("button", { name: isDark ? "Light" : "Dark", exact: true }).click();
    assert.equal((await paper(page)) < 128, !isDark);
    drawn = await redrawn(page, drawn);
    await page.evaluate(() => delete document.documentElement.dataset.theme);
  }
}

async function narrow(page, name) {
  await resize(page, 390);
  assert.ok((await sideways(page)) <= 390, `${await sideways(page)} px`);
  await shoot(page, `${name}-narrow`);
  for (const { title, ink } of await inkOf(page)) assert.ok(ink > 300, title);
  const closed = await page.$$("details:not([open])");
  for (const d of closed) await d.evaluate((e) => e.setAttribute("open", ""));
  assert.ok((await sideways(page)) <= 390, `${await sideways(page)} px with all opened`);
  assert.deepEqual(await clipped(page), []);
  for (const d of closed) await d.evaluate((e) => e.removeAttribute("open"));
}

async function prints(page, name, leastPages) {
  await resize(page, 1280);
  await page.emulateMedia({ colorScheme: "dark" });
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g) || [];
  assert.ok(pages.length >= leastPages, `${pages.length} pages`);
  if (shots) writeFileSync(join(shots, `${name}.pdf`), pdf);

  // Where nobody is told before printing, canvases are printed, each in its own room.
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const low = await page.evaluate(() =>
    [...document.querySelectorAll(".chart canvas")]
      .map((c) => [c, c.closest(".chart")].map((e) => e.getBoundingClientRect()))
      .filter(([canvas, box]) => canvas.bottom > box.bottom + 1).length,
  );
  assert.equal(low, 0, "charts that lie over what follows");
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });

  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("details:not([open])").count(), 0);
  const onPaper = await page.evaluate(() =>
    [...document.querySelectorAll(".chart:not([hidden])")].map(
      (c) => c.querySelectorAll("svg path, svg polyline, svg text").length,
    ),
  );
  for (const shapes of onPaper) assert.ok(shapes > 3, "drawn as SVG");
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.setViewportSize({ width: 695, height: 900 }); // A4 less its margins
  const looks = await page.evaluate(() => ({
    paper: getComputedStyle(document.body).backgroundColor,
    charts: [...document.querySelectorAll(".chart:not([hidden])")].map((c) => {
      const [box, svg] = [c, c.querySelector("svg")].map((e) => e.getBoundingClientRect());
      return {
        tall: box.height >= 80 && Math.abs(box.height - svg.height) < 3,
        fits: svg.right <= box.right + 1,
      };
    }),
  }));
  assert.equal(looks.paper, "rgb(255, 255, 255)");
  for (const chart of looks.charts) assert.deepEqual(chart, { tall: true, fits: true });
  assert.deepEqual(await clipped(page), []);
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator(".chart svg").count(), 0);
  for (const { title, ink } of await inkOf(page)) assert.ok(ink > 300, title);
}

async function named(page) {
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("button, input, select, summary, .chart:not([hidden])")]
      .filter(
        (e) =>
          !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")) ||
          e.tabIndex < 0,
      )
      .map((e) => e.outerHTML),
  );
  assert.deepEqual(nameless, []);
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((e) => e.id));
  assert.equal(new Set(ids).size, ids.length, "ids are unique");
}

export function looksRight(name, file, leastPages = 1) {
  onPage(`${name}, as any page`, file, {}, {
    "every control can be reached and has a name": named,
    "both colour schemes, and the button between them": (page) => bothSchemes(page, name),
    "390 px wide without sideways scroll, no word cut off": (page) => narrow(page, name),
    "follows the width of the window": async (page) => {
      await resize(page, 700);
      assert.ok((await sideways(page)) <= 700);
    },
    prints: (page) => prints(page, name, leastPages),
  });
}

// A picture of a page, as in the README:
//
//   node tests/browser/shot.mjs PAGE.html OUT.png                       its head
//   node tests/browser/shot.mjs PAGE.html OUT.png --replay SHARE        the replay at a share of the run
//   node tests/browser/shot.mjs PAGE.html OUT.png --replay Deadlock     the replay at its deadlock
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [page, out, , replay] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const tab = await browser.newPage({ viewport: { width: 1100, height: 1180 }, colorScheme: "light" });
await tab.goto(`file://${resolve(page)}`);
await tab.waitForFunction(() => document.documentElement.dataset.drawn === "true");
if (replay) {
  if (replay === "Deadlock") await tab.getByRole("button", { name: replay }).click();
  else
    await tab.getByRole("slider", { name: "Time of the replay" }).evaluate((slider, share) => {
      slider.value = share * slider.max;
      slider.dispatchEvent(new Event("input"));
    }, Number(replay));
  await tab.locator("#timeline .timebar").evaluate((e) => e.scrollIntoView({ behavior: "instant" }));
}
await tab.waitForTimeout(500);
await tab.screenshot({ path: out });
await browser.close();

// A picture of the head of a page, as in the README: node tests/browser/shot.mjs PAGE.html OUT.png
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [page, out] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const tab = await browser.newPage({ viewport: { width: 1100, height: 1180 }, colorScheme: "light" });
await tab.goto(`file://${resolve(page)}`);
await tab.waitForTimeout(1000);
await tab.screenshot({ path: out });
await browser.close();

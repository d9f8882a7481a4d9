// Joins src/*.js into dist/page.js: one function scope, files in the order below. Plain scripts,
// because the page is one file opened from disk, where a browser loads no modules.
//
//   node web/build.mjs
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// A file may use at load what stands before it; inside functions, everything.
const ORDER = [
  "units.js",
  "dom.js",
  "theme.js",
  "csv.js",
  "chart.js",
  "steps.js", // what the sections are made of
  "verdict.js",
  "compare.js",
  "seeds.js",
  "flows.js",
  "timeline.js",
  "lanes.js",
  "pools.js",
  "layout.js",
  "network.js",
  "replay.js",
  "pauses.js",
  "losses.js",
  "metrics.js",
  "config.js", // sections of a run, in their order on the page
  "figures.js",
  "reproduce.js", // the page of `xoff reproduce`
  "sweep.js", // the page of `xoff sweep`
  "main.js",
];

const web = dirname(fileURLToPath(import.meta.url));
const present = readdirSync(join(web, "src")).filter((f) => f.endsWith(".js"));
const unlisted = present.filter((f) => !ORDER.includes(f));
if (unlisted.length) {
  console.error(`build.mjs: not in ORDER: ${unlisted.join(", ")}`);
  process.exit(1);
}

const parts = ORDER.map((f) => readFileSync(join(web, "src", f), "utf8").trimEnd());
const script = `(() => {\n"use strict";\n${parts.join("\n\n")}\n})();\n`;
if (/<\/script|<!--/i.test(script)) {
  console.error("build.mjs: the script would end its own element in the page");
  process.exit(1);
}
mkdirSync(join(web, "dist"), { recursive: true });
writeFileSync(join(web, "dist", "page.js"), script);

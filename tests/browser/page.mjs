// Makes a page the way the command does: the template's placeholders filled, the data escaped so
// that it cannot end its element.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");

function escapeText(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

export function makePage(data) {
  const read = (name) => readFileSync(join(web, name), "utf8");
  const parts = {
    title: escapeText(data.title),
    page: data.page,
    style: read("style.css"),
    script: read("dist/page.js"),
    echarts: read("node_modules/echarts/dist/echarts.min.js"),
    data: JSON.stringify(data).replace(/</g, "\\u003c"),
  };
  return read("page.html").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
}

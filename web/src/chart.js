// A figure: heading, CSV button, chart, and a sentence that says the same without the picture.
//
// Every chart can be drawn again from its `option(width)`: for other colours, other widths, and for
// paper, where it is drawn as SVG so that print is sharp. On the screen it is a canvas, which is
// quicker with many points. Charts are drawn one by one after the page stands, top first.

const PRINT_WIDTH = 640; // px; what A4 leaves inside a figure
const charts = new Set();
const waiting = [];

// f: {title, run, height, option(width, isLog), paint(painter, width, height), log, csv(), says(), controls,
// below, group, onCreate, onKey, nothing}. `option` may answer null: there is nothing to draw, and
// `nothing` says so. `paint` in place of `option` draws shapes of its own. `log`: the axis ("x" or "y") that
// a button makes logarithmic, with an exclamation mark ("x!") where it is so at first.
function figure(f) {
  const box = h("div.chart", { tabindex: "0", role: "img" });
  const empty = h(
    "p.empty",
    { hidden: true },
    f.nothing || "Nothing was recorded for this figure.",
  );
  const caption = h("figcaption");
  const button = f.csv && csvButton(f.title, fileName(f.run, f.title), f.csv);
  const isLog = Boolean(f.log && f.log.endsWith("!"));
  const chart = { f, box, empty, caption, button, isLog, instance: null, drawnWidth: 0 };
  chart.logButton = f.log && logButton(chart);
  box.addEventListener("keydown", (event) => f.onKey && f.onKey(event));
  charts.add(chart);
  waiting.push(chart);
  const element = h(
    f.isWide ? "figure.card.wide" : "figure.card",
    h("div.figure-head", h("h3", f.title), h("div.tools", chart.logButton, button)),
    f.controls,
    box,
    empty,
    f.below,
    caption,
  );
  element.chart = chart;
  return element;
}

function logButton(chart) {
  const button = h(
    "button.quiet",
    {
      type: "button",
      "aria-label": `${chart.f.title}: logarithmic ${chart.f.log[0]} axis`,
      "aria-pressed": String(chart.isLog),
      onclick: () => {
        chart.isLog = !chart.isLog;
        button.setAttribute("aria-pressed", String(chart.isLog));
        draw(chart);
      },
    },
    "log",
  );
  return button;
}

// Draws a chart, in the place and the way the moment asks for.
function draw(chart) {
  const { f, box } = chart;
  const width = printing ? PRINT_WIDTH : box.clientWidth || box.parentElement.clientWidth;
  const option = f.paint ? {} : f.option(width, chart.isLog);
  const says = option ? f.says() : "";
  box.hidden = !option;
  chart.empty.hidden = Boolean(option);
  for (const button of [chart.button, chart.logButton]) if (button) button.hidden = !option;
  chart.caption.textContent = says;
  box.setAttribute("aria-label", `${f.title}. ${says}`);
  if (!option) return drop(chart);
  const height = typeof f.height === "function" ? f.height(width) : f.height || 280;
  const renderer = printing ? "svg" : "canvas";
  if (chart.renderer !== renderer) drop(chart);
  box.style.height = printing ? "auto" : `${height}px`;
  if (chart.instance) chart.instance.resize({ width, height });
  else create(chart, renderer, width, height);
  chart.drawnWidth = width;
  if (f.paint) f.paint(chart.instance, width, height);
  else chart.instance.setOption({ ...base(), ...option }, { notMerge: true });
}

function create(chart, renderer, width, height) {
  chart.renderer = renderer;
  const { init } = chart.f.paint ? echarts.zrender : echarts;
  chart.instance = chart.f.paint
    ? init(chart.box, { renderer, width, height })
    : init(chart.box, null, { renderer, width, height });
  if (chart.f.group && !printing) {
    chart.instance.group = chart.f.group;
    echarts.connect(chart.f.group);
  }
  if (chart.f.onCreate) chart.f.onCreate(chart.instance);
}

function drop(chart) {
  if (chart.instance) chart.instance.dispose();
  chart.instance = null;
}

// Forgets the charts inside an element that leaves the page.
function forget(element) {
  for (const { chart } of element.querySelectorAll("figure")) {
    if (!chart) continue;
    drop(chart);
    charts.delete(chart);
  }
}

// Draws what waits, a chart at a time so that the page answers meanwhile.
function drawWaiting() {
  document.documentElement.dataset.drawn = "false";
  const step = () => {
    const until = performance.now() + 30;
    while (waiting.length && performance.now() < until) {
      const chart = waiting.shift();
      if (charts.has(chart)) draw(chart);
    }
    if (waiting.length) setTimeout(step);
    else document.documentElement.dataset.drawn = "true";
  };
  setTimeout(step);
}

function redraw(element) {
  if (element.chart.instance || element.chart.box.hidden) draw(element.chart);
}

function redrawAll() {
  applyTheme();
  for (const chart of charts) draw(chart);
}

// What all charts share.
function base() {
  const t = theme();
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { color: t.ink, fontFamily: getComputedStyle(document.body).fontFamily },
  };
}

function tooltip(more) {
  const t = theme();
  return {
    confine: true,
    backgroundColor: t.dark ? "#2a3036" : "#ffffff",
    borderColor: t.line,
    padding: [8, 12],
    textStyle: { color: t.ink, fontSize: 12 },
    transitionDuration: 0,
    extraCssText: "box-shadow:0 2px 10px rgb(0 0 0/15%);max-width:26rem;white-space:normal;",
    ...more,
  };
}

// Content of a tooltip: a heading and rows of [colour or null, label, figure, what follows it].
function tip(heading, rows) {
  return h(
    "div",
    h("div", { style: "font-weight:600;margin-bottom:2px" }, heading),
    rows.map(([colour, label, value, more]) =>
      h(
        "div",
        { style: "display:flex;gap:.9em;justify-content:space-between" },
        h(
          "span",
          { style: colour && "white-space:nowrap" },
          colour && h("span.dot", { style: `background:${colour}` }),
          label,
        ),
        h("span", { style: "white-space:nowrap" }, h("b", value), more),
      ),
    ),
  );
}

function axis(more) {
  const t = theme();
  const { axisLabel, ...rest } = more;
  return {
    nameTextStyle: { color: t.soft, fontSize: 11 },
    axisLine: { lineStyle: { color: t.line } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: t.faint } },
    axisLabel: { color: t.soft, fontSize: 11, hideOverlap: true, ...axisLabel },
    ...rest,
  };
}

// Key of the series inside the chart, above the plot: all names, whatever the room they need.
function legend(names, width, more) {
  const t = theme();
  return {
    show: names.length > 1,
    data: names,
    top: 0,
    left: 0,
    type: "plain",
    width: width - 12, // it has a margin of 5 px
    itemWidth: 24,
    itemHeight: 12,
    itemGap: 10,
    textStyle: { color: t.ink, fontSize: 12 },
    inactiveColor: t.line,
    ...more,
  };
}

// A bar from low to high with ends, for renderItem.
function whisker(at, low, high, style) {
  const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
  return {
    type: "group",
    children: [
      line(at, low, at, high),
      line(at - 4, low, at + 4, low),
      line(at - 4, high, at + 4, high),
    ],
  };
}

const KEY_LINE = 22; // px

// Height of a key that shows all names, in as many lines as they need. A letter is counted as wider
// than most are, so that a line is rather added than missed.
function keyHeight(names, width) {
  let [lines, used] = [1, 0];
  for (const name of names) {
    const own = Math.min(width, 24 + 5 + 16 + 7 * name.length);
    if (used && used + own > width - 12) [lines, used] = [lines + 1, 0];
    used += own;
  }
  return lines * KEY_LINE;
}

// The room that a key of several names takes above the plot.
function keyRoom(names, width) {
  return names.length > 1 ? 12 + keyHeight(names, width) : 14;
}

// --------------------------------------------------------------------------- what makes us redraw

let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    for (const chart of charts)
      if (!printing && chart.box.clientWidth !== chart.drawnWidth) draw(chart);
  }, 120);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);

let closedBefore = [];
addEventListener("beforeprint", () => {
  printing = true;
  closedBefore = [...document.querySelectorAll("details:not([open])")];
  for (const details of closedBefore) details.open = true;
  redrawAll();
});
addEventListener("afterprint", () => {
  printing = false;
  for (const details of closedBefore) details.open = false;
  redrawAll();
});

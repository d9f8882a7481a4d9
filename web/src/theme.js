// Colours. The series' are those of Okabe and Ito, which people with any colour vision tell apart;
// line styles and markers tell the series apart once more, and so does print in grey.

const LIGHT = {
  dark: false,
  paper: "#ffffff",
  ink: "#1b1f24",
  soft: "#59636e",
  line: "#d9dbd6",
  faint: "#eeefeb",
  series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3d3d3d"],
  ramp: ["#eceae2", "#f3c88b", "#e58a3c", "#c04a12", "#7a1f05"],
  cool: ["#e9edef", "#a9cfe6", "#5aa5d1", "#0072b2", "#003a5c"],
  good: "#009e73",
  bad: "#d55e00",
};
const DARK = {
  dark: true,
  paper: "#1b1f23",
  ink: "#e8eaec",
  soft: "#a0a9b3",
  line: "#3a4148",
  faint: "#2a3036",
  series: ["#56b4e9", "#f08a3c", "#2ec79c", "#e3a0c6", "#f0c04a", "#7f9cf5", "#d5d8db"],
  ramp: ["#343b42", "#7a4a24", "#bf6a26", "#f0953f", "#ffd79a"],
  cool: ["#2f363d", "#1f4f6e", "#2f7fb0", "#56b4e9", "#c4e6fa"],
  good: "#2ec79c",
  bad: "#f08a3c",
};
const DASHES = ["solid", [7, 4], [2, 3]];
const MARKERS = ["circle", "diamond", "triangle", "rect", "pin", "arrow", "roundRect"];

let printing = false;

function theme() {
  if (printing) return LIGHT;
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? DARK : LIGHT;
}

// How the i-th of several things is drawn: colours first, then the same colours with other lines.
function styleOf(i) {
  const { series } = theme();
  const round = Math.floor(i / series.length);
  return {
    color: series[i % series.length],
    dash: DASHES[(i + round) % DASHES.length],
    marker: MARKERS[i % MARKERS.length],
  };
}

// Colour of a share from 0 to 1 on the warm ramp (pauses), or on the cool one (traffic).
function rampColour(share, name = "ramp") {
  const ramp = theme()[name];
  const at = Math.max(0, Math.min(1, share)) * (ramp.length - 1);
  const i = Math.min(ramp.length - 2, Math.floor(at));
  const [from, to] = [ramp[i], ramp[i + 1]].map((c) =>
    [1, 3, 5].map((k) => parseInt(c.slice(k, k + 2), 16)),
  );
  return `rgb(${from.map((v, k) => Math.round(v + (to[k] - v) * (at - i))).join(",")})`;
}

function rampKey(from, to, name = "ramp") {
  return h("span.ramp", from, h("i", { style: `--colours:var(--${name})` }), to);
}

// Gives the chart's colours to what is drawn outside of the charts.
function applyTheme() {
  const { series, ramp, cool } = theme();
  const { style } = document.documentElement;
  series.forEach((colour, i) => style.setProperty(`--series-${i}`, colour));
  style.setProperty("--ramp", ramp.join());
  style.setProperty("--cool", cool.join());
}

// A stroke as the chart draws it, for keys outside of the canvas.
function swatch(i) {
  const { dash } = styleOf(i);
  const colour = `var(--series-${i % LIGHT.series.length})`;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [k, v] of [
    ["width", 22],
    ["height", 8],
    ["aria-hidden", "true"],
  ])
    svg.setAttribute(k, v);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const stroke = {
    x1: 0,
    x2: 22,
    y1: 4,
    y2: 4,
    style: `stroke:${colour};stroke-width:2.5`,
    "stroke-dasharray": dash === "solid" ? "none" : dash.join(" "),
  };
  for (const [k, v] of Object.entries(stroke)) line.setAttribute(k, v);
  svg.append(line);
  return svg;
}

function themeButton() {
  const button = h("button.quiet", { type: "button" });
  const name = () => {
    button.textContent = theme().dark ? "Light" : "Dark";
  };
  name();
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = theme().dark ? "light" : "dark";
    name();
    redrawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  return button;
}

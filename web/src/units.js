// Figures for people: four significant digits and the unit's prefix that keeps the number short.
// Prefixes are decimal, as in the command's own output. What a chart's CSV holds is never rounded.

const NONE = "\u2013"; // what stands where there is no figure

function significant(x, digits = 4) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e15 || size < 1e-6) return x.toExponential(digits - 1);
  const places = Math.max(0, Math.min(12, digits - 1 - Math.floor(Math.log10(size))));
  const text = x.toFixed(places);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// The number over the largest step that does not exceed it.
function scaled(x, steps, digits) {
  const size = Math.abs(x);
  const step = steps.find(([unit]) => size >= unit * 0.99995) || steps[steps.length - 1];
  return `${significant(x / step[0], digits)} ${step[1]}`;
}

const TIMES = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "us"],
  [1e-9, "ns"],
];
const BYTES = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "KB"],
  [1, "B"],
];
const RATES = [
  [1e12, "Tb/s"],
  [1e9, "Gb/s"],
  [1e6, "Mb/s"],
  [1e3, "kb/s"],
  [1, "b/s"],
];

function isFigure(x) {
  return typeof x === "number" && Number.isFinite(x);
}

function showTime(s, digits) {
  return isFigure(s) ? (s === 0 ? "0" : scaled(s, TIMES, digits)) : NONE;
}

function showBytes(b, digits) {
  return isFigure(b) ? (b === 0 ? "0" : scaled(b, BYTES, digits)) : NONE;
}

function showRate(bps, digits) {
  return isFigure(bps) ? (bps === 0 ? "0" : scaled(bps, RATES, digits)) : NONE;
}

function showShare(f, digits = 3) {
  return isFigure(f) ? `${significant(f * 100, digits)} %` : NONE;
}

// Whole numbers in full with thin spaces between thousands, others to four digits.
function showNumber(x, digits) {
  if (!isFigure(x)) return NONE;
  if (!Number.isInteger(x) || Math.abs(x) >= 1e15) return significant(x, digits);
  return String(x).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

// A figure in the unit that the results name.
function show(x, unit, digits) {
  if (!isFigure(x)) return typeof x === "string" && x ? x : NONE;
  switch (unit) {
    case "s":
      return showTime(x, digits);
    case "B":
    case "bytes":
      return showBytes(x, digits);
    case "bps":
    case "b/s":
      return showRate(x, digits);
    case "fraction":
    case "share":
      return showShare(x, digits);
    case "%":
      return `${significant(x, digits)} %`;
    case "":
    case "ratio":
    case null:
    case undefined:
      return showNumber(x, digits);
    default:
      return `${showNumber(x, digits)} ${unit}`;
  }
}

// Tells that some of many were not put into the page.
function leftOut(n, one, many) {
  return n > 0 ? ` ${plural(n, one, many)} left out.` : "";
}

function plural(n, one, many = `${one}s`) {
  return `${showNumber(n)} ${n === 1 ? one : many}`;
}

// Values over time that change in steps: pauses, loads and queues as the results pack them. A row has
// `times` and `levels`; a level holds from its time to the next one. Looking one up is a binary
// search, so a row may have any number of steps.

// Stops as [gap since the last one, duration, ...] in ticks.
function stepsOfSpans(spans, from, tick) {
  const times = new Float64Array(spans.length + 1);
  const levels = new Float64Array(spans.length + 1);
  let ticks = 0;
  times[0] = from;
  spans.forEach((more, i) => {
    ticks += more;
    times[i + 1] = from + ticks * tick;
    levels[i + 1] = i % 2 ? 0 : 1;
  });
  return { times, levels };
}

// Equal intervals as letters, A for 0 to z for 1, each followed by how often it repeats.
function stepsOfBins(text, from, width) {
  const found = [...text.matchAll(/([A-Za-z])(\d*)/g)];
  const times = new Float64Array(found.length);
  const levels = new Float64Array(found.length);
  let bin = 0;
  found.forEach(([, letter, count], i) => {
    const code = letter.charCodeAt(0);
    times[i] = from + bin * width;
    levels[i] = (code >= 97 ? code - 97 + 26 : code - 65) / 51;
    bin += count ? Number(count) : 1;
  });
  return { times, levels };
}

// Points [t, least, largest, mean] of a series; `before`: a value is that of the time up to its point.
function stepsOfPoints(points, most, before) {
  const width = points.length > 1 ? points[1][0] - points[0][0] : 0;
  const start = (p, i) => (before ? (i ? points[i - 1][0] : p[0] - width) : p[0]);
  return {
    times: Float64Array.from(points, start),
    levels: Float64Array.from(points, (p) => (most > 0 ? p[3] / most : 0)),
    end: points[points.length - 1][0],
  };
}

// How many of the ascending times are not after t.
function countUntil(times, t, timeOf = (time) => time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(times[middle]) <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

function levelAt(row, t) {
  const n = countUntil(row.times, t);
  return n ? row.levels[n - 1] : 0;
}

// The mean level in each of n equal parts of the time from `from` to `to`.
function meansOf(row, from, to, n) {
  const means = new Float64Array(n);
  const width = (to - from) / n;
  const { times, levels } = row;
  for (let i = Math.max(0, countUntil(times, from) - 1); i < times.length && times[i] < to; i++) {
    if (levels[i] === 0) continue;
    const begin = Math.max(from, times[i]);
    const end = Math.min(to, i + 1 < times.length ? times[i + 1] : (row.end ?? to));
    for (let k = Math.floor((begin - from) / width); k < n; k++) {
      const [low, high] = [from + k * width, from + (k + 1) * width];
      const part = Math.min(high, end) - Math.max(low, begin);
      if (part <= 0) break;
      means[k] += (levels[i] * part) / width;
    }
  }
  return means;
}

// The next instant after t (or, `backwards`, the last before it) at which a row changes; null: none.
function nextChange(rows, t, backwards) {
  let best = null;
  for (const { times } of rows) {
    const i = countUntil(times, t);
    const at = backwards ? times[i - 1 - (times[i - 1] >= t ? 1 : 0)] : times[i];
    if (at !== undefined && (best === null || (backwards ? at > best : at < best))) best = at;
  }
  return best;
}

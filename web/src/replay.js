// The clock of the replay: the instant at which the network is drawn, play and pause, and the line that marks
// it in the charts. It runs within the part of the time axis that is shown, so zooming in slows it down.

const PLAY_S = 20; // seconds that the shown time takes at speed 1
const SPEEDS = [0.25, 0.5, 1, 2, 4];
const REDUCED_STEP_S = 0.5; // between pictures, for people who asked for less motion

// `t` null: the whole run. `rows`: steps whose changes one can go to. `cycle`: of a deadlock.
const clock = { t: null, speed: 1, frame: 0, show: null, listeners: new Set(), rows: [], cycle: [] };

// Begins with a run: `show(t)` draws its network.
function startClock(run, net, stops, show) {
  stopPlaying();
  clock.listeners.clear();
  const steps = net.lines.flatMap((l) => [l.queue, l.load]).filter(Boolean);
  const rows = stops.length ? stops : steps.slice(0, 1);
  Object.assign(clock, { t: null, show, rows, cycle: net.cycle });
  zoom.listeners.add(showCursors);
}

// Goes to an instant, or with null to the whole run.
function replayAt(t) {
  if (!clock.show) return;
  clock.t = t === null ? null : Math.max(span.from, Math.min(span.to, t));
  clock.show(clock.t);
  showCursors();
  for (const f of clock.listeners) f();
}

// A thin element over each chart of the time axis: moving it costs no drawing. All is measured before
// anything is moved, so that the page is laid out once.
function showCursors() {
  const { from, to } = shownTime();
  const places = [];
  for (const { f, box } of charts) {
    if (f.group !== TIME_GROUP) continue;
    const isSeen = clock.t !== null && clock.t >= from && clock.t <= to && !box.hidden;
    const plot = box.clientWidth - TIME_LEFT - TIME_RIGHT;
    const x = box.offsetLeft + TIME_LEFT + (plot * (clock.t - from)) / (to - from);
    places.push({ holder: box.parentElement, isSeen, x, top: box.offsetTop, height: box.clientHeight });
  }
  for (const { holder, isSeen, x, top, height } of places) {
    if (!holder.cursor) {
      holder.cursor = h("div.cursor", { "aria-hidden": "true" });
      holder.append(holder.cursor);
    }
    holder.cursor.hidden = !isSeen;
    holder.cursor.style.cssText =
      `transform:translateX(${x.toFixed(1)}px);top:${top + 12}px;` +
      `height:${Math.max(0, height - 36)}px`;
  }
}

// ------------------------------------------------------------------------------------------- play

function stopPlaying() {
  cancelAnimationFrame(clock.frame);
  clock.frame = 0;
  for (const f of clock.listeners) f();
}

function play() {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let last = performance.now();
  const step = (now) => {
    const { from, to } = shownTime();
    clock.frame = requestAnimationFrame(step);
    if (calm && now - last < REDUCED_STEP_S * 1000) return;
    const before = clock.t === null || clock.t < from ? from : clock.t;
    const next = before + ((to - from) * clock.speed * (now - last)) / 1000 / PLAY_S;
    last = now;
    if (next >= to) stopPlaying();
    replayAt(Math.min(to, next));
  };
  const { from, to } = shownTime();
  if (clock.t === null || clock.t >= to || clock.t < from) replayAt(from);
  clock.frame = requestAnimationFrame(step);
  for (const f of clock.listeners) f();
}

function togglePlay() {
  if (clock.frame) stopPlaying();
  else play();
}

function stepTo(backwards) {
  stopPlaying();
  const from = clock.t ?? span.from;
  const at = nextChange(clock.rows, from, backwards);
  if (at !== null && at !== undefined) replayAt(at);
}

// Shows how a deadlock came about, and stands where its last gate closed.
function toDeadlock() {
  stopPlaying();
  const [first, last] = [clock.cycle[0].closed, clock.cycle[clock.cycle.length - 1].closed];
  const around = Math.max((last - first) / 2, (span.to - span.from) / 400);
  const percent = (t) => (100 * (t - span.from)) / (span.to - span.from);
  zoomTo(percent(first - around), percent(last + around));
  replayAt(last);
}

function onReplayKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const actions = {
    " ": togglePlay,
    ArrowLeft: () => stepTo(true),
    ArrowRight: () => stepTo(false),
    Escape: () => replayAt(null),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

// --------------------------------------------------------------------------------------- controls

const SLIDER_STEPS = 2000;

function replayBar() {
  const toggle = iconButton("", "", togglePlay);
  const whole = h(
    "button",
    {
      type: "button",
      onclick: () => {
        stopPlaying();
        replayAt(null);
      },
    },
    "Overview",
  );
  const slider = h("input", {
    type: "range",
    min: 0,
    max: SLIDER_STEPS,
    value: 0,
    "aria-label": "Time of the replay",
    oninput: () => {
      const { from, to } = shownTime();
      replayAt(from + ((to - from) * slider.value) / SLIDER_STEPS);
    },
  });
  const output = h("output.now");
  const tell = () => {
    const { from, to } = shownTime();
    const name = clock.frame ? "Pause the replay" : "Play";
    toggle.textContent = clock.frame ? "\u275a\u275a" : "\u25b6";
    toggle.setAttribute("aria-label", name);
    toggle.title = name;
    const at = clock.t ?? from;
    slider.value = Math.round(((at - from) / (to - from)) * SLIDER_STEPS);
    const words = clock.t === null ? "whole run" : showInstant(clock.t);
    slider.setAttribute("aria-valuetext", words);
    output.textContent = words;
    whole.setAttribute("aria-pressed", String(clock.t === null));
  };
  clock.listeners.add(tell);
  zoom.listeners.add(tell);
  tell();
  whole.title = "Draw the network over the whole run";
  return h(
    "div.controls.replay",
    { style: "margin:0 0 .5rem", role: "group", "aria-label": "Replay" },
    toggle,
    iconButton("\u2758\u25c0", "To the change before", () => stepTo(true)),
    iconButton("\u25b6\u2758", "To the next change", () => stepTo(false)),
    slider,
    output,
    dropDown(
      "Speed",
      SPEEDS.map((s) => [String(s), `${s}\u00d7`]),
      "1",
      (v) => {
        clock.speed = Number(v);
      },
    ),
    whole,
    clock.cycle.length > 0 &&
      h(
        "button",
        { type: "button", title: "How the deadlock came about", onclick: toDeadlock },
        "Deadlock",
      ),
  );
}

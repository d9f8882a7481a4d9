// Puts the page together from the JSON in it.

const DATA = readData();

function readData() {
  try {
    return JSON.parse(document.getElementById("data").textContent);
  } catch (error) {
    return { page: "broken", title: "Report", error: String(error.message || error) };
  }
}

function masthead(kind) {
  const version = DATA.xoff_version ? ` ${DATA.xoff_version}` : "";
  document
    .getElementById("top")
    .append(
      h(
        "div.masthead",
        h(
          "div",
          h("p.kicker", h("b", "xoff"), `${version} \u00b7 ${kind}`),
          h("h1", DATA.title || kind),
        ),
        h(
          "div.tools",
          themeButton(),
          h("button.quiet", { type: "button", onclick: () => print() }, "Print"),
        ),
      ),
    );
}

// Links to the sections, in their order on the page.
function contents() {
  const links = [...document.querySelectorAll("main section[id]")].map((s) =>
    h("a", { href: `#${s.id}` }, s.querySelector("h2").textContent),
  );
  if (links.length > 2)
    document.getElementById("top").append(h("nav.contents", { "aria-label": "Contents" }, links));
}

// Sections that show one run; with several, the reader chooses which.
function detail(runs) {
  const holder = h("div");
  const fill = (i) => {
    forget(holder);
    const run = runs[i];
    holder.replaceChildren(
      ...[
        timelineSection(run),
        pausesSection(run),
        lossesSection(run),
        watermarksSection(run),
      ].filter(Boolean),
    );
    drawWaiting();
  };
  fill(0);
  if (runs.length < 2) return [holder];
  return [
    h(
      "div.card.choosing",
      h("span.small", "The sections from here to the metrics show one run:"),
      choice(
        "Run shown in detail",
        runs.map((r, i) => [i, runName(r, i)]),
        0,
        fill,
      ),
    ),
    holder,
  ];
}

function runPage(runs) {
  if (!runs.length) return [h("p.note", "The results hold no run.")];
  return [
    verdictSection(runs),
    comparisonSection(runs),
    seedsSection(runs),
    runsSection(runs),
    flowsSection(runs),
    ...detail(runs),
    metricsSection(runs),
    configSection(runs),
  ].filter(Boolean);
}

function start() {
  const main = document.getElementById("main");
  applyTheme();
  if (DATA.page === "broken") {
    masthead("report");
    main.append(h("p.note.bad", `The data in this page cannot be read: ${DATA.error}`));
  } else if (DATA.page === "reproduce") {
    masthead("claims of the papers");
    main.append(...reproducePage(DATA));
  } else if (DATA.page === "sweep") {
    masthead("sweep");
    main.append(...sweepPage(DATA));
  } else {
    masthead(list(DATA.runs).length > 1 ? `${DATA.runs.length} runs` : "report of a run");
    main.append(...runPage(list(DATA.runs)));
  }
  contents();
  document
    .getElementById("foot")
    .append(
      h(
        "p",
        `Written by xoff${DATA.xoff_version ? ` ${DATA.xoff_version}` : ""}. `,
        `Charts: Apache ECharts ${echarts.version}. This file needs no network.`,
      ),
    );
  drawWaiting();
}

start();

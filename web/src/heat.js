// Pauses per port and priority as a heat map on the time axis of the other series. The cells are
// drawn by hand, because the library's heat map has no continuous axis to link with.

function heatFigure(run, slider) {
  const heat = run.heat || {};
  const rows = list(heat.rows);
  const cells = list(heat.cells);
  if (!rows.length || !cells.length) return null;
  const from = (column) => (heat.t0_s || 0) + column * heat.dt_s;
  const step = rows.length > 40 ? 11 : rows.length > 16 ? 15 : 22;
  const element = figure({
    title: "Pauses by port and priority",
    run: run.name,
    group: TIME_GROUP,
    onCreate: followZoom,
    onKey: onTimeKey,
    height: (slider ? 58 : 36) + Math.max(3, rows.length) * step,
    option: (width) => heatOption(rows, cells, from, step, slider, width),
    says: () => saysHeat(rows, cells, from) + leftOut(heat.rows_left_out, "less paused row"),
    below: h("div.ramps", rampKey("paused for little", "all of the interval")),
    csv: () => [
      ["port", "from_s", "to_s", "paused_fraction"],
      ...cells.map(([column, row, share]) => [
        rows[row] && rows[row].name,
        from(column),
        from(column + 1),
        share,
      ]),
    ],
  });
  return element;
}

function saysHeat(rows, cells, from) {
  const worst = cells.reduce((a, c) => (c[2] > a[2] ? c : a));
  const touched = new Set(cells.filter((c) => c[2] > 0).map((c) => c[1])).size;
  const place = `${rows[worst[1]] ? rows[worst[1]].name : NONE}, from ${showInstant(from(worst[0]))}`;
  return (
    `${plural(touched, "port and priority was", "ports and priorities were")} paused. ` +
    `Densest: ${place}, paused for ${showShare(worst[2])} of the interval.`
  );
}

function heatOption(rows, cells, from, step, slider, width) {
  const t = theme();
  const names = rows.map(rowLabel);
  return {
    ...timeParts(slider, width),
    yAxis: axis({
      type: "category",
      inverse: true,
      data: names,
      splitLine: { show: false },
      axisLine: { show: false },
      axisLabel: {
        fontSize: Math.min(10, step - 2),
        interval: step < 13 ? "auto" : 0,
        width: TIME_LEFT - 8,
        overflow: "truncate",
      },
    }),
    tooltip: tooltip({
      trigger: "item",
      formatter: (at) => {
        const [column, row, share] = cells[at.dataIndex];
        return tip(rows[row].name, [
          [
            rampColour(heatShade(share)),
            `${showInstant(from(column))} to ${showInstant(from(column + 1))}`,
            `paused ${showShare(share)}`,
          ],
        ]);
      },
    }),
    series: [
      {
        type: "custom",
        clip: true,
        progressive: 0,
        encode: { x: [0, 1], y: 2 },
        data: cells.map(([column, row, share]) => [from(column), from(column + 1), row, share]),
        renderItem(params, api) {
          const [x, y] = api.coord([api.value(0), api.value(2)]);
          const [end] = api.coord([api.value(1), api.value(2)]);
          const height = Math.max(2, api.size([0, 1])[1] - 1.5);
          return {
            type: "rect",
            shape: { x, y: y - height / 2, width: Math.max(1, end - x), height },
            style: { fill: rampColour(heatShade(api.value(3))) },
            emphasis: { style: { stroke: t.ink, lineWidth: 1 } },
          };
        },
      },
    ],
  };
}

// Who paused whom, short enough for the axis.
function rowLabel(row) {
  if (!row.node || !row.peer) return row.name;
  return `${row.node}\u2192${row.peer}${isFigure(row.priority) ? ` p${row.priority}` : ""}`;
}

// A pause, however short, must show: shares start a step up the ramp.
function heatShade(share) {
  return share > 0 ? 0.18 + 0.82 * share : 0;
}

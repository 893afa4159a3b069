/* Draws the table of months as two curves (uPlot). Without JavaScript the table shows the same data. */
(() => {
  "use strict";
  const rows = [...document.querySelectorAll("[data-month]")];
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const months = rows.map((row) => Date.parse(`${row.dataset.month}-01T00:00:00Z`) / 1000);
  const HEIGHT = 240;
  const charts = [];

  const monthOf = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 7);
  const shown = { views: (value) => value.toLocaleString(), precision: (value) => `${Math.round(value * 1000) / 10} %` };

  function draw(figure) {
    const key = figure.dataset.curve;
    figure.hidden = false;
    const values = rows.map((row) => (row.dataset[key] === "" ? null : +row.dataset[key]));
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule"), width: 1 } };
    const made = new uPlot({
      width: figure.clientWidth,
      height: HEIGHT,
      legend: { show: true, live: true },
      cursor: { points: { size: 8 } },
      scales: { x: { time: false }, y: { range: (_, min, max) => [0, Math.max(max || 0, key === "precision" ? 0.1 : 1) * 1.1] } },
      axes: [
        { ...axis, splits: () => months, values: (_, splits) => thinOut(splits.map(monthOf), figure.clientWidth) },
        { ...axis, size: 64, values: (_, splits) => splits.map(shown[key]) },
      ],
      series: [
        { label: document.querySelector(".months th").textContent, value: (_, month) => (month == null ? "–" : monthOf(month)) },
        {
          label: figure.querySelector("figcaption").textContent,
          stroke: colour("--accent"),
          width: 2,
          points: { show: true, size: 6, fill: colour("--paper"), stroke: colour("--accent") },
          value: (_, value) => (value == null ? "–" : shown[key](value)),
        },
      ],
    }, [months, values], figure);
    charts.push([made, figure]);
  }

  /* Leave out labels that would overlap, but never the last one. */
  function thinOut(names, width) {
    const every = Math.max(1, Math.ceil((names.length * 64) / Math.max(width - 64, 64)));
    return names.map((name, place) => ((names.length - 1 - place) % every ? "" : name));
  }

  document.querySelectorAll("[data-curve]").forEach(draw);
  addEventListener("resize", () => charts.forEach(([made, figure]) => made.setSize({ width: figure.clientWidth, height: HEIGHT })));
  const redraw = () => {
    charts.splice(0).forEach(([made]) => made.destroy());
    requestAnimationFrame(() => document.querySelectorAll("[data-curve]").forEach(draw));
  };
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();

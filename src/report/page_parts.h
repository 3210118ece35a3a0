#pragma once

#include <string_view>

namespace sluice::report {

inline constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --text: #1c2330; --soft: #5b6475; --back: #fff; --line: #d8dce4; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8f0; --soft: #9aa4b5; --back: #14181f; --line: #333b48; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 70rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
code { color: var(--soft); overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
figcaption { font-weight: 600; }
.missing { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { position: sticky; top: 0; background: var(--back); }
td.number { text-align: right; }
.u-legend { font-size: .85rem; text-align: left; }
)css";

// Each chart's data stands as JSON in an element of its own, before its place.
inline constexpr std::string_view kScript = R"js(
(() => {
  const colours = ['#3b6fd4', '#d9722e', '#2f9e6e', '#b5488f', '#8a7a1f', '#4aa3c7', '#7a5bd0', '#c24b4b', '#6b7280', '#1f7a7a'];
  // One sorted list of x for all series, with a gap where a series has no value.
  function aligned(series) {
    const xs = [...new Set(series.flatMap((s) => s.x))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, i) => [x, i]));
    return [xs, ...series.map((s) => {
      const ys = new Array(xs.length).fill(null);
      s.x.forEach((x, i) => { ys[place.get(x)] = s.y[i]; });
      return ys;
    })];
  }
  function short(v) {
    if (v === null || v === undefined) return '-';
    return Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(1) : String(+v.toPrecision(4));
  }
  function draw(place, chart) {
    const ink = getComputedStyle(document.body).getPropertyValue('--text');
    const grid = getComputedStyle(document.body).getPropertyValue('--line');
    const axis = (label) => ({ label, stroke: ink, grid: { stroke: grid }, ticks: { stroke: grid },
      values: (_, splits) => splits.map((v) => (v === null ? '' : short(v))) });
    const scale = (log) => (log ? { distr: 3, time: false } : { time: false });
    const options = {
      width: place.clientWidth, height: 340, scales: { x: scale(chart.x_log), y: scale(chart.y_log) },
      axes: [axis(chart.x_name), axis(chart.y_name)],
      series: [{ label: chart.x_name, value: (_, v) => short(v) }, ...chart.series.map((s, i) => ({
        label: s.name, stroke: colours[i % colours.length], fill: undefined, width: 2, spanGaps: true,
        dash: i >= colours.length ? [6, 4] : undefined, value: (_, v) => short(v),
        paths: chart.points ? () => null : undefined,
        points: { show: true, size: chart.points ? 7 : 5, fill: colours[i % colours.length] } }))],
    };
    const plot = new uPlot(options, aligned(chart.series), place);
    addEventListener('resize', () => plot.setSize({ width: place.clientWidth, height: 340 }));
  }
  for (const data of document.querySelectorAll('script[type="application/json"]')) {
    const place = data.nextElementSibling;
    if (typeof uPlot === 'undefined') place.textContent = 'Sluice was built without its chart library; the numbers are in the table.';
    else draw(place, JSON.parse(data.textContent));
  }
})();
)js";

}  // namespace sluice::report

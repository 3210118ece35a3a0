// Lines over the last hour. The canvas is a picture to a screen reader, with its newest values in words; the legend is text.
import uPlot from 'uplot';
import { el, keyed, setAttribute, setText } from './dom.js';
import { colour } from './theme.js';

const kHeight = 180;
const kSpanMin = 5 * 60; // seconds shown at least
const kEdge = 3; // pixels

export class Chart {
  // name: for people; format: of a value; bars: as columns instead of lines; shade: the colour of what show() is told to shade.
  constructor(root, { name, format, bars = false, shade = '', sync = 'history' }) {
    Object.assign(this, { root, name, format, bars, shade, sync });
    this.canvas = el('div', { class: 'chart', role: 'img' });
    this.legend = el('ul', { class: 'legend' });
    root.append(this.canvas, this.legend);
    this.series = [];
    this.spans = [];
    new ResizeObserver(() => this.plot?.setSize({ width: this.canvas.clientWidth, height: kHeight })).observe(this.canvas);
  }

  // series: [{ label, colour, values }], all as long as `times` (seconds); spans: [{ from, to }] of time (seconds) to shade.
  show(times, series, spans = []) {
    this.data = [times, ...series.map((one) => one.values)];
    this.spans = spans;
    const same = series.length === this.series.length && series.every((one, i) => one.label === this.series[i].label && one.colour === this.series[i].colour);
    this.series = series;
    if (!this.plot || !same) this.build();
    else this.plot.setData(this.data);
    this.words(null);
  }

  build() {
    this.plot?.destroy();
    const paths = this.bars ? uPlot.paths.bars({ size: [0.8, 24] }) : undefined;
    const axis = {
      stroke: () => colour('ink-soft'),
      grid: { stroke: () => colour('line'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui, sans-serif',
    };
    this.plot = new uPlot(
      {
        width: Math.max(this.canvas.clientWidth, 200),
        height: kHeight,
        legend: { show: false },
        padding: [10, 8, 0, 0],
        cursor: { sync: { key: this.sync }, drag: { x: false, y: false }, points: { size: 7 } },
        scales: {
          x: { time: true, range: (_, min, max) => [Math.min(min, max - kSpanMin), max] },
          y: { range: (_, min, max) => [0, max > 0 ? max * 1.15 : 1] },
        },
        axes: [
          { ...axis, size: 30, space: 70, values: [[60, '{HH}:{mm}', null, null, null, null, null, null, 1], [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1]] },
          { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => this.format(tick)) },
        ],
        series: [
          {},
          ...this.series.map((one) => ({
            label: one.label,
            stroke: () => colour(one.colour),
            fill: this.bars ? () => colour(one.colour) : undefined,
            width: 2,
            spanGaps: false,
            points: { show: false },
            paths,
          })),
        ],
        hooks: { setCursor: [(plot) => this.words(plot.cursor.idx ?? null)], drawClear: [(plot) => this.shadeSpans(plot)] },
      },
      this.data,
      this.canvas,
    );
  }

  // Behind the lines, with an edge on top: the shade alone would be too faint for some.
  shadeSpans({ ctx, bbox, valToPos }) {
    if (this.spans.length === 0) return;
    ctx.save();
    ctx.fillStyle = colour(this.shade);
    for (const { from, to } of this.spans) {
      const left = Math.max(valToPos(from, 'x', true), bbox.left);
      const width = Math.max(valToPos(to, 'x', true) - left, kEdge);
      ctx.globalAlpha = 0.15;
      ctx.fillRect(left, bbox.top, width, bbox.height);
      ctx.globalAlpha = 1;
      ctx.fillRect(left, bbox.top, width, kEdge * devicePixelRatio);
    }
    ctx.restore();
  }

  // At a place under the cursor, or the newest.
  words(index) {
    const at = index ?? this.data[0].length - 1;
    const values = this.series.map((one) => ({ ...one, text: at < 0 ? '–' : this.format(one.values[at] ?? null) }));
    keyed(
      this.legend,
      values,
      (one) => one.label,
      () => el('li', {}, el('i'), el('span'), el('b')),
      (node, one) => {
        setAttribute(node.children[0], 'class', `swatch ${one.colour}`);
        setText(node.children[1], one.label);
        setText(node.children[2], one.text);
      },
    );
    if (index === null)
      setAttribute(this.canvas, 'aria-label', `${this.name}, now: ${values.map((one) => `${one.label} ${one.text}`).join(', ') || 'nothing yet'}`);
  }

  redraw() {
    this.plot?.redraw(false);
  }
}

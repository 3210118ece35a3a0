// Which pool each replica was in: a band per replica, a colour per pool. One canvas: there may be thousands of stays.
import { el, keyed, setAttribute } from '../shared/dom.js';
import { clock } from '../shared/format.js';
import { colour } from '../shared/theme.js';

const kBand = 16;
const kGap = 5;
const kAxis = 20;
const kSpanMin = 5 * 60 * 1000;

export class Timeline {
  constructor(root) {
    this.canvas = el('canvas', { role: 'img' });
    this.legend = el('ul', { class: 'legend' });
    root.append(this.canvas, this.legend);
    new ResizeObserver(() => this.draw()).observe(root);
    this.root = root;
  }

  // replicas: [{ name, stays: [{ since_ms, pool, borrowed, live }] }]; from, to in milliseconds.
  show(replicas, pools, from, to, colours) {
    Object.assign(this, { replicas, from: Math.min(from, to - kSpanMin), to, colours });
    keyed(
      this.legend,
      [...pools.map((name) => ({ name, css: `swatch ${colours(name)}` })), { name: 'borrowed', css: 'swatch striped' }, { name: 'down or draining', css: 'swatch hollow' }],
      (one) => one.name,
      (one) => el('li', {}, el('i'), el('span', {}, one.name)),
      (node, one) => setAttribute(node.firstElementChild, 'class', one.css),
    );
    const now = replicas.map((one) => `${one.name} in ${one.stays.at(-1)?.pool || 'none'}`);
    setAttribute(this.canvas, 'aria-label', `Pools over the last hour, now: ${now.join(', ')}`);
    this.draw();
  }

  draw() {
    if (!this.replicas) return;
    const width = this.root.clientWidth;
    const height = this.replicas.length * (kBand + kGap) + kAxis;
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d');
    context.scale(scale, scale);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const label = Math.min(width / 3, 12 + Math.max(30, ...this.replicas.map((one) => context.measureText(one.name).width)));
    const at = (ms) => label + ((Math.max(ms, this.from) - this.from) / (this.to - this.from)) * (width - label);
    this.replicas.forEach((one, row) => {
      const top = row * (kBand + kGap);
      context.fillStyle = colour('ink-soft');
      context.fillText(one.name, 0, top + kBand / 2, label - 8);
      one.stays.forEach((stay, i) => {
        if (stay.pool === '') return;
        const left = at(stay.since_ms);
        const right = at(one.stays[i + 1]?.since_ms ?? this.to);
        this.band(context, stay, left, top, Math.max(right - left, 1));
      });
    });
    this.axis(context, at, height, width, label);
  }

  band(context, stay, left, top, width) {
    const paint = colour(this.colours(stay.pool));
    context.globalAlpha = stay.live ? 1 : 0.25;
    context.fillStyle = paint;
    context.fillRect(left, top, width, kBand);
    context.globalAlpha = 1;
    if (!stay.borrowed) return;
    context.save();
    context.beginPath();
    context.rect(left, top, width, kBand);
    context.clip();
    context.strokeStyle = colour('panel');
    context.lineWidth = 2;
    context.beginPath();
    for (let x = left - (left % 8) - kBand; x < left + width; x += 8) {
      context.moveTo(x, top + kBand);
      context.lineTo(x + kBand, top);
    }
    context.stroke();
    context.restore();
  }

  axis(context, at, height, width, label) {
    const span = this.to - this.from;
    const step = [60e3, 120e3, 300e3, 600e3, 900e3].find((one) => (width - label) / (span / one) >= 70) ?? 1800e3;
    context.fillStyle = colour('ink-soft');
    context.textAlign = 'center';
    for (let ms = Math.ceil(this.from / step) * step; ms <= this.to; ms += step) {
      const x = at(ms);
      if (x > label + 20 && x < width - 20) context.fillText(clock(ms).slice(0, 5), x, height - kAxis / 2);
    }
    context.textAlign = 'start';
  }
}

// Compute hosts by servers, a cell's shade by its round trip, on a logarithmic scale between the least and the most.
import { el, keyed, setAttribute, setText } from '../shared/dom.js';
import { micros } from '../shared/format.js';

const kShades = 8;

export class HeatMap {
  constructor(table, none) {
    this.table = table;
    this.none = none;
  }

  show({ hosts, servers, rtt_us: rtt, source }) {
    this.none.hidden = hosts.length > 0;
    this.table.parentElement.hidden = hosts.length === 0;
    if (hosts.length === 0) return;
    const key = JSON.stringify(servers);
    if (key !== this.key) {
      this.key = key;
      this.body = el('tbody');
      const head = el('tr', {}, el('th', { scope: 'col' }, 'host'), ...servers.map((name) => el('th', { scope: 'col' }, name)));
      this.table.replaceChildren(el('caption', { class: 'unseen' }, 'Round trip of one SELECT 1'), el('thead', {}, head), this.body);
    }
    const known = rtt.flat().filter((us) => us > 0);
    const least = Math.log(Math.min(...known));
    const span = Math.log(Math.max(...known)) - least;
    const shade = (us) => (us === null ? 'unknown' : `shade${span > 0 ? Math.round(((Math.log(Math.max(us, 1)) - least) / span) * (kShades - 1)) : 0}`);
    keyed(
      this.body,
      hosts.map((name, i) => ({ name, times: rtt[i], sources: source[i] })),
      (row) => row.name,
      (row) => el('tr', {}, el('th', { scope: 'row' }, row.name), ...servers.map(() => el('td'))),
      (node, row) =>
        row.times.forEach((us, i) => {
          const cell = node.children[i + 1];
          setText(cell, micros(us));
          setAttribute(cell, 'class', shade(us));
          setAttribute(cell, 'title', row.sources[i] || 'not known');
        }),
    );
  }
}

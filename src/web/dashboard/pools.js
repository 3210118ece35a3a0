// The board: a group per pool, a tile per replica. A tile that changes groups travels there.
import { el, keyed, setAttribute, setClass, setText } from '../shared/dom.js';
import { millis } from '../shared/format.js';

const kMoveTime = 900; // milliseconds
const kMarkTime = 6000;

export class PoolBoard {
  constructor(root, announcer) {
    this.root = root;
    this.announcer = announcer;
    this.tiles = new Map(); // by replica: { node, pool }
    this.still = matchMedia('(prefers-reduced-motion: reduce)');
  }

  show(overview, colours) {
    const replicas = overview.replicas.filter((one) => one.role === 'replica');
    const primaries = overview.replicas.filter((one) => one.role === 'primary');
    const classes = overview.classes;
    const groups = classes.map((c) => ({
      key: `class ${c.name}`,
      name: c.name,
      note: `target ${c.target}, floor ${c.floor}, full at ${c.saturation} a replica`,
      replicas: replicas.filter((one) => one.pool === c.name),
    }));
    groups.push({ key: 'mixed', name: 'mixed', note: 'whoever needs one borrows it', replicas: replicas.filter((one) => one.pool === 'mixed') });
    if (primaries.length > 0) groups.push({ key: 'primary', name: 'primary', note: 'in no pool', replicas: primaries, primary: true });

    // Measuring lays the page out: only when a tile has another place than before.
    const places = JSON.stringify(groups.map((g) => [g.key, g.replicas.map((one) => one.name)]));
    const before = new Map();
    if (places !== this.places)
      for (const [name, tile] of this.tiles) before.set(name, { pool: tile.pool, box: tile.node.getBoundingClientRect() });
    this.places = places;
    keyed(this.root, groups, (g) => g.key, (g) => this.group(g), (node, g) => this.fill(node, g, overview, colours));
    const present = new Set(overview.replicas.map((one) => one.name));
    for (const name of [...this.tiles.keys()]) if (!present.has(name)) this.tiles.delete(name);
    if (before.size > 0) this.travel(before);
  }

  group(g) {
    const title = el('h3', {}, el('span', { class: 'name' }), el('span', { class: 'number' }));
    const node = el('section', { 'aria-label': `Pool ${g.name}` }, title, el('p', { class: 'note' }), el('ul', { class: 'tiles' }));
    node.dataset.pool = g.name;
    return node;
  }

  fill(node, g, overview, colours) {
    const live = g.replicas.filter((one) => one.up && !one.draining).length;
    setAttribute(node, 'class', `pool ${g.primary ? 'primary' : colours(g.name)}`);
    setText(node.querySelector('.name'), g.name);
    setText(node.querySelector('.number'), g.primary ? '' : `${live} live${live === g.replicas.length ? '' : ` of ${g.replicas.length}`}`);
    setText(node.querySelector('.note'), g.note);
    const list = node.querySelector('.tiles');
    for (const one of g.replicas) {
      // A tile is one node wherever it is, so that it can be seen to move.
      const tile = this.tiles.get(one.name) ?? { node: this.tile(one.name) };
      this.tiles.set(one.name, tile);
      tile.pool = g.name;
      this.paint(tile.node, one, overview, colours);
    }
    const nodes = g.replicas.map((one) => this.tiles.get(one.name).node);
    nodes.forEach((tile, i) => {
      if (list.children[i] !== tile) list.insertBefore(tile, list.children[i] ?? null);
    });
    while (list.children.length > nodes.length) list.lastElementChild.remove();
  }

  tile(name) {
    const node = el(
      'li',
      { class: 'tile' },
      el('p', { class: 'top' }, el('b', { class: 'name' }, name), el('span', { class: 'badge' })),
      el('p', { class: 'load' }, el('b', { class: 'sessions' }), ' sessions'),
      el('div', { class: 'stack', 'aria-hidden': 'true' }),
      el('p', { class: 'note by-class' }),
    );
    node.dataset.replica = name;
    return node;
  }

  paint(node, one, overview, colours) {
    const badge = node.querySelector('.badge');
    const state = !one.up ? 'down' : one.draining ? 'draining' : one.borrowed ? 'borrowed' : '';
    setText(badge, state);
    setAttribute(badge, 'class', `badge ${state}`);
    setClass(node, 'away', !one.up || one.draining);
    setClass(node, 'borrowed', one.borrowed);
    setText(node.querySelector('.sessions'), one.sessions);
    const loads = overview.classes.map((c) => ({ name: c.name, count: one.loads[c.name] ?? 0, full: c.saturation }));
    const room = Math.max(one.sessions, ...loads.map((load) => load.full), 1);
    keyed(
      node.querySelector('.stack'),
      loads,
      (load) => load.name,
      () => el('i'),
      (part, load) => {
        setAttribute(part, 'class', colours(load.name));
        const width = `${(100 * load.count) / room}%`;
        if (part.style.width !== width) part.style.width = width;
      },
    );
    const held = loads.filter((load) => load.count > 0).map((load) => `${load.name} ${load.count}`);
    const lag = one.lag_ms !== null && one.lag_ms > 0 ? `lag ${millis(one.lag_ms)}` : '';
    setText(node.querySelector('.by-class'), [...held, lag].filter(Boolean).join(' · ') || 'idle');
  }

  // First the tiles were where they were, now they are where they are: each runs the way between.
  travel(before) {
    const told = [];
    for (const [name, tile] of this.tiles) {
      const was = before.get(name);
      if (!was) continue;
      const now = tile.node.getBoundingClientRect();
      const dx = was.box.left - now.left;
      const dy = was.box.top - now.top;
      const changed = was.pool !== tile.pool;
      if (changed) {
        told.push(`${name} went from ${was.pool} to ${tile.pool}`);
        setClass(tile.node, 'moved', true);
        clearTimeout(tile.mark);
        tile.mark = setTimeout(() => setClass(tile.node, 'moved', false), kMarkTime);
      }
      if ((dx === 0 && dy === 0) || this.still.matches || was.box.width === 0) continue;
      tile.node.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: 'none' }], {
        duration: changed ? kMoveTime : kMoveTime / 3,
        easing: 'cubic-bezier(.3, .8, .3, 1)',
      });
    }
    if (told.length > 0) setText(this.announcer, told.join('; '));
  }
}

// The tables: replicas, routes, decisions, changes of pools.
import { Table, el, keyed, setAttribute, setText } from '../shared/dom.js';
import { bytes, clock, count, duration, kUnknown, micros, millis, parseTime, words } from '../shared/format.js';

const state = (one) => (!one.up ? 'down' : one.draining ? 'draining' : 'up');

function badge(text, css) {
  return (cell, item) => {
    if (!cell.firstElementChild) cell.append(el('span', { class: 'badge' }));
    setText(cell.firstElementChild, text(item));
    setAttribute(cell.firstElementChild, 'class', `badge ${css(item)}`);
  };
}

export class ReplicaTable {
  constructor(table, commands) {
    this.table = new Table(table, []);
    this.commands = commands;
  }

  show(overview, colours) {
    const key = JSON.stringify([overview.classes.map((c) => c.name), this.commands.unlocked]);
    if (key !== this.key) this.table.setColumns(this.columns(overview, colours));
    this.key = key;
    this.table.show(overview.replicas, (one) => `${one.role} ${one.name}`);
  }

  columns(overview, colours) {
    const columns = [
      { title: 'replica', cell: (one) => one.name, class: 'name' },
      { title: 'pool', show: badge((one) => (one.role === 'primary' ? 'primary' : one.pool), (one) => (one.role === 'primary' ? 'other' : `pool-name ${colours(one.pool)}`)) },
      { title: 'state', show: badge(state, state) },
      ...overview.classes.map((c) => ({ title: c.name, help: `sessions of class ${c.name}`, class: 'number', cell: (one) => count(one.loads[c.name] ?? 0) })),
      { title: 'all', help: 'sessions', class: 'number', cell: (one) => count(one.sessions) },
      { title: 'lag', class: 'number', cell: (one) => (one.lag_ms === null ? kUnknown : millis(one.lag_ms)) },
      { title: 'lag in WAL', class: 'number', cell: (one) => bytes(one.lag_bytes) },
      { title: 'SELECT 1', help: 'median round trip of a health check', class: 'number', cell: (one) => micros(one.probe_median_us) },
      { title: 'address', class: 'address', cell: (one) => `${one.host}:${one.port}` },
      { title: 'problem', class: 'problem', cell: (one) => one.last_error || (one.probe_failures > 0 ? `${one.probe_failures} checks failed` : '') },
    ];
    if (this.commands.unlocked) columns.push({ title: 'commands', show: (cell, one) => this.button(cell, one) });
    return columns;
  }

  button(cell, one) {
    if (one.role !== 'replica') return;
    if (!cell.firstElementChild) {
      const button = el('button', { type: 'button' });
      button.addEventListener('click', () => (button.one.draining ? this.commands.undrain(button.one.name) : this.commands.drain(button.one.name, button.one.sessions)));
      cell.append(button);
    }
    const button = cell.firstElementChild;
    button.one = one;
    setText(button, one.draining ? 'Undrain' : 'Drain');
    setAttribute(button, 'aria-label', `${one.draining ? 'Undrain' : 'Drain'} ${one.name}`);
  }
}

export function routeTable(table) {
  return new Table(table, [
    { title: 'route', cell: (r) => r.name, class: 'name' },
    { title: 'class', cell: (r) => r.class },
    { title: 'N_serial', help: 'calls of a request that follow one another: mean', class: 'number', cell: (r) => r.n_serial_mean ?? kUnknown },
    { title: 'median', help: 'of N_serial', class: 'number', cell: (r) => r.n_serial_median ?? kUnknown },
    { title: '90 %', help: 'of N_serial', class: 'number', cell: (r) => r.n_serial_p90 ?? kUnknown },
    { title: 'usable', help: 'whether N_serial is to be relied on', cell: (r) => (r.usable ? 'yes' : 'no') },
    { title: 'compute host', help: 'where most of its calls come from', cell: (r) => r.host || kUnknown },
    { title: 'calls', class: 'number', cell: (r) => count(r.calls) },
    { title: 'errors', class: 'number', cell: (r) => count(r.errors) },
    { title: 'a call: median', class: 'number', cell: (r) => micros(r.median_us) },
    { title: '95 %', class: 'number', cell: (r) => micros(r.p95_us) },
    { title: 'last seen', class: 'number', cell: (r) => `${duration(r.seen_ms_ago)} ago` },
  ]);
}

export function decisionTable(table, colours) {
  return new Table(table, [
    { title: 'time', cell: (d) => clock(parseTime(d.time)), class: 'time' },
    { title: 'class', show: badge((d) => d.class, (d) => `pool-name ${colours()(d.class)}`) },
    { title: 'user', cell: (d) => d.user, class: 'from-client' },
    { title: 'replica', cell: (d) => d.replica ?? 'none' },
    { title: 'how', show: badge((d) => words(d.outcome), (d) => `outcome ${d.outcome}`) },
    { title: 'why', cell: (d) => d.reason, class: 'why' },
    { title: 'database', cell: (d) => d.database, class: 'from-client' },
    { title: 'host', cell: (d) => d.host || kUnknown },
  ]);
}

export function changeTable(table, colours) {
  return new Table(table, [
    { title: 'time', cell: (c) => clock(parseTime(c.time)), class: 'time' },
    { title: 'replica', cell: (c) => c.replica },
    { title: 'what', cell: (c) => (c.kind === 'borrow' ? 'borrowed' : 'returned') },
    { title: 'from', show: badge((c) => c.from, (c) => `pool-name ${colours()(c.from)}`) },
    { title: 'to', show: badge((c) => c.to, (c) => `pool-name ${colours()(c.to)}`) },
  ]);
}

export function showWarnings(section, list, warnings) {
  section.hidden = warnings.length === 0;
  keyed(
    list,
    warnings.map((one, i) => ({ ...one, id: `${i} ${one.key} ${one.message}` })),
    (one) => one.id,
    (one) => {
      const place = one.line > 0 ? ` (line ${one.line})` : '';
      return el('li', {}, el('b', {}, one.key || 'configuration'), `${place}: ${one.message}`, one.hint ? el('span', { class: 'note' }, ` ${one.hint}`) : '');
    },
    () => {},
  );
}

export function showRejections(title, list, rejections) {
  const reasons = Object.entries(rejections);
  title.hidden = reasons.length === 0;
  keyed(
    list,
    reasons,
    ([reason]) => reason,
    ([reason]) => el('li', {}, el('span', {}, words(reason)), el('b')),
    (node, [, n]) => setText(node.lastElementChild, count(n)),
  );
}

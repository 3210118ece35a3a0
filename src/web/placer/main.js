// The placer's page: hosts, scores by term, where requests went, and what is missing to place them as wanted.
import { Chart } from '../shared/chart.js';
import { Table, el, keyed, setAttribute, setClass, setText } from '../shared/dom.js';
import { clock, count, duration, kUnknown, millis, words } from '../shared/format.js';
import { fetchJson } from '../shared/live.js';
import { initTheme } from '../shared/theme.js';

const kInterval = 2000; // milliseconds
const kColours = 8;
// Terms that are measured; the others only shift them.
const kTerms = ['path', 'connect', 'database', 'dependencies', 'residual', 'correction', 'waiting'];
const byId = (id) => document.getElementById(id);

const chart = new Chart(byId('requests-chart'), { name: 'Requests', format: count, shade: 'warn' });

function badge(text, css) {
  return (cell, item) => {
    if (!cell.firstElementChild) cell.append(el('span', { class: 'badge' }));
    setText(cell.firstElementChild, text(item));
    setAttribute(cell.firstElementChild, 'class', `badge ${css(item)}`);
  };
}

const hosts = new Table(byId('hosts'), [
  { title: 'host', cell: (h) => h.name, class: 'name' },
  { title: 'state', show: badge((h) => (h.up ? 'up' : 'down'), (h) => (h.up ? 'up' : 'down')) },
  { title: 'in flight', class: 'number', cell: (h) => count(h.in_flight) },
  { title: 'way there', help: 'a request for the health page, median', class: 'number', cell: (h) => millis(h.path_ms) },
  { title: 'connect', class: 'number', cell: (h) => millis(h.connect_ms) },
  { title: 'measured', class: 'number', cell: (h) => (h.measured_seconds_ago === null ? kUnknown : `${duration(h.measured_seconds_ago * 1000)} ago`) },
  { title: 'failures in a row', class: 'number', cell: (h) => count(h.failures_in_row) },
  { title: 'address', class: 'address', cell: (h) => `${h.address}:${h.port}` },
  { title: 'problem', class: 'problem', cell: (h) => h.problem },
]);

keyed(byId('terms'), kTerms, (t) => t, (t) => el('li', {}, el('i', { class: `swatch c${kTerms.indexOf(t)}` }), el('span', {}, t)), () => {});

// Routes may differ by their method alone.
const nameOf = (route) => (route.route === null ? 'requests of no route' : `${route.method ? `${route.method} ` : ''}${route.route}`);

function routeCard(route) {
  const table = el('table', { class: 'scores' });
  const node = el('section', { class: 'panel route', 'aria-label': `Route ${nameOf(route)}` }, el('h3', {}, el('span', { class: 'name' }), el('span', { class: 'badge' })), el('p', { class: 'note why' }), el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Scores of ${nameOf(route)}` }, table));
  node.table = new Table(table, [
    { title: 'host', cell: (h) => h.name },
    { title: 'score', class: 'number', cell: (h) => millis(h.score_ms.total) },
    { title: 'by term', class: 'bars', show: (cell, h) => bars(cell, h) },
    { title: 'share', class: 'number', cell: (h) => (h.share === undefined ? kUnknown : `${Math.round(h.share * 100)} %`) },
  ]);
  return node;
}

// Negative terms (a correction) shorten nothing on screen: the number says what they come to.
function bars(cell, h) {
  if (!cell.firstElementChild) cell.append(el('div', { class: 'stack' }));
  keyed(
    cell.firstElementChild,
    kTerms.filter((term) => h.score_ms[term] > 0),
    (term) => term,
    (term) => el('i', { class: `c${kTerms.indexOf(term)}` }),
    (part, term) => {
      part.style.width = `${(100 * h.score_ms[term]) / h.longest}%`;
      setAttribute(part, 'title', `${term} ${millis(h.score_ms[term])}`);
    },
  );
}

function paintRoute(node, route) {
  const longest = Math.max(...route.hosts.map((h) => kTerms.reduce((sum, term) => sum + Math.max(h.score_ms[term], 0), 0)), 0.001);
  setText(node.querySelector('.name'), nameOf(route));
  const wanted = route.policy === route.wanted_policy;
  const badge = node.querySelector('.badge');
  setText(badge, words(route.policy));
  setAttribute(badge, 'class', `badge ${wanted ? 'up' : 'draining'}`);
  const serial = route.n_serial === null ? '' : `N_serial ${route.n_serial.toFixed(2)}. `;
  setText(node.querySelector('.why'), `${serial}${route.chosen ? `Goes to ${route.chosen}.` : 'Goes nowhere.'}${route.why ? ` Not by ${words(route.wanted_policy)}: ${route.why}.` : ''}`);
  node.table.show(route.hosts.map((h) => ({ ...h, longest })), (h) => h.name);
  route.hosts.forEach((h, i) => setClass(node.table.body.children[i], 'chosen', h.name === route.chosen));
}

// The times that were not placed as wanted, from the sample before the first that says so: { from, to } in seconds.
function degradedSpans({ degraded, step_s: step }, times) {
  const spans = [];
  times.forEach((to, i) => {
    if (!degraded[i]) return;
    if (i > 0 && degraded[i - 1]) spans.at(-1).to = to;
    else spans.push({ from: times[i - 1] ?? to - step, to });
  });
  return spans;
}

function showHistory(history) {
  const times = history.times_ms.map((ms) => ms / 1000);
  const spans = degradedSpans(history, times);
  chart.show(
    times,
    history.hosts.map((h, i) => ({ label: h.name, colour: `c${i % kColours}`, values: h.requests })),
    spans,
  );
  byId('shaded').hidden = spans.length === 0;
  if (spans.length === 0) return;
  const total = Math.round(spans.reduce((sum, { from, to }) => sum + to - from, 0));
  const { from, to } = spans.at(-1);
  const last = to === times.at(-1) ? `since ${clock(from * 1000)}` : `last from ${clock(from * 1000)} to ${clock(to * 1000)}`;
  setText(byId('shaded-text'), `Shaded: not placed as wanted, for ${duration(total * 1000)}, ${last}`);
}

function show(overview) {
  const state = overview.shutting_down ? 'draining' : overview.ready ? 'ready' : 'not ready';
  setText(byId('state'), state);
  setAttribute(byId('state'), 'class', `pill ${state === 'ready' ? 'good' : 'bad'}`);
  setText(byId('about'), `version ${overview.version}, policy ${overview.policy}${overview.profile ? `; profile ${overview.profile}` : ''}`);
  byId('degraded').hidden = !overview.degraded;
  keyed(byId('reasons'), overview.reasons, (r) => r, (r) => el('li', {}, r), () => {});
  hosts.show(overview.hosts, (h) => h.name);
  keyed(byId('routes'), overview.routes, (r) => JSON.stringify([r.method, r.route]), routeCard, paintRoute);
  showHistory(overview.history);
}

let timer = 0;

// Not while nobody can see it: what has happened meanwhile is in the next answer.
async function turn() {
  clearTimeout(timer);
  if (document.hidden) return;
  let live = true;
  try {
    show(await fetchJson('/v1/overview'));
  } catch {
    live = false;
  }
  setText(byId('stream'), live ? 'live' : 'reconnecting');
  setAttribute(byId('stream'), 'class', `pill ${live ? 'good' : 'bad'}`);
  clearTimeout(timer);
  timer = setTimeout(turn, kInterval);
}

initTheme(byId('theme'), () => chart.redraw());
document.addEventListener('visibilitychange', turn);
turn();

// The dashboard: what the router says of itself, as it says it.
import { Chart } from '../shared/chart.js';
import { setAttribute, setText } from '../shared/dom.js';
import { count, duration, micros } from '../shared/format.js';
import { Live, fetchJson } from '../shared/live.js';
import { initTheme } from '../shared/theme.js';
import { showClasses } from './classes.js';
import { Commands } from './commands.js';
import { HeatMap } from './heat.js';
import { History } from './history.js';
import { PoolBoard } from './pools.js';
import { ReplicaTable, changeTable, decisionTable, routeTable, showRejections, showWarnings } from './tables.js';
import { Timeline } from './timeline.js';

const kColours = 8;
const byId = (id) => document.getElementById(id);

let overview = null;
let chosen = ''; // the classes that `colours` is for
let colours = () => 'mixed';
let decided = null; // the last document of decisions
const history = new History();

const board = new PoolBoard(byId('pools'), byId('moves'));
const timeline = new Timeline(byId('timeline'));
const heat = new HeatMap(byId('rtt'), byId('rtt-none'));
const charts = {
  response: new Chart(byId('response-chart'), { name: 'Response time', format: micros }),
  sessions: new Chart(byId('sessions-chart'), { name: 'Sessions', format: count }),
  waiting: new Chart(byId('waiting-chart'), { name: 'Waiting times', format: micros }),
  rejected: new Chart(byId('rejected-chart'), { name: 'Clients turned away', format: count, bars: true }),
};
const commands = new Commands({
  unlock: byId('unlock'),
  reload: byId('reload'),
  unlockDialog: byId('unlock-dialog'),
  confirmDialog: byId('confirm-dialog'),
  toasts: byId('toasts'),
  changed: () => overview && replicas.show(overview, colours),
});
const replicas = new ReplicaTable(byId('replicas'), commands);
const routes = routeTable(byId('routes'));
const decisions = decisionTable(byId('decisions'), () => colours);
const changes = changeTable(byId('changes'), () => colours);

// A colour per class, in the order of priority; what is no class has that of Mixed. True when they are others than before.
function choose(classes) {
  const names = JSON.stringify(classes.map((c) => c.name));
  if (names === chosen) return false;
  chosen = names;
  const index = new Map(classes.map((c, i) => [c.name, i % kColours]));
  colours = (name) => (index.has(name) ? `c${index.get(name)}` : 'mixed');
  return true;
}

function showState() {
  const state = overview.shutting_down ? 'draining' : overview.paused ? 'paused' : overview.ready ? 'ready' : 'not ready';
  const pill = byId('state');
  setText(pill, overview.reason && state === 'not ready' ? `not ready: ${overview.reason}` : state);
  setAttribute(pill, 'class', `pill ${state === 'ready' ? 'good' : 'bad'}`);
  const sessions = overview.classes.reduce((sum, c) => sum + c.sessions, 0);
  setText(byId('about'), `version ${overview.version}, up ${duration(Date.now() - overview.started_ms)}, ${count(sessions)} sessions`);
  document.title = `${state === 'ready' ? '' : `${state}: `}Sluice, ${count(sessions)} sessions`;
}

function showOverview(document) {
  overview = document;
  const recoloured = choose(overview.classes);
  commands.offer(overview.commands);
  showState();
  showClasses(byId('classes'), overview.classes, colours);
  board.show(overview, colours);
  replicas.show(overview, colours);
  showWarnings(byId('warnings'), byId('warning-list'), overview.warnings);
  showRejections(byId('rejections-title'), byId('rejections'), overview.rejections);
  if (!recoloured) return;
  showHistory();
  if (decided) showDecisions();
}

function showDecisions() {
  decisions.show(decided.decisions.slice().reverse(), (d) => d.number);
  changes.show(decided.role_changes.slice().reverse(), (c) => c.number);
  byId('changes-none').hidden = decided.role_changes.length > 0;
  byId('changes').parentElement.hidden = decided.role_changes.length === 0;
}

function showHistory() {
  const classes = overview ? overview.classes.map((c) => c.name) : [...history.classes.keys()];
  const lines = (column) =>
    classes.filter((name) => history.classes.has(name)).map((name) => ({ label: name, colour: colours(name), values: history.classes.get(name)[column] }));
  const quantile = document.querySelector('input[name=quantile]:checked').value;
  charts.response.show(history.times, lines(quantile));
  charts.sessions.show(history.times, lines('sessions'));
  charts.waiting.show(history.times, lines('wait_p95_us'));
  charts.rejected.show(history.times, [{ label: 'turned away', colour: 'alarm', values: history.rejected }]);
  const order = overview ? overview.replicas.map((one) => one.name) : [];
  const shown = [...history.stays].map(([name, stays]) => ({ name, stays }));
  shown.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const times = history.times;
  if (times.length > 0) timeline.show(shown, [...classes, 'mixed'], times[0] * 1000, times.at(-1) * 1000, colours);
}

async function fetchHistory() {
  history.take(await fetchJson('/v1/history'));
  showHistory();
}

const handlers = {
  overview: showOverview,
  decisions: (document) => {
    decided = document;
    showDecisions();
  },
  routes: (document) => {
    routes.show(document.routes, (r) => r.name);
    byId('routes-none').hidden = document.routes.length > 0;
    byId('routes').parentElement.hidden = document.routes.length === 0;
  },
  rtt: (document) => heat.show(document),
  sample: (document) => {
    if (history.add(document)) showHistory();
    else fetchHistory().catch(() => {}); // the next sample tries again
  },
};

document.querySelectorAll('input[name=quantile]').forEach((input) => input.addEventListener('change', showHistory));
initTheme(byId('theme'), () => {
  for (const chart of Object.values(charts)) chart.redraw();
  timeline.draw();
});

new Live({
  url: '/v1/events',
  kinds: Object.keys(handlers),
  on: (kind, document) => handlers[kind](document),
  state: (state) => {
    const pill = byId('stream');
    setText(pill, { live: 'live', waiting: 'reconnecting', hidden: 'paused while hidden' }[state]);
    setAttribute(pill, 'class', `pill ${{ live: 'good', waiting: 'bad', hidden: '' }[state]}`);
  },
  begin: () => fetchHistory().catch(() => {}), // a sample that does not follow brings it too
  poll: async () => showOverview(await fetchJson('/v1/overview')),
});

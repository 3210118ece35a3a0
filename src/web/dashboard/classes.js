// A card per class: what it has now, and how it fared in the last minute.
import { el, keyed, setAttribute, setClass, setText } from '../shared/dom.js';
import { count, micros, words } from '../shared/format.js';

const kFacts = [
  ['sessions', 'sessions', (c) => count(c.sessions)],
  ['waiting', 'waiting', (c) => count(c.waiting)],
  ['replicas', 'replicas', (c) => (c.borrowed > 0 ? `${c.replicas} (${c.borrowed} borrowed)` : String(c.replicas))],
];
const kTimes = [
  ['median', 'median_us'],
  ['95 %', 'p95_us'],
  ['99 %', 'p99_us'],
];

export function showClasses(root, classes, colours) {
  keyed(root, classes, (c) => c.name, card, (node, c) => paint(node, c, colours(c.name)));
}

const fact = (name, label) => el('div', { class: `fact ${name}` }, el('dt', {}, label), el('dd'));

function card(c) {
  const node = el(
    'li',
    {},
    el('h3', {}, el('i'), c.name, el('small')),
    el('dl', { class: 'facts' }, ...kFacts.map(([name, label]) => fact(name, label))),
    el('dl', { class: 'times' }, el('div', { class: 'what' }, el('dt', {}, 'response'), el('dd', { class: 'queries' })), ...kTimes.map(([label]) => fact('time', label))),
    el('p', { class: 'note waits' }),
    el('p', { class: 'note outcomes' }),
  );
  node.dataset.class = c.name;
  return node;
}

function paint(node, c, colour) {
  setAttribute(node, 'class', `card ${colour}`);
  setAttribute(node.querySelector('h3 i'), 'class', `swatch ${colour}`);
  setText(node.querySelector('h3 small'), c.priority === 0 ? 'highest priority' : `priority ${c.priority + 1}`);
  kFacts.forEach(([name, , value]) => setText(node.querySelector(`.${name} dd`), value(c)));
  setClass(node.querySelector('.waiting'), 'alarm', c.waiting > 0);
  setText(node.querySelector('.queries'), `${count(c.response.count)} queries`);
  node.querySelectorAll('.time dd').forEach((dd, i) => setText(dd, micros(c.response[kTimes[i][1]])));
  const longest = c.waiting > 0 ? `, now ${micros(c.longest_wait_us)}` : '';
  setText(node.querySelector('.waits'), c.wait.count > 0 ? `waited for a server: 95 % under ${micros(c.wait.p95_us)}${longest}` : 'nobody has waited for a server');
  const outcomes = Object.entries(c.outcomes).filter(([, n]) => n > 0);
  setText(node.querySelector('.outcomes'), outcomes.map(([name, n]) => `${words(name)} ${count(n)}`).join(' · ') || 'no session yet');
  setAttribute(node.querySelector('.outcomes'), 'title', 'Assignments since the start, by how the replica was found');
}

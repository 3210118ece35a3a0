// Light, dark, or as the system says.
import { el } from './dom.js';

const kNames = ['auto', 'light', 'dark'];
const kKey = 'sluice-theme';

function stored() {
  try {
    const name = localStorage.getItem(kKey);
    return kNames.includes(name) ? name : 'auto';
  } catch {
    return 'auto'; // storage may be forbidden
  }
}

// `changed` is called when colours have become others.
export function initTheme(button, changed) {
  let name = stored();
  const repaint = () => {
    known.clear();
    changed();
  };
  const apply = () => {
    document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    repaint();
  };
  button.addEventListener('click', () => {
    name = kNames[(kNames.indexOf(name) + 1) % kNames.length];
    try {
      localStorage.setItem(kKey, name);
    } catch {
      // It holds for this visit then.
    }
    apply();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  apply();
}

const known = new Map(); // what a name comes to now
const probe = el('span', { hidden: '' });

// A colour of base.css, for a canvas. There it has a value for light and one for dark; which of them holds, only a node knows.
export function colour(name) {
  if (!known.has(name)) {
    if (!probe.isConnected) document.body.append(probe);
    probe.style.color = `var(--${name})`;
    known.set(name, getComputedStyle(probe).color);
  }
  return known.get(name);
}

// Light, dark, or as the system says.
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
  const apply = () => {
    document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    changed();
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
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
  apply();
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

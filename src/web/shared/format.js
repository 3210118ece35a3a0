// Numbers for people. What is not known is a dash.

export const kUnknown = '–';

const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

export function micros(us) {
  if (us === null || us === undefined) return kUnknown;
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${digits(us / 1000)} ms`;
  return `${digits(us / 1e6)} s`;
}

export const millis = (ms) => (ms === null || ms === undefined ? kUnknown : micros(ms * 1000));

export function count(n) {
  if (n === null || n === undefined) return kUnknown;
  if (n < 10000) return String(n);
  if (n < 1e6) return `${(n / 1e3).toFixed(n < 1e5 ? 1 : 0)} k`;
  return `${(n / 1e6).toFixed(1)} M`;
}

export function bytes(n) {
  if (n === null || n === undefined) return kUnknown;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? n : n.toFixed(1)} ${units[unit]}`;
}

export function duration(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

const kClock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
export const clock = (ms) => kClock.format(new Date(ms));
// "2026-11-29 19:20:23 UTC", as the router prints times.
export const parseTime = (text) => Date.parse(text.replace(' UTC', 'Z').replace(' ', 'T'));

export const words = (text) => text.replaceAll('_', ' ');

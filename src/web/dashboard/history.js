// The last hour as the charts want it: what the router has kept, and each sample that comes after.
const kSamplesMax = 360;
const kColumns = ['sessions', 'waiting', 'replicas', 'opened', 'median_us', 'p95_us', 'p99_us', 'wait_p95_us'];

export class History {
  constructor() {
    this.clear();
  }

  clear() {
    this.newest = 0;
    this.times = []; // seconds
    this.rejected = [];
    this.classes = new Map(); // by name: { column: [values] }
    this.stays = new Map(); // by replica
  }

  // GET /v1/history.
  take(document) {
    this.clear();
    this.newest = document.newest;
    this.times = document.times_ms.map((ms) => ms / 1000);
    this.rejected = document.rejected;
    for (const one of document.classes) this.classes.set(one.name, one);
    for (const one of document.replicas) this.stays.set(one.name, one.stays);
  }

  // A sample event. False: samples are missing between, take() the whole anew.
  add(document) {
    if (document.newest === this.newest || document.times_ms.length === 0) return true;
    if (document.newest !== this.newest + 1) return false;
    this.newest = document.newest;
    this.times.push(document.times_ms[0] / 1000);
    this.rejected.push(document.rejected[0]);
    for (const one of document.classes) if (!this.classes.has(one.name)) this.classes.set(one.name, { name: one.name });
    for (const [name, kept] of this.classes) {
      const sample = document.classes.find((one) => one.name === name);
      for (const column of kColumns) {
        kept[column] ??= new Array(this.times.length - 1).fill(null);
        kept[column].push(sample ? sample[column][0] : null);
        if (kept[column].length > kSamplesMax) kept[column].shift();
      }
    }
    for (const one of document.replicas) this.addStay(one.name, one.stays[0]);
    if (this.times.length > kSamplesMax) {
      this.times.shift();
      this.rejected.shift();
    }
    return true;
  }

  addStay(name, stay) {
    const stays = this.stays.get(name) ?? [];
    this.stays.set(name, stays);
    if (stays.at(-1)?.since_ms !== stay.since_ms) stays.push(stay);
    while (stays.length > 1 && stays[1].since_ms <= this.times[0] * 1000) stays.shift();
    // One that was taken out of the configuration an hour ago was nowhere in all that is shown.
    if (stays.length === 1 && stays[0].pool === '') this.stays.delete(name);
  }
}

// One stream of events, for as long as the page is to be seen, whatever becomes of the server meanwhile. A hidden page lets
// go of it: a browser opens six connections to one server, and tabs in the background would take them all.
const kRetry = 2000; // milliseconds
const kSilence = 15000; // the server says something every five seconds
const kHidden = 5000; // switching to another tab and back is nothing
const kFetch = 10000;

export class Live {
  // kinds: events to listen to; on(kind, document); state('live' | 'waiting' | 'hidden'); begin(): the stream is (again) there;
  // poll(): what to ask while there is none.
  constructor({ url, kinds, on, state, begin, poll }) {
    Object.assign(this, { url, kinds, on, state, begin, poll });
    document.addEventListener('visibilitychange', () => this.seen());
    this.connect();
  }

  connect() {
    this.close();
    if (document.hidden) return this.state('hidden');
    const source = new EventSource(this.url);
    this.source = source;
    this.heard();
    source.addEventListener('open', () => {
      this.heard();
      this.state('live');
      this.begin();
    });
    source.addEventListener('heartbeat', () => this.heard());
    for (const kind of this.kinds)
      source.addEventListener(kind, (event) => {
        this.heard();
        this.on(kind, JSON.parse(event.data));
      });
    source.addEventListener('error', () => this.lost());
  }

  // A connection may die without a word, or never come to one.
  heard() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.lost(), kSilence);
  }

  // Retried here and not by the browser, whose pause may be long.
  lost() {
    this.close();
    this.state('waiting');
    this.retry = setTimeout(() => this.again(), kRetry);
  }

  // While there is no stream, a server that shuts down still answers.
  async again() {
    try {
      await this.poll();
    } catch {
      // Nobody there; the stream will tell.
    }
    if (!this.source) this.connect();
  }

  close() {
    for (const timer of [this.silence, this.retry]) clearTimeout(timer);
    this.source?.close();
    this.source = null;
  }

  seen() {
    clearTimeout(this.hiding);
    if (!document.hidden) {
      if (!this.source) this.connect();
      return;
    }
    this.hiding = setTimeout(() => {
      this.close();
      this.state('hidden');
    }, kHidden);
  }
}

export async function fetchJson(path, options) {
  const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(kFetch), ...options });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

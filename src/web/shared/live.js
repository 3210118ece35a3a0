// One stream of events, for as long as the page is open, whatever becomes of the server meanwhile.
const kRetry = 2000; // milliseconds

export class Live {
  // kinds: events to listen to; on(kind, document); state('live' | 'waiting'); begin(): the stream is (again) there.
  constructor({ url, kinds, on, state, begin, poll }) {
    Object.assign(this, { url, kinds, on, state, begin, poll });
    this.connect();
  }

  connect() {
    const source = new EventSource(this.url);
    source.addEventListener('open', () => {
      this.state('live');
      this.begin();
    });
    for (const kind of this.kinds) source.addEventListener(kind, (event) => this.on(kind, JSON.parse(event.data)));
    source.addEventListener('error', () => {
      // Retried here and not by the browser, whose pause may be long.
      source.close();
      this.state('waiting');
      setTimeout(() => this.again(), kRetry);
    });
  }

  // While there is no stream, a server that shuts down still answers.
  async again() {
    try {
      await this.poll();
    } catch {
      // Nobody there; the stream will tell.
    }
    this.connect();
  }
}

export async function fetchJson(path, options) {
  const response = await fetch(path, { cache: 'no-store', ...options });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

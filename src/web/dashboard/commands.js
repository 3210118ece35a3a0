// Commands for those who have the token: asked for once, kept in this page's memory, confirmed each time.
import { el, setText } from '../shared/dom.js';

const kTimeout = 20000; // milliseconds; the router itself takes ten at most

export class Commands {
  constructor({ unlock, reload, unlockDialog, confirmDialog, toasts, changed }) {
    Object.assign(this, { unlock, reload, unlockDialog, confirmDialog, toasts, changed });
    this.token = '';
    this.offered = false;
    for (const dialog of [unlockDialog, confirmDialog]) {
      dialog.querySelector('[value=cancel]').addEventListener('click', () => dialog.close());
      dialog.querySelector('form').addEventListener('submit', (event) => {
        event.preventDefault();
        dialog.close('yes');
      });
    }
    unlockDialog.addEventListener('close', () => {
      const input = unlockDialog.querySelector('input');
      if (unlockDialog.returnValue === 'yes') this.setToken(input.value.trim());
      input.value = '';
    });
    unlock.addEventListener('click', () => (this.token ? this.setToken('') : this.ask()));
    reload.addEventListener('click', () => this.run('Reload the configuration?', 'The file is read again: all of it, or nothing when it has an error.', 'Reload', '/v1/reload'));
  }

  get unlocked() {
    return this.offered && this.token !== '';
  }

  offer(offered) {
    if (offered === this.offered) return;
    this.offered = offered;
    this.refresh();
  }

  setToken(token) {
    this.token = token;
    this.refresh();
  }

  refresh() {
    this.unlock.hidden = !this.offered;
    this.reload.hidden = !this.unlocked;
    setText(this.unlock, this.token ? 'Lock commands' : 'Unlock commands');
    this.changed();
  }

  ask() {
    this.unlockDialog.returnValue = '';
    this.unlockDialog.showModal();
  }

  confirmed(title, text, verb) {
    setText(this.confirmDialog.querySelector('h2'), title);
    setText(this.confirmDialog.querySelector('#confirm-text'), text);
    setText(this.confirmDialog.querySelector('[type=submit]'), verb);
    this.confirmDialog.returnValue = '';
    this.confirmDialog.showModal();
    return new Promise((done) => this.confirmDialog.addEventListener('close', () => done(this.confirmDialog.returnValue === 'yes'), { once: true }));
  }

  async run(title, text, verb, path) {
    if (!(await this.confirmed(title, text, verb))) return;
    try {
      const response = await fetch(path, { method: 'POST', headers: { Authorization: `Bearer ${this.token}` }, signal: AbortSignal.timeout(kTimeout) });
      const answer = await response.json();
      if (response.status === 401) this.setToken('');
      if (response.ok) this.tell(`${verb}: done`, answer.notes ?? []);
      else this.tell(`${verb}: ${answer.error}`, [answer.detail, answer.hint], true);
    } catch (error) {
      this.tell(`${verb}: no answer`, [String(error)], true);
    }
  }

  drain(name, sessions) {
    return this.run(`Drain ${name}?`, `It gets no new sessions; the ${sessions} that it has go on.`, 'Drain', `/v1/replicas/${encodeURIComponent(name)}/drain`);
  }

  undrain(name) {
    return this.run(`Undrain ${name}?`, 'It gets sessions again.', 'Undrain', `/v1/replicas/${encodeURIComponent(name)}/undrain`);
  }

  tell(text, more, failed = false) {
    const toast = el('p', { class: failed ? 'toast failed' : 'toast' }, el('b', {}, text), ...more.filter(Boolean).map((line) => el('span', {}, line)));
    this.toasts.append(toast);
    setTimeout(() => toast.remove(), 8000);
  }
}

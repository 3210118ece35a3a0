// A browser on a string: one JSON command per line on standard input, one JSON answer per line on standard output.
//   node driver.mjs <node_modules> <chromium>
// Commands: { do: 'open', url, scheme, width, height, answers: { path: { type, body } } } (what is answered in the server's place) and the others on the page that was opened last; an answer has `value` or `error`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [modules, executablePath] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(join(modules, 'playwright-core/index.mjs')));
const axe = readFileSync(join(modules, 'axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

let page = null;
let metrics = null; // where the browser tells of the page's
let problems = [];

async function open({ url, scheme = 'light', width = 1440, height = 900, answers = {} }) {
  await page?.context().close();
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  page = await context.newPage();
  metrics = null;
  problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  for (const [path, { type, body }] of Object.entries(answers))
    await page.route(`**${path}`, (route) => route.fulfill({ contentType: type, body }));
  await page.addInitScript(() => {
    globalThis.violations = [];
    addEventListener('securitypolicyviolation', (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  const response = await page.goto(url);
  return { status: response.status(), headers: await response.allHeaders() };
}

const commands = {
  open,
  // `code` is an expression; it is tried again until it is true.
  // (waitForFunction would use eval within the page, which its content security policy forbids.)
  async wait({ code, timeout }) {
    for (const end = Date.now() + timeout; ; await page.waitForTimeout(50)) {
      let last;
      try {
        if (await page.evaluate(code)) return true;
      } catch (error) {
        last = error;
      }
      if (Date.now() > end) throw new Error(`not true within ${timeout} ms${last ? `: ${last.message}` : ''}`);
    }
  },
  evaluate: ({ code }) => page.evaluate(code),
  // Further tabs of the same browser, each sent to the background as soon as it is there.
  async tabs({ url, count }) {
    for (let i = 0; i < count; ++i) {
      const tab = await page.context().newPage();
      await tab.goto(url, { waitUntil: 'commit', timeout: 60000 });
      await tab.evaluate(() => {
        Object.defineProperty(document, 'hidden', { get: () => true });
        document.dispatchEvent(new Event('visibilitychange'));
      });
    }
    return true;
  },
  click: ({ selector }) => page.click(selector, { timeout: 5000 }),
  fill: ({ selector, text }) => page.fill(selector, text, { timeout: 5000 }),
  resize: ({ width, height }) => page.setViewportSize({ width, height }),
  press: ({ key }) => page.keyboard.press(key),
  // What is to be seen, or all from the node `from` downwards.
  async screenshot({ path, from }) {
    const clip = from && (await page.evaluate((selector) => {
      const y = Math.max(0, Math.floor(document.querySelector(selector).getBoundingClientRect().top + scrollY) - 16);
      return { x: 0, y, width: innerWidth, height: document.documentElement.scrollHeight - y };
    }, from));
    await page.screenshot({ path, animations: 'disabled', ...(clip && { fullPage: true, clip }) });
    return path;
  },
  // CPU seconds of the page's main thread so far.
  async cpu() {
    if (!metrics) {
      metrics = await page.context().newCDPSession(page);
      await metrics.send('Performance.enable', { timeDomain: 'threadTicks' });
    }
    const found = await metrics.send('Performance.getMetrics');
    return found.metrics.find((one) => one.name === 'TaskDuration').value;
  },
  // To an empty page, which asks nobody for anything.
  leave: async () => {
    await page.goto('about:blank');
  },
  // What axe finds, a line per rule.
  async audit() {
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    return found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`);
  },
  problems: async () => [...problems, ...(await page.evaluate(() => globalThis.violations))],
  forget: async () => {
    problems = [];
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await commands[command.do](command)) ?? null };
  } catch (error) {
    answer = { error: String(error.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();

// Bundles the pages and the chart library and writes them as one C++ source file.
//   node build.mjs --modules <node_modules> --out <folder>
// Every folder here with an index.html is a page: main.js and what it imports, style.css and what it imports, each one
// file. What the pages are made of is compressed, as it leaves the router that way; the chart library is kept as text too,
// for reports that hold it within themselves.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { constants, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({ options: { modules: { type: 'string' }, out: { type: 'string' } } });
const { build } = await import(join(options.modules, 'esbuild/lib/main.js'));

const kPageBytesMax = 300 * 1024; // compressed, of one page with its script and style

async function bundled(entry) {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'], // of light-dark() in base.css
    nodePaths: [options.modules],
    legalComments: 'inline',
    charset: 'utf8',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

// Blanks at the beginning of lines, and comments.
const tightened = (html) => html.replace(/<!--.*?-->\s*/gs, '').replace(/^\s+/gm, '');

// The same bytes for the same input: no time and no operating system in the header.
function compressed(text) {
  const bytes = gzipSync(Buffer.from(text), { level: constants.Z_BEST_COMPRESSION });
  bytes[9] = 255;
  return bytes;
}

// As the inside of string literals. Escapes have three digits, so that no digit behind one is taken for a part of it.
function literal(bytes) {
  const lines = [];
  let line = '';
  for (const byte of bytes) {
    const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 63 && byte !== 92; // quote, trigraph, backslash
    line += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
    if (line.length >= 100) {
      lines.push(line);
      line = '';
    }
  }
  lines.push(line);
  return lines.map((one) => `    "${one}"`).join('\n');
}
const view = (bytes) => `{\n${literal(bytes)},\n    ${bytes.length}}`;

async function page(name) {
  const folder = join(here, name);
  const parts = [
    [`/${name}`, 'text/html; charset=utf-8', tightened(readFileSync(join(folder, 'index.html'), 'utf8'))],
    [`/${name}/main.js`, 'text/javascript; charset=utf-8', await bundled(join(folder, 'main.js'))],
    [`/${name}/style.css`, 'text/css; charset=utf-8', await bundled(join(folder, 'style.css'))],
  ].map(([path, type, text]) => ({ path, type, bytes: compressed(text) }));
  const total = parts.reduce((sum, part) => sum + part.bytes.length, 0);
  if (total > kPageBytesMax) throw new Error(`${name}: ${total} bytes compressed, ${kPageBytesMax} at most`);
  return parts;
}

// The library as its makers minified it, with the licence that asks to go with every copy.
function chart() {
  const uplot = (file) => readFileSync(join(options.modules, 'uplot', file), 'utf8').trim();
  const script = `/*!\n${uplot('LICENSE')}\n*/\n${uplot('dist/uPlot.iife.min.js')}\n`;
  const style = `${uplot('dist/uPlot.min.css')}\n`;
  if (/<\/(script|style)|<!--/i.test(script + style)) throw new Error('the chart library cannot stand within a page');
  return { script: Buffer.from(script), style: Buffer.from(style) };
}

const pages = readdirSync(here).filter((name) => existsSync(join(here, name, 'index.html'))).sort();
const assets = (await Promise.all(pages.map(page))).flat();
const { script, style } = chart();
const rows = assets.map(({ path, type, bytes }) => `  {"${path}", "${type}", ${view(bytes)}},\n`);

mkdirSync(options.out, { recursive: true });
writeFileSync(
  join(options.out, 'asset_data.cc'),
  `// Written by src/web/build.mjs.
#include <array>

#include "web/assets.h"

namespace sluice::web {
namespace {

constexpr std::array<Asset, ${assets.length}> kAssets{{
${rows.join('')}}};
constexpr std::string_view kChartScript${view(script)};
constexpr std::string_view kChartStyle${view(style)};

}  // namespace

std::span<const Asset> assets() noexcept {
  return kAssets;
}
std::string_view chart_script() noexcept {
  return kChartScript;
}
std::string_view chart_style() noexcept {
  return kChartStyle;
}

}  // namespace sluice::web
`,
);

// The driver `postgres`: one line per check on stdout, exit status 1 at the first that fails.
// Usage: node postgres_client.mjs HOST PORT USER PASSWORD DATABASE plain|tls
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';

const [host, port, user, password, database, mode] = process.argv.slice(2);
const sql = postgres({
  host, port: Number(port), user, password, database, max: 4, onnotice: () => {},
  ssl: mode === 'tls' ? { rejectUnauthorized: false } : false,
  connection: { application_name: 'node-postgres' },
});

async function check(name, body) {
  await body();
  console.log(`ok ${name}`);
}

await check('types', async () => {
  const [row] = await sql`select 1::int4 i, ${'x'}::text t, true o, null n, array[1,2] a, ${sql.json({ k: [1] })}::jsonb j, ${new Date(0)}::timestamptz z`;
  assert.deepEqual({ ...row, z: row.z.getTime() }, { i: 1, t: 'x', o: true, n: null, a: [1, 2], j: { k: [1] }, z: 0 });
});
await check('errors', async () => {
  await assert.rejects(sql`select 1/${0}::int`, { code: '22012' });
  await assert.rejects(sql`select nosuch`, { code: '42703' });
  assert.equal((await sql`select 1 as one`)[0].one, 1);
});
await check('prepared statements in flight', async () => {
  const rows = await Promise.all(Array.from({ length: 500 }, (_, i) => sql`select ${i}::int as v`));
  assert.deepEqual(rows.map((r) => r[0].v), Array.from({ length: 500 }, (_, i) => i));
});
await check('describe', async () => {
  const { types, columns } = await sql`select ${1}::int4 as a, 'x'::text as b`.describe();
  assert.deepEqual([types, columns.map((c) => c.name)], [[23], ['a', 'b']]);
});
await check('transactions', async () => {
  await assert.rejects(sql.begin(async (tx) => {
    await tx`create temp table gone (a int)`;
    await assert.rejects(tx.savepoint((s) => s`select 1/0`), { code: '22012' });
    await tx`insert into gone values (1)`;
    throw new Error('roll back');
  }), /roll back/);
});
await check('cursor', async () => {
  let count = 0;
  await sql`select generate_series(1, 1000)`.cursor(100, (rows) => { count += rows.length; });
  assert.equal(count, 1000);
});
await check('copy', async () => {
  const one = await sql.reserve();
  await one`create temp table t (a int, b text)`;
  const lines = Array.from({ length: 20000 }, (_, i) => `${i}\trow ${i}\n`);
  await pipeline(Readable.from(lines), await one`copy t from stdin`.writable());
  assert.equal((await one`select count(*)::int as n from t`)[0].n, 20000);
  let size = 0;
  for await (const chunk of await one`copy t to stdout`.readable()) size += chunk.length;
  assert.equal(size, lines.join('').length);
  one.release();
});
await check('large values', async () => {
  const value = 'x'.repeat(8 << 20);
  const [row] = await sql`select ${value}::text as v, length(${value}::text) as n`;
  assert.equal(row.n, value.length);
  assert.ok(row.v === value);
});
await check('notifications', async () => {
  let tell;
  const heard = new Promise((resolve) => { tell = resolve; });
  const { unlisten } = await sql.listen('node_postgres', tell);
  await sql.notify('node_postgres', 'hello');
  assert.equal(await heard, 'hello');
  await unlisten();
});
await check('cancel', async () => {
  const query = sql`select pg_sleep(20)`;
  setTimeout(() => query.cancel(), 300);
  await assert.rejects(query, { code: '57014' });
});
await sql.end({ timeout: 5 });

// The driver `pg`: one line per check on stdout, exit status 1 at the first that fails.
// Usage: node pg_client.mjs HOST PORT USER PASSWORD DATABASE plain|tls
import assert from 'node:assert/strict';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

const [host, port, user, password, database, mode] = process.argv.slice(2);
const settings = {
  host, port: Number(port), user, password, database, application_name: 'node-pg',
  ssl: mode === 'tls' ? { rejectUnauthorized: false } : false,
};
const client = new pg.Client(settings);
await client.connect();

async function check(name, body) {
  await body();
  console.log(`ok ${name}`);
}

await check('types', async () => {
  const { rows } = await client.query(
    "select 1::int4 i, 2::int8 b, 1.5::float8 f, 'x'::text t, true::bool o, null n, array[1,2] a, '{\"k\": [1]}'::jsonb j, '\\x00ff'::bytea y, $1::timestamptz z",
    ['2024-02-29T12:00:00Z']);
  assert.deepEqual({ ...rows[0], y: rows[0].y.toString('hex'), z: rows[0].z.toISOString() },
    { i: 1, b: '2', f: 1.5, t: 'x', o: true, n: null, a: [1, 2], j: { k: [1] }, y: '00ff', z: '2024-02-29T12:00:00.000Z' });
});
await check('errors', async () => {
  await assert.rejects(client.query('select 1/0'), { code: '22012' });
  await assert.rejects(client.query('select $1::int', ['no']), { code: '22P02' });
  assert.equal((await client.query('select 1 as one')).rows[0].one, 1);
});
await check('prepared statements', async () => {
  for (let i = 0; i < 20; i++) {
    const { rows } = await client.query({ name: 'add', text: 'select $1::int + $2::int as sum', values: [i, i] });
    assert.equal(rows[0].sum, 2 * i);
  }
});
await check('transactions', async () => {
  await client.query('begin');
  await client.query('create temp table t (a int, b text)');
  await client.query('savepoint s');
  await assert.rejects(client.query('select nosuch'), { code: '42703' });
  await client.query('rollback to s');
  await client.query('commit');
});
await check('copy', async () => {
  const lines = Array.from({ length: 20000 }, (_, i) => `${i}\trow ${i}\n`);
  await pipeline(Readable.from(lines), client.query(copyFrom('copy t from stdin')));
  assert.equal((await client.query('select count(*) from t')).rows[0].count, '20000');
  let size = 0;
  for await (const chunk of client.query(copyTo('copy t to stdout'))) size += chunk.length;
  assert.equal(size, lines.join('').length);
});
await check('large values', async () => {
  const value = 'x'.repeat(8 << 20);
  const { rows } = await client.query('select $1::text as v, length($1::text) as n', [value]);
  assert.equal(rows[0].n, value.length);
  assert.ok(rows[0].v === value);
});
await check('notifications', async () => {
  const other = new pg.Client(settings);
  await other.connect();
  const heard = new Promise((resolve) => client.once('notification', resolve));
  await client.query('listen node_pg');
  await other.query("notify node_pg, 'hello'");
  assert.equal((await heard).payload, 'hello');
  await other.end();
});
await check('cancel', async () => {
  const other = new pg.Client(settings);
  await other.connect();
  const running = assert.rejects(other.query('select pg_sleep(20)'), { code: '57014' });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await client.query("select pg_cancel_backend(pid) from pg_stat_activity where query = 'select pg_sleep(20)' and usename = current_user");
  await running;
  await other.end();
});
await check('pool', async () => {
  const pool = new pg.Pool({ ...settings, max: 8 });
  const sums = await Promise.all(Array.from({ length: 200 }, (_, i) => pool.query('select $1::int as v', [i])));
  assert.deepEqual(sums.map((r) => r.rows[0].v), Array.from({ length: 200 }, (_, i) => i));
  await pool.end();
});
await client.end();

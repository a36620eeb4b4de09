// Ten thousand bodies that mean no good, from many networks: what is answered, and how much is kept
// of them. No canary of theirs is in any table. The suite takes a part of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sampledRuns } from '../../harness/sample.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

// slow: Each of its many bodies is a request.

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ shards: 2, env: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' } });
});
after(() => bed?.close());

const paths = ['installations', 'activity', 'errors', 'feedback'] as const;
const expected = new Set([202, 400, 413, 415, 429]);
const canaries = [
  'canary.person@mail.example',
  'svc_live_Canary4f9aB27c',
  '4111111111111111',
  '4111 1111 1111 1111',
  'eyJhbGciOiJIUzI1NiJ9.Y2FuYXJ5.c2ln',
  'Bearer canary-token-77',
  'https://app.example/x?canary=77&a=1',
  'password=canary77secret',
  'sk-canary-0123456789abcdef',
];
/** What of them must be nowhere. */
const marks = ['canary', 'Canary', '4111111111111111', '4111 1111', 'Y2FuYXJ5'];

const random = createRandom(testSeed);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

function text(): string {
  const pieces = [
    () => pick(canaries),
    () => `words and ${pick(canaries)}, more words`,
    () => '\u0000\ud800\u202e'.repeat(1 + Math.floor(random() * 5)),
    () => 'a'.repeat(Math.floor(random() * 3_000)),
    () => '',
    () => '😀'.repeat(30),
    () => `Error\n    at f (https://h.example/a.js?canary=${random()}:1:2)`,
    () => "{jndi:ldap://h.example/}<script>'; DROP TABLE accounts; --",
  ];
  return pick(pieces)();
}

function value(depth = 0): unknown {
  const kinds: (() => unknown)[] = [
    text,
    () => random() * 1e18,
    () => 4111111111111111,
    () => null,
    () => true,
    () => -0,
  ];
  if (depth < 4) {
    kinds.push(() => Array.from({ length: Math.floor(random() * 5) }, () => value(depth + 1)));
    kinds.push(() => ({ [text()]: value(depth + 1), [pick(['email', 'token', 'x'])]: text() }));
  }
  return pick(kinds)();
}

const members = [
  ...['installation_id', 'platform', 'app_version', 'channel', 'source', 'message', 'email'],
  ...['error_name', 'error_code', 'stack_trace', 'details', 'severity', 'category', 'rating'],
  ...['__proto__', 'constructor', 'canary.person@mail.example', 'more'],
];

/** Mostly members that the route knows, so that many get far. */
function body(path: string): string {
  if (random() < 0.05) return pick(['', '{', '[]', 'null', '"x"', '{"a":1,"a":2}', '\u0000']);
  const known: Record<string, unknown> = {};
  if (random() < 0.8) known.installation_id = `install-${Math.floor(random() * 1e6)}`;
  if (path === 'errors' || path === 'feedback') known.message = text() || 'said';
  const count = Math.floor(random() * 4);
  for (let index = 0; index < count; index += 1) {
    known[pick(members)] = random() < 0.8 ? text() : value();
  }
  const padded = random() < 0.01 ? { ...known, stack_trace: 'x'.repeat(250_000) } : known;
  return JSON.stringify(padded);
}

const runs = sampledRuns(10_000, 1_200);

test(`${runs} hostile bodies leave bounded rows, and no canary (seed ${testSeed})`, async () => {
  const statuses = new Map<number, number>();
  const send = async (index: number) => {
    const path = pick(paths);
    const reply = await fetch(`${bed.url}/api/app/${path}`, {
      method: 'POST',
      headers: {
        'content-type': random() < 0.03 ? 'text/plain' : 'application/json',
        'x-forwarded-for': `10.7.${index % 40}.1`,
      },
      body: body(path),
    });
    await reply.arrayBuffer();
    assert.ok(expected.has(reply.status), `${path}: ${reply.status} (seed ${testSeed})`);
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
  };
  for (let index = 0; index < runs; index += 16) {
    await Promise.all(
      Array.from({ length: Math.min(16, runs - index) }, (_, at) => send(index + at)),
    );
  }
  for (const status of expected) assert.ok(statuses.has(status), `no ${status} (seed ${testSeed})`);
  await new Promise((resolve) => setTimeout(resolve, 10_500));
  await expectBounded(statuses.get(202) ?? 0);
  await expectNoCanary();
  const health = await fetch(`${bed.url}/api/health`);
  assert.equal(health.status, 200);
});

const tables = [
  ...['app_installations', 'app_activity', 'app_errors', 'app_error_samples', 'app_feedback'],
];

async function expectBounded(accepted: number): Promise<void> {
  let rows = 0;
  for (const table of tables) {
    const [found] = await bed.sql.unsafe<{ rows: number; longest: number }[]>(
      `SELECT count(*)::float8 AS rows, coalesce(max(length(t::text)), 0)::float8 AS longest
      FROM ${table} t`,
    );
    rows += found?.rows ?? 0;
    assert.ok((found?.longest ?? 0) < 40_000, table);
  }
  // An error is a group and a sample at most twice.
  assert.ok(rows > 0 && rows <= 3 * accepted, `${rows} rows of ${accepted}`);
}

/** In the whole database: whatever was written beside these tables too. */
async function expectNoCanary(): Promise<void> {
  const all = await bed.sql<{ name: string }[]>`
    SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name
    FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`;
  for (const { name } of all) {
    for (const mark of marks) {
      const found = await bed.sql.unsafe<{ row: string }[]>(
        `SELECT left(t::text, 300) AS row FROM ${name} t WHERE t::text LIKE $1 LIMIT 1`,
        [`%${mark}%`],
      );
      assert.deepEqual([...found], [], `${mark} is in ${name} (seed ${testSeed})`);
    }
  }
  const sealed = await bed.sql<{ email: Buffer }[]>`
    SELECT email FROM app_feedback WHERE email IS NOT NULL
    UNION ALL SELECT email FROM app_error_samples WHERE email IS NOT NULL`;
  for (const { email } of sealed) assert.ok(!email.toString('latin1').includes('canary'));
}

// Exports as other people's readers see them, and how they are sent: piece by piece, as the client
// takes them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { creditsText, csvBytes } from '../../../routes/billing/csv.ts';
import { newId } from '../../../runtime/ids.ts';
import { dayMs, liveSince, request } from '../../db/usage/world.ts';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'it moves the bounds of what is counted' });
});
after(() => bed?.close());

const path = '/api/me/billing/export.csv';

async function exported(account: TestAccount, query: string): Promise<Response> {
  const headers = { 'x-svc-session': account.sessionToken };
  return fetch(`${bed.url}${path}?${query}`, { headers });
}

async function textOf(account: TestAccount, query: string): Promise<string> {
  const reply = await exported(account, query);
  assert.equal(reply.status, 200, query);
  assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8');
  return reply.text();
}

/** The rows as csv-parse reads them, and Python's csv the same. */
function readBoth(text: string): string[][] {
  const rows = parse(text, { relax_column_count: false }) as string[][];
  const script =
    'import csv,json,sys,io; ' +
    'print(json.dumps(list(csv.reader(io.TextIOWrapper(sys.stdin.buffer, "utf-8", newline="")))))';
  const python = spawnSync('python3', ['-c', script], { input: text, encoding: 'utf8' });
  assert.equal(python.status, 0, python.stderr);
  assert.deepEqual(JSON.parse(python.stdout), rows, 'Python reads the same');
  return rows;
}

test('credits are exact decimals, and amounts are never escaped', () => {
  const pairs: [bigint, string][] = [
    [0n, '0'],
    [1n, '0.000001'],
    [-1n, '-0.000001'],
    [1_000_000n, '1'],
    [-12_345_600_000n, '-12345.6'],
    [9_007_199_254_740_993n, '9007199254.740993'],
  ];
  for (const [micros, text] of pairs) assert.equal(creditsText(micros), text);
  assert.equal(Buffer.from(csvBytes([[-1_500_000n, -2]])).toString(), '-1.5,-2\r\n');
});

test('a text that a spreadsheet would run begins with an apostrophe', () => {
  const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', 'a=b', '', 'say "hi", both', 'a\nb'];
  const rows = readBoth(Buffer.from(csvBytes([texts, texts])).toString());
  const expected = texts.map((text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text));
  assert.deepEqual(rows, [expected, expected]);
});

test('usage is a line for each day, model, key and kind', async () => {
  const account = await bed.account();
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const used = [
    { keyId: 'key_a', charge: 1_500_000, ms: today },
    { keyId: 'key_a', charge: 1, ms: today + 1 },
    { keyId: null, charge: 2, ms: today, model: '=cmd|calc' },
    { keyId: 'key_b', charge: 3, ms: today - dayMs, route: '/v1/audio/speech' },
  ];
  await liveSince(bed.sql, today - 2 * dayMs, async (transaction) => {
    for (const { ms, ...given } of used) await request(transaction, account, ms, given);
  });
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const query = `what=usage&from=${day(today - dayMs)}&to=${day(today)}`;
  const [header = [], ...rows] = readBoth(await textOf(account, query));
  const charge = header.indexOf('charge_credits');
  const requests = header.indexOf('requests');
  assert.deepEqual(header.slice(0, 4), ['day', 'model', 'api_key_id', 'kind']);
  assert.deepEqual(
    rows.map((row) => [...row.slice(0, 4), row[requests], row[charge]]),
    [
      [day(today - dayMs), 'm', 'key_b', 'speech', '1', '0.000003'],
      [day(today), "'=cmd|calc", '', 'generation', '1', '0.000002'],
      [day(today), 'm', 'key_a', 'generation', '2', '1.500001'],
    ],
  );
});

test('the ledger and purchases are exported for the days that are asked for', async () => {
  const account = await bed.account({ micros: 3_000_000n });
  const id = newId('pur', 0);
  await bed.sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, status, credits_micros,
      price_cents, currency)
    VALUES (${id}, ${account.accountId}, ${account.walletId}, '@small', 'completed', 1500000, 199,
      'usd')`;
  const ledger = readBoth(await textOf(account, 'what=ledger'));
  assert.deepEqual(ledger[0], ['at', 'kind', 'reference', 'amount_credits']);
  assert.deepEqual(ledger[1]?.slice(1, 2), ['promotion']);
  assert.equal(ledger[1]?.[3], '3');
  const [, row] = readBoth(await textOf(account, 'what=purchases'));
  assert.deepEqual(row?.slice(1), [id, 'completed', "'@small", '1.5', '199', 'usd']);
  for (const what of ['usage', 'ledger', 'purchases']) {
    const old = readBoth(await textOf(account, `what=${what}&from=2024-01-01&to=2024-12-31`));
    assert.equal(old.length, 1, `${what} has its header alone`);
  }
});

test('what is no range of days is refused at its place', async () => {
  const account = await bed.account();
  const queries = {
    'what=all': 'what',
    '': 'what',
    'what=usage&from=2026-02-30': 'from',
    'what=usage&to=yesterday': 'to',
    'what=usage&from=2026-02-02&to=2026-02-01': 'from',
    'what=usage&from=2025-01-01&to=2026-02-05': 'from',
  };
  for (const [query, param] of Object.entries(queries)) {
    const reply = await exported(account, query);
    const { error } = (await reply.json()) as { error: { param?: string } };
    assert.equal(reply.status, 400, query);
    assert.match(JSON.stringify(error), new RegExp(`"${param}"`), query);
  }
  const longest = await exported(account, 'what=usage&from=2025-01-01&to=2026-02-04');
  assert.equal(longest.status, 200);
  await longest.text();
  const headers = { 'x-svc-session': account.sessionToken };
  const head = await fetch(`${bed.url}${path}?what=usage`, { method: 'HEAD', headers });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), '');
});

/** Lines of one wallet, 100 on each of 300 days. */
const lines = 30_000;

async function busyAccount(): Promise<TestAccount> {
  const account = await bed.account();
  await bed.sql`
    INSERT INTO usage_quarters (wallet_id, at, account_id, api_key_id, kind, model, provider,
      requests, failed, settled, input_tokens, cached_input_tokens, cache_write_tokens,
      output_tokens, reasoning_tokens, search_calls, milliseconds, characters, charge_micros)
    SELECT ${account.walletId}, '2025-01-01'::timestamptz + n % 300 * interval '1 day',
      ${account.accountId}, 'key_' || n, 'generation', 'a model with a long name', '', 1, 0, 1,
      0, 0, 0, 0, 0, 0, 0, 0, n
    FROM generate_series(1, ${lines}::int) n`;
  await bed.sql`ANALYZE usage_quarters`;
  // As if no day were closed: the quarters are what is read.
  await bed.sql`UPDATE usage_state SET closed_from = now(), closed_until = now()`;
  return account;
}

test('a client that reads slowly is waited for, and gets all of it', async () => {
  const account = await busyAccount();
  const headers = { 'x-svc-session': account.sessionToken };
  const url = new URL(`${bed.url}${path}?what=usage&from=2025-01-01&to=2025-12-31`);
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    openRequest(url, { headers }, resolve).on('error', reject).end();
  });
  assert.equal(reply.statusCode, 200);
  await new Promise((resolve) => setTimeout(resolve, 300));
  let text = '';
  for await (const chunk of reply.setEncoding('utf8')) {
    text += chunk;
    if (Math.random() < 0.01) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const rows = parse(text) as string[][];
  assert.equal(rows.length, lines + 1);
  const sum = rows.slice(1).reduce((total, row) => total + Math.round(Number(row.at(-1)) * 1e6), 0);
  assert.equal(sum, (lines * (lines + 1)) / 2);
});

test('an account has one export at a time on a shard', async () => {
  const account = await busyAccount();
  const query = 'what=usage&from=2025-01-01&to=2025-12-31';
  const replies = await Promise.all(Array.from({ length: 8 }, () => exported(account, query)));
  const statuses = replies.map(({ status }) => status);
  await Promise.all(replies.map((reply) => reply.text()));
  assert.ok(statuses.includes(200) && statuses.includes(429), `${statuses}`);
  // It is over, so the next one is made.
  assert.equal((await exported(account, 'what=purchases')).status, 200);
});

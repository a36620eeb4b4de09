// Rates of a surface, and what is left of a query whose providers fail: nothing that it said.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { after, before, test } from 'node:test';
import { Contract } from '../../harness/contract.ts';
import { freePort } from '../../harness/port.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { ask, bearer, freshQuery } from './asked.ts';

let bed: Testbed;
let contract: Contract;
let broken: Server;
before(async () => {
  // It says what it was asked, as some do.
  broken = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += String(piece);
    });
    request.on('end', () => response.writeHead(500).end(`cannot ${request.url} ${text}`));
  });
  await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
  const address = broken.address();
  assert.ok(typeof address === 'object' && address !== null);
  const provider = (name: string, port: number) => ({
    name,
    family: 'serper',
    base_url: `http://127.0.0.1:${port}`,
    api_key: 'canarycredential',
  });
  const price = { credits_per_query: '1' };
  bed = await openTestbed({
    env: { TOLLGATE_LOG_LEVEL: 'debug' },
    catalog: {
      providers: [provider('broken', address.port), provider('closed', await freePort())],
      surfaces: [
        {
          name: 'engine_videos',
          display_name: 'Videos',
          targets: [{ provider: 'simulator-search' }],
          price,
          requests_per_minute: 3,
        },
        {
          name: 'engine_news',
          display_name: 'News',
          targets: [{ provider: 'broken' }, { provider: 'closed' }],
          price,
        },
      ],
    },
  });
  contract = await Contract.load(bed.url);
});
after(async () => {
  await bed?.close();
  broken.close();
});

test('a surface has its queries a minute of each account, over all threads', async () => {
  const [account, other] = [await bed.account(), await bed.account()];
  const one = () =>
    ask(contract, bearer(account), { surface: 'engine_videos', query: freshQuery() });
  const replies = await Promise.all(Array.from({ length: 8 }, one));
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429]);
  const refused = replies.find(({ status }) => status === 429);
  assert.ok(Number(refused?.headers.get('retry-after')) > 0);
  const theirs = { surface: 'engine_videos', query: freshQuery() };
  assert.equal((await ask(contract, bearer(other), theirs)).status, 200);
});

test('a query that fails leaves no word of itself, nor of the credential', async () => {
  const account = await bed.account();
  const body = {
    surface: 'engine_news',
    query: 'canaryquery',
    params: { location: 'canaryplace', canaryname: 'canaryvalue' },
    request_id: 'a-key',
  };
  const reply = await ask(contract, bearer(account), body);
  assert.equal(reply.status, 502, reply.text);
  assert.equal((await account.quiet()).availableMicros, 1_000_000_000n);
  assert.doesNotMatch(reply.text, /canary|broken|closed/);
  const metrics = await fetch(`${bed.url}/metrics`);
  assert.doesNotMatch(await metrics.text(), /canary/);
  const logs = bed.gateway.logs.join('\n');
  assert.match(logs, /broken\/engine_news/, 'the failure is told');
  assert.doesNotMatch(logs, /canary/);
  const rows = await bed.sql<{ text: string }[]>`
    SELECT row_to_json(g)::text AS text FROM generations g
    WHERE account_id = ${account.accountId}`;
  assert.doesNotMatch(JSON.stringify(rows), /canary/);
});

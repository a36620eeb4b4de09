// A provider that nobody has paid. Another answers, and the route rests on every shard. Operators
// are told once. Clients get neither a reason to try again nor a name.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { askChat, streamChat } from '../../harness/chat.ts';
import { ask, formats } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const secret = 'sk-provider-secret-42';
const price = { input_per_million: '1', output_per_million: '2' };
const families = {
  chat: ['openai-chat', '/v1', 'simulated-chat-small-2026-01-15'],
  responses: ['openai-responses', '/v1', 'simulated-responses-small-2026-01-15'],
  messages: ['anthropic-messages', '/v1', 'simulated-messages-small-2026-01-15'],
  gemini: ['gemini', '/v1beta', 'simulated-gemini-small-2026-01-15'],
} as const;

const running: RunningSim[] = [];
let bed: Testbed;
let first: Simulator;
let second: Simulator;

async function provider(): Promise<Simulator> {
  const sim = await startSim({ port: 0, key: secret, seed: running.length });
  running.push(sim);
  return new Simulator(`http://127.0.0.1:${sim.port}`);
}

before(async () => {
  [first, second] = [await provider(), await provider()];
  const providers = Object.entries(families).flatMap(([name, [family, path]]) => [
    { name: `${name}-1`, family, base_url: first.url + path, api_key: secret },
    { name: `${name}-2`, family, base_url: second.url + path, api_key: secret },
  ]);
  const models = Object.entries(families).flatMap(([name, [, , model]]) => {
    const routes = ['1', '2'].map((which) => ({
      provider: `${name}-${which}`,
      upstream_model: model,
    }));
    return [
      { alias: `two-${name}`, routes, price },
      { alias: `one-${name}`, routes: routes.slice(0, 1), price },
    ];
  });
  bed = await openTestbed({
    shards: 2,
    env: { TOLLGATE_LOG_LEVEL: 'info' },
    catalog: { providers, models },
  });
});
after(async () => {
  await bed?.close();
  for (const sim of running) sim.close();
});

/** Lines of the log that say this of a route. */
const lines = (message: string, route: string) =>
  bed.gateway.logs.filter((line) => line.includes(`"${message}"`) && line.includes(`"${route}"`));

async function until(what: string, isThere: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await isThere())) {
    assert.ok(performance.now() < deadline, what);
    await sleep(50);
  }
}

async function statusOf(alias: string) {
  const reply = await fetch(`${bed.url}/api/public/model-status`);
  if (reply.status !== 200) return null;
  const { models } = (await reply.json()) as {
    models: { alias: string; status: string; reason: string }[];
  };
  return { model: models.find((each) => each.alias === alias), text: JSON.stringify(models) };
}

async function restingRoutes(): Promise<string[]> {
  const reply = await fetch(`${bed.url}/api/admin/status`, {
    headers: { 'x-svc-session': bed.dev.admin_session_token },
  });
  const { unpaid_routes: routes } = (await reply.json()) as { unpaid_routes: { route: string }[] };
  return routes.map(({ route }) => route);
}

for (const [name, [, , upstream]] of Object.entries(families)) {
  const route = `${name}-1/${upstream}`;

  test(`${name}: another route answers, and the unpaid one rests on every shard`, async () => {
    const account = await bed.account();
    await first.reset();
    await first.outage('unpaid', 60_000);
    const model = `two-${name}`;
    const reply = await askChat(account, '[[sim tokens=2]]', { model });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    await until('it is logged', () => lines('provider.unpaid', route).length > 0);
    for (let round = 0; round < 12; round += 1) {
      assert.equal((await askChat(account, '[[sim tokens=2]]', { model })).status, 200);
    }
    const { started } = await first.stats();
    assert.ok(started <= 2, `${started}: the shards told each other`);
    assert.equal(lines('provider.unpaid', route).length, 1, 'once, not for each request');
    assert.ok((await restingRoutes()).includes(route));
  });

  test(`${name}: alone it is a 502 that no library tries again`, async () => {
    const account = await bed.account();
    for (const format of formats) {
      const told = await ask(format, account, { model: `one-${name}`, text: '[[sim tokens=1]]' });
      assert.equal(told.status, 502, `${format} ${told.raw}`);
      assert.equal(told.headers.get('x-should-retry'), 'false');
      assert.equal(told.headers.get('retry-after'), null);
      assert.doesNotMatch(told.raw, /quota|credit|balance|billing|unpaid/i);
    }
    const stream = await streamChat(account, '[[sim tokens=1]]', { model: `one-${name}` });
    assert.equal(stream.error?.code, 'upstream_error');
    assert.equal((await account.quiet()).availableMicros, 1_000_000_000n);
  });

  test(`${name}: the last resort is asked, and answers as soon as somebody has paid`, async () => {
    const account = await bed.account();
    await first.outage(0, 0);
    assert.equal(
      (await askChat(account, '[[sim tokens=1]]', { model: `one-${name}` })).status,
      200,
    );
    await until('it is told', async () => !(await restingRoutes()).includes(route));
    await first.reset();
    await until('the declared order holds again', async () => {
      await askChat(account, '[[sim tokens=1]]', { model: `two-${name}` });
      return (await first.stats()).started > 0;
    });
    await until('it is logged', () => lines('provider.paid', route).length > 0);
    assert.equal(lines('provider.paid', route).length, 1, 'once');
  });
}

test('the public status says so without a name, though the list of models is told', async () => {
  const account = await bed.account();
  await until('there is a status', async () => (await statusOf('one-chat')) !== null);
  await first.outage('unpaid', 60_000);
  await askChat(account, '[[sim tokens=1]]', { model: 'one-chat' });
  await until('the status knows', async () => {
    return (await statusOf('one-chat'))?.model?.reason === 'No route answers: provider.unpaid.';
  });
  const told = await statusOf('one-chat');
  assert.equal(told?.model?.status, 'unavailable');
  assert.doesNotMatch(told?.text ?? '', /chat-1|127\.0\.0\.1/);
  const degraded = await statusOf('two-chat');
  assert.match(degraded?.model?.reason ?? '', /provider\.unpaid/);
  await first.outage(0, 0);
  await askChat(account, '[[sim tokens=1]]', { model: 'one-chat' });
  await until(
    'it is over',
    async () => (await statusOf('one-chat'))?.model?.status !== 'unavailable',
  );
});

// What is refused while somebody is still looked up must not leave the refusal of that unheard: a
// rejection without a handler ends the shard.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { cancelGeneration, type OpenServices } from '../../actors/generation/open.ts';
import { routes } from '../../routes/table.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { type Serving, serve, type TestRoute, until } from '../runtime/http/serving.ts';

const withBody = routes.flatMap(({ method, path, body }) =>
  body === undefined ? [] : [{ method, path: path.replace(/[{}]/g, ''), body }],
);
const unheard: unknown[] = [];
const hear = (reason: unknown) => unheard.push(reason);
let lookups = 0;
let serving: Serving;
before(async () => {
  process.on('unhandledRejection', hear);
  serving = await serve(routes as unknown as readonly TestRoute[], {
    authorize: async () => {
      lookups += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      lookups -= 1;
      throw new Problem('unauthenticated');
    },
  });
});
after(async () => {
  process.off('unhandledRejection', hear);
  await serving.stop();
});

/** What nobody has handled is told of at the end of a turn. */
async function assertHeard(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(unheard.splice(0), []);
}

/** The status that is answered to the head of a request, before any of its body is sent. */
function statusOf(
  method: string,
  path: string,
  headers: Record<string, string | number>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { port: serving.port, method, path, headers, agent: false };
    const client = request(options, (reply) => {
      resolve(reply.statusCode);
      client.destroy();
    });
    client.on('error', reject);
    client.flushHeaders();
  });
}

const types = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=b',
  bytes: 'application/octet-stream',
};

test("a body's refusal leaves no refused caller unheard, at any route", async () => {
  assert.ok(withBody.length > 10);
  for (const { method, path, body } of withBody) {
    const type = types[body.kind];
    const cases: [number, Record<string, string | number>][] = [
      [413, { 'content-type': type, 'content-length': body.bytesMax + 1 }],
      [415, { 'content-type': type, 'content-encoding': 'gzip', 'content-length': 1 }],
      [401, { 'content-type': type, 'content-length': 1 }],
    ];
    if (body.kind !== 'bytes') {
      cases.push([415, { 'content-type': 'text/plain', 'content-length': 1 }]);
    }
    for (const [status, headers] of cases) {
      assert.equal(await statusOf(method, path, headers), status, `${method} ${path}`);
    }
  }
  await until(() => lookups === 0);
  await assertHeard();
});

test('a cancel that finds no room to watch is refused before its own answer comes', async () => {
  const asked: string[] = [];
  const ask = async (message: string) => {
    asked.push(message);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { ok: true, value: { status: 'cancelling' } };
  };
  const generationKind = { name: 'generation' };
  const system = { node: 1, spawn: () => null, at: () => ({ ask, tell: () => true }) };
  const services = { system, generationKind } as unknown as OpenServices;
  const cancelled = cancelGeneration(services, newId('req', 1), 1_000);
  await assert.rejects(cancelled, { code: 'overloaded' });
  assert.deepEqual(asked, ['cancel']);
  await assertHeard();
});

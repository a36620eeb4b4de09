// Domains of an organization over HTTP, proved at the simulator's DNS: the record to set, roles and
// status, and the bound of checks.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { addMember, makeOrganization, setStatus } from '../../harness/organization-rows.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let contract: Contract;
let owner: TestAccount;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  owner = await bed.account();
});
after(() => bed?.close());

const newOrganization = (by = owner) => makeOrganization(bed.sql, by.accountId);

/** A path behind the organization's domains. */
function call(
  method: string,
  organizationId: number | string,
  { path = '', body, by = owner }: { path?: string; body?: unknown; by?: TestAccount } = {},
): Promise<Reply> {
  return contract.call(method, `/api/enterprise/organizations/${organizationId}/domains${path}`, {
    headers: { 'x-svc-session': by.sessionToken },
    ...(body === undefined ? {} : { body }),
  });
}

interface Told {
  domain: string;
  status: string;
  record: { type: string; name: string; value: string };
  expires_at: string | null;
  claimed_at: string;
  last_answer: string | null;
  lapses_at: string | null;
  failing_at: string | null;
  revision: number;
}

const domainIn = ({ json }: Reply) => json.domain as unknown as Told;
const codeOf = ({ json }: Reply) =>
  json.error as { code: string; details?: { reason?: string; path?: string } };

async function claim(organizationId: number, domain: string, by = owner): Promise<Told> {
  const reply = await call('POST', organizationId, { body: { domain }, by });
  assert.equal(reply.status, 201, reply.text);
  return domainIn(reply);
}

async function publish(record: { name: string; value: string }, more: object = {}): Promise<void> {
  const body = JSON.stringify({ name: record.name, txt: record.value, ...more });
  const reply = await fetch(`${bed.dev.simulator_url}/sim/dns`, { method: 'POST', body });
  assert.equal(reply.status, 200);
}

const verify = (organizationId: number, domain: string, by = owner) =>
  call('POST', organizationId, { path: `/${encodeURIComponent(domain)}/verify`, by });

test('a claim shows its record, is proved once that is set, and can be given up', async () => {
  const id = await newOrganization();
  const claimed = await claim(id, 'Bücher.example');
  assert.equal(claimed.domain, 'xn--bcher-kva.example');
  assert.deepEqual([claimed.status, claimed.revision], ['pending', 1]);
  assert.equal(claimed.record.type, 'TXT');
  assert.equal(claimed.record.name, '_svc-challenge.xn--bcher-kva.example');
  assert.match(claimed.record.value, /^svc-domain-verification=[A-Za-z0-9_-]{43}$/);
  const days = (Date.parse(claimed.expires_at ?? '') - Date.parse(claimed.claimed_at)) / 86_400_000;
  assert.equal(days, 7);
  const early = domainIn(await verify(id, 'bücher.example'));
  assert.deepEqual([early.status, early.last_answer], ['pending', 'absent']);
  await publish(claimed.record, { fault: 'servfail' });
  const unsaid = domainIn(await verify(id, 'xn--bcher-kva.example'));
  assert.deepEqual([unsaid.status, unsaid.last_answer], ['pending', 'unknown']);
  await publish(claimed.record, { fault: 'split' });
  const proved = domainIn(await verify(id, 'BÜCHER.example'));
  assert.deepEqual([proved.status, proved.last_answer, proved.revision], ['verified', 'found', 2]);
  assert.equal(proved.expires_at, null);
  const listed = await call('GET', id);
  assert.deepEqual(listed.json.data, [proved]);
  const again = await call('POST', id, { body: { domain: 'bücher.example' } });
  assert.deepEqual([again.status, codeOf(again).details?.reason], [409, 'exists']);
  const path = '/xn--bcher-kva.example';
  const stale = await call('DELETE', id, { path: `${path}?expected_revision=1` });
  assert.equal(stale.status, 409);
  assert.equal((await call('DELETE', id, { path: `${path}?expected_revision=2` })).status, 200);
  assert.equal((await call('DELETE', id, { path })).status, 404);
  assert.deepEqual((await call('GET', id)).json.data, []);
});

test('a record that is gone makes the domain fail, and one that is back mends it', async () => {
  const id = await newOrganization();
  const { record } = await claim(id, 'mends.test');
  await publish(record);
  await verify(id, 'mends.test');
  await publish(record, { fault: 'nxdomain' });
  const failing = domainIn(await verify(id, 'mends.test'));
  assert.equal(failing.status, 'failing');
  const days = Date.parse(failing.lapses_at ?? '') - Date.parse(failing.failing_at ?? '');
  assert.equal(days / 86_400_000, 30);
  await publish(record);
  const mended = domainIn(await verify(id, 'mends.test'));
  assert.deepEqual([mended.status, mended.failing_at], ['verified', null]);
});

test('claims block nobody; the second to prove is 409, until the first gives it up', async () => {
  const rival = await bed.account();
  const [mine, theirs] = [await newOrganization(), await newOrganization(rival)];
  const [one, other] = [await claim(mine, 'both.test'), await claim(theirs, 'both.test', rival)];
  assert.notEqual(one.record.value, other.record.value);
  await publish(one.record, { txt: [one.record.value, other.record.value] });
  const replies = await Promise.all([
    verify(mine, 'both.test'),
    verify(theirs, 'both.test', rival),
  ]);
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409]);
  const refused = replies.find(({ status }) => status === 409);
  assert.equal(refused && codeOf(refused).details?.reason, 'domain_taken');
  const [winner, loser] =
    replies[0]?.status === 200
      ? [
          { id: mine, by: owner },
          { id: theirs, by: rival },
        ]
      : [
          { id: theirs, by: rival },
          { id: mine, by: owner },
        ];
  await call('DELETE', winner.id, { path: '/both.test', by: winner.by });
  const second = domainIn(await verify(loser.id, 'both.test', loser.by));
  assert.equal(second.status, 'verified');
});

test('a claim that is over is not proved; it is made anew with another record', async () => {
  const id = await newOrganization();
  const first = await claim(id, 'late.test');
  await publish(first.record);
  await bed.sql`
    UPDATE organization_domains SET expires_at = now() WHERE organization_id = ${id}`;
  for (let time = 0; time < 2; time += 1) {
    const refused = await verify(id, 'late.test');
    assert.deepEqual([refused.status, codeOf(refused).code], [409, 'invalid_state']);
  }
  const [kept] = (await call('GET', id)).json.data as unknown as Told[];
  assert.equal(kept?.status, 'expired');
  const second = await claim(id, 'late.test');
  assert.notEqual(second.record.value, first.record.value);
  assert.equal(domainIn(await verify(id, 'late.test')).last_answer, 'absent');
  await publish(second.record);
  assert.equal(domainIn(await verify(id, 'late.test')).status, 'verified');
});

test('owners and admins alone; who is no member is told nothing', async () => {
  const id = await newOrganization();
  await claim(id, 'roles.test');
  const stranger = await bed.account();
  const people = { owner: 200, admin: 200, billing: 403, manager: 403, member: 403 } as const;
  const calls = (by: TestAccount) => [
    call('GET', id, { by }),
    verify(id, 'roles.test', by),
    call('POST', id, { body: { domain: 'roles.test' }, by }),
    call('DELETE', id, { path: '/none.test', by }),
  ];
  for (const role of ['owner', 'admin', 'billing', 'manager', 'member'] as const) {
    const by = await bed.account();
    await addMember(bed.sql, id, by.accountId, role);
    const statuses = (await Promise.all(calls(by))).map(({ status }) => status);
    assert.deepEqual(
      statuses,
      people[role] === 403 ? [403, 403, 403, 403] : [200, 200, 409, 404],
      role,
    );
  }
  const left = await bed.account();
  await addMember(bed.sql, id, left.accountId, 'owner');
  await bed.sql`
    UPDATE organization_members SET status = 'left', ended_at = now()
    WHERE user_id = ${left.accountId}`;
  for (const by of [stranger, left]) {
    const statuses = (await Promise.all(calls(by))).map(({ status }) => status);
    assert.deepEqual(statuses, [404, 404, 404, 404]);
  }
  for (const none of ['none', '99999', '100000', '2147483648', '99999999999']) {
    assert.equal((await call('GET', none)).status, 404, none);
  }
});

test('suspended: it is read and given up; closed: its canonical owner reads', async () => {
  const id = await newOrganization();
  const other = await bed.account();
  await addMember(bed.sql, id, other.accountId, 'owner');
  for (const domain of ['one.test', 'two.test']) await claim(id, domain);
  await setStatus(bed.sql, id, 'suspended');
  const refusals = async (status: number) => {
    const replies = [
      await verify(id, 'one.test'),
      await call('POST', id, { body: { domain: 'x.test' } }),
    ];
    for (const reply of replies) assert.equal(reply.status, status);
  };
  await refusals(409);
  assert.equal((await call('GET', id)).status, 200);
  assert.equal((await call('DELETE', id, { path: '/one.test' })).status, 200);
  await setStatus(bed.sql, id, 'closed');
  await refusals(409);
  assert.equal((await call('DELETE', id, { path: '/two.test' })).status, 409);
  assert.equal((await call('GET', id)).status, 200);
  const barred = await call('GET', id, { by: other });
  assert.deepEqual([barred.status, codeOf(barred).code], [403, 'forbidden']);
});

test('an hour has 10 checks, the next one has others; 20 domains are the most', async () => {
  const id = await newOrganization();
  for (let count = 0; count < 20; count += 1) await claim(id, `n${count}.test`);
  const full = await call('POST', id, { body: { domain: 'n20.test' } });
  assert.deepEqual([full.status, codeOf(full).details?.reason], [409, 'domain_limit']);
  assert.equal((await call('POST', id, { body: { domain: 'n1.test' } })).status, 409);
  const many = await Promise.all(
    Array.from({ length: 14 }, (_, index) => verify(id, `n${index}.test`)),
  );
  const statuses = many.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(10).fill(200), ...Array(4).fill(429)]);
  const refused = many.find(({ status }) => status === 429);
  const seconds = Number(refused?.headers.get('retry-after'));
  assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds}`);
  await bed.sql`
    UPDATE organization_domain_checks SET at = at - interval '1 hour'
    WHERE organization_id = ${id}`;
  assert.equal((await verify(id, 'n1.test')).status, 200);
});

test('what is no domain is refused at its field, a public suffix with the reason', async () => {
  const id = await newOrganization();
  for (const domain of ['', 'localhost', 'https://a.test', '127.0.0.1', 'co.uk', 'github.io']) {
    const reply = await call('POST', id, { body: { domain } });
    assert.equal(reply.status, 400, domain);
    assert.equal(codeOf(reply).details?.path, 'domain');
  }
  const suffix = await call('POST', id, { body: { domain: 'github.io' } });
  assert.match((suffix.json.error as { message: string }).message, /public suffix/);
  assert.equal((await call('POST', id, { body: { domain: 'a.test', more: 1 } })).status, 400);
  assert.equal((await verify(id, '%2e%2e')).status, 404);
});

// Checks and the daily round on the real database, with DNS servers that have faults. Who wins, and
// who is told? Is a round that was cut off gone on with?
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { MailServices, MailToWrite } from '../../../actors/mail/services.ts';
import { newDomainToken } from '../../../actors/organization/domain.ts';
import {
  applyAnswer,
  askAboutDomain,
  type Checked,
} from '../../../actors/organization/domain-check.ts';
import { checkDomains, type RoundDeps } from '../../../actors/organization/domain-round.ts';
import { type DnsServer, startDns } from '../../../bench/sim/dns/server.ts';
import { DnsZone } from '../../../bench/sim/dns/zone.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import {
  claimDomain,
  type DomainStatus,
  isDomainGood,
  listDomains,
} from '../../../db/organizations/domains.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addMember, makeOrganization, makePerson } from '../../harness/organization-rows.ts';

const zone = new DnsZone();
const second = new DnsZone();
let dns: DnsServer[] = [];
let database: TestDatabase;
let sql: Sql;
let deps: RoundDeps;
const written: MailToWrite[] = [];
const sent: string[] = [];
const changed: number[] = [];
const never = new AbortController().signal;

const mail: MailServices = {
  isAvailable: true,
  async write(_transaction, one) {
    written.push(one);
    return `mail_${written.length}`;
  },
  send: (id) => void sent.push(id),
};

before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
  dns = [await startDns(zone, 0), await startDns(second, 0)];
  deps = {
    ...{ sql, mail, log: { warn: () => {} }, deadlineMs: 300 },
    servers: dns.map(({ port }) => `127.0.0.1:${port}`),
    changed: async (id) => void changed.push(id),
  };
});
beforeEach(async () => {
  for (const list of [written, sent, changed]) list.length = 0;
  for (const each of [zone, second]) each.reset();
  await sql`DELETE FROM organization_domains`;
});
after(async () => {
  for (const server of dns) server.close();
  await database?.close();
});

let people = 0;
const newPerson = () => {
  people += 1;
  return makePerson(sql, `person${people}@tollgate.test`);
};
const newOrganization = async () => makeOrganization(sql, await newPerson());

async function claim(organizationId: number, domain: string) {
  const token = newDomainToken();
  const forMs = 7 * 86_400_000;
  await sql.begin((tx) => claimDomain(tx, { organizationId, domain, token, forMs }));
  return { organizationId, domain, token };
}

function publish(domain: string, token: string, more: object = {}): void {
  for (const each of [zone, second]) {
    const name = `_svc-challenge.${domain}`;
    assert.ok(each.set({ name, txt: `svc-domain-verification=${token}`, ...more }));
  }
}

async function check(asked: Awaited<ReturnType<typeof claim>>): Promise<Checked> {
  const answer = await askAboutDomain(asked, deps.servers, deps.deadlineMs);
  return applyAnswer(deps, { claim: asked, answer, actor: { type: 'user', id: 'acc_1' } });
}

/** A proved domain, last asked about the day before. */
async function proved(organizationId: number, domain: string, status: DomainStatus, days = 0) {
  const asked = await claim(organizationId, domain);
  const failing = status === 'verified' ? null : days;
  await sql`
    UPDATE organization_domains SET status = ${status}, verified_at = now() - interval '90 days',
      checked_at = now() - interval '1 day', last_answer = 'found',
      failing_at = now() - ${failing}::float8 * interval '1 day'
    WHERE organization_id = ${organizationId} AND domain = ${domain}`;
  return asked;
}

async function stateOf(organizationId: number, domain: string) {
  const all = await listDomains(sql, organizationId);
  const one = all.find((each) => each.domain === domain);
  assert.ok(one !== undefined);
  return one;
}

test('of organizations that prove a domain at once one gets it, ten times over', async () => {
  for (let round = 0; round < 10; round += 1) {
    const domain = `race${round}.test`;
    const rivals = await Promise.all([newOrganization(), newOrganization(), newOrganization()]);
    const claims = await Promise.all(rivals.map((id) => claim(id, domain)));
    const answers = await Promise.all(
      claims.map((each) =>
        applyAnswer(deps, { claim: each, answer: 'found', actor: { type: 'user', id: 'acc_1' } }),
      ),
    );
    const won = answers.filter((each) => each.status === 'checked' && !each.isTaken);
    assert.equal(won.length, 1);
    const states = await Promise.all(rivals.map((id) => stateOf(id, domain)));
    assert.deepEqual(states.map(({ status }) => status).sort(), ['pending', 'pending', 'verified']);
  }
});

test('a domain is proved by split chunks, cut-off answers and many records', async () => {
  const id = await newOrganization();
  for (const how of ['split', 'truncated', 'several']) {
    const domain = `${how}.test`;
    const asked = await claim(id, domain);
    publish(domain, asked.token, how === 'several' ? {} : { fault: how });
    if (how === 'several') {
      const value = `svc-domain-verification=${asked.token}`;
      zone.set({ name: `_svc-challenge.${domain}`, txt: ['v=spf1 -all', value, 'x'] });
    }
    const checked = await check(asked);
    assert.ok(checked.status === 'checked' && checked.domain.status === 'verified');
    assert.ok(await isDomainGood(sql, id, domain));
    assert.ok(!(await isDomainGood(sql, id, `www.${domain}`)), 'this domain alone');
  }
});

test('servers that differ, errors, silence and an old claim prove nothing', async () => {
  const id = await newOrganization();
  const asked = await claim(id, 'doubt.test');
  const name = '_svc-challenge.doubt.test';
  const expect = async (answer: string) => {
    const checked = await check(asked);
    assert.ok(checked.status === 'checked' && !checked.hasChanged, answer);
    const { status, lastAnswer, revision } = checked.domain;
    assert.deepEqual(
      { status, lastAnswer, revision },
      { status: 'pending', lastAnswer: answer, revision: 1 },
    );
  };
  publish('doubt.test', asked.token);
  second.set({ name, txt: null });
  await expect('absent');
  for (const fault of ['servfail', 'timeout']) {
    second.set({ name, txt: `svc-domain-verification=${asked.token}`, fault });
    await expect('unknown');
  }
  second.set({ name, fault: 'nxdomain' });
  await expect('absent');
  publish('doubt.test', asked.token);
  await claim(id, 'doubt.test');
  assert.equal((await check(asked)).status, 'gone');
});

test('without its record a domain fails, is back with it, is lost after 30 days', async () => {
  const owner = await newPerson();
  const id = await makeOrganization(sql, owner, 'Acme');
  const admin = await newPerson();
  await addMember(sql, id, admin, 'admin');
  for (const role of ['billing', 'manager', 'member'] as const) {
    await addMember(sql, id, await newPerson(), role);
  }
  const asked = await proved(id, 'fails.test', 'verified');
  assert.equal(await checkDomains(deps, never), 1);
  assert.equal((await stateOf(id, 'fails.test')).status, 'failing');
  assert.ok(await isDomainGood(sql, id, 'fails.test'));
  assert.deepEqual(changed, [id]);
  assert.deepEqual(written.map(({ accountId }) => accountId).sort(), [owner, admin].sort());
  assert.ok(written.every((each) => each.mail.template === 'domain_failing'));
  assert.equal(sent.length, 2);
  assert.equal(await checkDomains(deps, never), 0, 'it was asked about today');

  const tomorrow = () => sql`
    UPDATE organization_domains SET checked_at = checked_at - interval '1 day'`;
  await tomorrow();
  publish('fails.test', asked.token);
  assert.equal(await checkDomains(deps, never), 1);
  assert.deepEqual((await stateOf(id, 'fails.test')).failingAt, null);
  assert.equal(written.length, 2, 'nobody is told that all is well');

  for (const each of [zone, second]) each.reset();
  await tomorrow();
  await checkDomains(deps, never);
  await sql`UPDATE organization_domains SET failing_at = now() - interval '30 days'`;
  for (const fault of ['servfail', 'timeout']) {
    await tomorrow();
    for (const each of [zone, second]) each.set({ name: '_svc-challenge.fails.test', fault });
    assert.equal(await checkDomains(deps, never), 0);
    assert.equal((await stateOf(id, 'fails.test')).status, 'failing', fault);
  }
  for (const each of [zone, second]) each.reset();
  await tomorrow();
  await checkDomains(deps, never);
  const lost = await stateOf(id, 'fails.test');
  assert.equal(lost.status, 'lapsed');
  assert.ok(!(await isDomainGood(sql, id, 'fails.test')));
  assert.equal(written.at(-1)?.mail.template, 'domain_lapsed');

  const rival = await newOrganization();
  const theirs = await claim(rival, 'fails.test');
  publish('fails.test', theirs.token);
  const checked = await check(theirs);
  assert.ok(checked.status === 'checked' && checked.domain.status === 'verified');
});

test('claims end after 7 days without a question', async () => {
  const id = await newOrganization();
  const asked = await claim(id, 'slow.test');
  await claim(id, 'young.test');
  await sql`
    UPDATE organization_domains SET expires_at = now() - interval '1 second'
    WHERE domain = 'slow.test'`;
  publish('slow.test', asked.token);
  assert.equal(await checkDomains(deps, never), 1);
  assert.equal((await stateOf(id, 'slow.test')).status, 'expired');
  assert.equal((await stateOf(id, 'young.test')).status, 'pending');
  assert.deepEqual(zone.view().asked, []);
  assert.deepEqual(changed, []);
  const late = await check(asked);
  assert.ok(late.status === 'checked' && late.domain.status === 'expired');
});

test('a round that was cut off is gone on with; one domain does not stop the others', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `many${index}.test`);
  const ids = [await newOrganization(), await newOrganization()] as const;
  for (const [index, name] of names.entries()) {
    const asked = await proved(ids[index % 2] ?? 0, name, 'verified');
    publish(name, asked.token);
  }
  const cut = new AbortController();
  const cutting: RoundDeps = { ...deps, changed: async () => cut.abort() };
  second.set({ name: '_svc-challenge.many0.test', txt: null });
  await checkDomains(cutting, cut.signal);
  const first = zone.view().asked.length;
  assert.ok(first >= 1 && first < 30, `${first} were asked about`);

  const failing: RoundDeps = {
    ...deps,
    sql: new Proxy(sql, {
      get(target, member, receiver) {
        if (member !== 'begin' || broken === 0) return Reflect.get(target, member, receiver);
        broken -= 1;
        return () => Promise.reject(new Error('broken once'));
      },
    }),
  };
  let broken = 1;
  await checkDomains(failing, never);
  assert.equal(broken, 0);
  await checkDomains(deps, never);
  const rest = zone.view().asked.map(({ name }) => name);
  assert.equal(new Set(rest).size, 30);
  assert.equal(rest.length, 31, 'each once, and the one that failed twice');
  const states = (await Promise.all(ids.map((id) => listDomains(sql, id)))).flat();
  assert.deepEqual(
    states.filter(({ status }) => status === 'failing').map((s) => s.domain),
    ['many0.test'],
  );
  const types = zone.view().asked.filter(({ name, type }) => {
    return type !== 'TXT' || !/^_svc-challenge\.many\d+\.test$/.test(name);
  });
  assert.deepEqual(types, [], 'nothing else is asked');
});

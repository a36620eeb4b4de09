// Every setting of an organization with what it does where it acts, and who may change which. A
// setting whose domain has not landed names its issue; one without a row fails.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join as joined } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  defaultSettings,
  type OrganizationSettings,
} from '../../../actors/organization/settings.ts';
import { newId } from '../../../runtime/ids.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makePerson, type TestPerson } from '../me/person.ts';
import { type Company, join, type Members, makeCompany, refusalOf, rowOf } from './company.ts';

type Name = keyof OrganizationSettings;

/** The test that shows its effect, below `test`; or the issue that brings what it acts on. */
const rows: Readonly<Record<Name, { test: string } | { issue: string }>> = {
  centralized_billing: { test: 'db/organizations/payer.test.ts' },
  allow_personal_billing_fallback: { test: 'actors/organization/fallback.test.ts' },
  member_api_keys: { test: 'routes/organizations/settings.test.ts' },
  allow_member_kb_create: { issue: 'Knowledge' },
  require_verified_domain: { test: 'routes/organizations/settings.test.ts' },
  default_knowledge_visibility: { issue: 'Knowledge' },
  knowledge_model_egress: { issue: 'Knowledge' },
  data_residency_region: { test: 'routes/organizations/settings.test.ts' },
  retention_days: { issue: 'Knowledge' },
  audit_retention_days: { test: 'actors/audit/pruning.test.ts' },
  member_directory_visibility: { test: 'routes/organizations/settings.test.ts' },
  usage_visibility: { issue: 'Observability' },
  infrastructure_visibility: { test: 'routes/organizations/acting.test.ts' },
  legal_hold: { test: 'routes/organizations/settings.test.ts' },
  monthly_spend_limit_micros: { test: 'routes/organizations/settings.test.ts' },
  default_member_spend_limit_micros: { test: 'routes/organizations/settings.test.ts' },
  connector_policy: { issue: 'Connectors' },
  allowed_connectors: { issue: 'Connectors' },
  connector_tool_policy: { issue: 'Connectors' },
  allowed_connector_tools: { issue: 'Connectors' },
  notetaker_policy: { issue: 'Meetings' },
  routing_policy: { test: 'routes/organizations/settings.test.ts' },
  mcp_policy: { test: 'routes/organizations/settings.test.ts' },
  allowed_mcp_domains: { test: 'routes/organizations/settings.test.ts' },
};

let bed: Testbed;
let contract: Contract;
let company: Company;
let member: TestPerson;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  company = await makeCompany(bed, contract);
  member = await makePerson(bed, contract);
  await join(company, member, 'member');
});
after(() => bed?.close());

const settingsPath = () => `${company.path}/settings`;

async function set(settings: Partial<OrganizationSettings>, more: Members = {}): Promise<Reply> {
  const reply = await company.owner.call('PATCH', settingsPath(), { settings, ...more });
  assert.equal(reply.status, 200, reply.text);
  return reply;
}

/** With these settings, and as they were again afterwards. */
async function under(settings: Partial<OrganizationSettings>, work: () => Promise<void>) {
  const names = Object.keys(settings) as Name[];
  await set(settings);
  try {
    await work();
  } finally {
    await set(Object.fromEntries(names.map((name) => [name, defaultSettings[name]])));
  }
}

/** Calls as the person acts in the organization. */
function inCompany(person: TestPerson, method: string, path: string, body?: Members) {
  const headers = {
    'x-svc-session': person.session.token,
    'x-svc-organization': `${company.id}`,
  };
  return contract.call(method, path, { headers, ...(body === undefined ? {} : { body }) });
}

async function keyOf(person: TestPerson): Promise<{ id: string; token: string }> {
  const made = await inCompany(person, 'POST', '/api/me/api-keys', { label: 'a' });
  assert.equal(made.status, 201, made.text);
  const { api_key: key, raw_token: token } = made.json as {
    api_key: { id: string };
    raw_token: string;
  };
  return { id: key.id, token };
}

function answer(token: string, body: Members = {}): Promise<Reply> {
  return contract.call('POST', '/v1/chat/completions', {
    headers: { authorization: `Bearer ${token}` },
    body: {
      model: 'svc-sim-chat',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 20,
      ...body,
    },
  });
}

/** Credits for the organization. */
async function grant(micros: bigint): Promise<void> {
  const { wallet_id: walletId } = await rowOf(bed, company);
  const reply = await bed.wallet(walletId, 'grant', {
    operationId: newId('req', 0),
    kind: 'promotion',
    amountMicros: micros,
    note: 'test',
    expiresAtMs: null,
  });
  assert.equal(reply.status, 'granted');
}

test('every setting has a row, and every row a test that is there or an issue', () => {
  assert.deepEqual(Object.keys(rows).sort(), Object.keys(defaultSettings).sort());
  const folder = fileURLToPath(new URL('../../../../test/', import.meta.url));
  for (const [name, row] of Object.entries(rows)) {
    if ('issue' in row) console.log(`# ${name} acts with the issue ${row.issue}`);
    else assert.ok(existsSync(joined(folder, row.test)), `${name}: ${row.test}`);
  }
});

test('all read them; owners and admins change them, billing those of money', async () => {
  const read = await member.call('GET', settingsPath());
  assert.equal(read.status, 200, read.text);
  assert.deepEqual(read.json.settings, defaultSettings);
  const options = read.json.options as { models: string[]; regions: string[] };
  assert.ok(options.models.includes('svc-sim-chat'));
  assert.deepEqual(options.regions, ['auto']);
  const change = { settings: { retention_days: 30 } };
  assert.equal(refusalOf(await member.call('PATCH', settingsPath(), change)), '403 forbidden role');
  const billing = await makePerson(bed, contract);
  await join(company, billing, 'billing');
  const refused = await billing.call('PATCH', settingsPath(), change);
  assert.equal(refusalOf(refused), '403 forbidden role');
  const capped = await billing.call('PATCH', settingsPath(), {
    settings: { monthly_spend_limit_micros: 1_000 },
  });
  assert.equal(capped.status, 200, capped.text);
  await set({ monthly_spend_limit_micros: null });
});

test('a change is checked, merged and told; on another revision it is refused', async () => {
  const before = await company.owner.call('GET', settingsPath());
  const revision = before.json.revision as number;
  const done = await set(
    { allowed_mcp_domains: ['*.Example.COM'], retention_days: 30 },
    { expected_revision: revision },
  );
  const settings = done.json.settings as OrganizationSettings;
  assert.deepEqual(settings.allowed_mcp_domains, ['*.example.com']);
  assert.equal(settings.retention_days, 30);
  const stale = await company.owner.call('PATCH', settingsPath(), {
    settings: { retention_days: 31 },
    expected_revision: revision,
  });
  assert.equal(stale.status, 409);
  const [newest] = (await company.owner.call('GET', `${company.path}/audit?limit=1`)).json
    .data as Members[];
  assert.equal(
    (newest?.record as Members | undefined)?.action ?? newest?.action,
    'settings.update',
  );
  await set({ allowed_mcp_domains: [], retention_days: 90 });
  const fault = async (wrong: Members) => {
    const reply = await company.owner.call('PATCH', settingsPath(), { settings: wrong });
    const { details } = reply.json.error as { details: Members };
    return `${refusalOf(reply)} ${details.path}`;
  };
  assert.match(await fault({ retention_days: 0 }), /^400 invalid_request settings\.retention_days/);
  assert.equal(
    await fault({ allowed_mcp_domains: ['*.co.uk'] }),
    '400 invalid_request settings.allowed_mcp_domains.0',
  );
  assert.equal(
    await fault({ data_residency_region: 'eu' }),
    '400 invalid_request region_unavailable settings.data_residency_region',
  );
});

test('members make and use keys only while they may', async () => {
  const { token } = await keyOf(member);
  await under({ member_api_keys: false }, async () => {
    assert.equal((await answer(token)).status, 403);
    const made = await inCompany(member, 'POST', '/api/me/api-keys', { label: 'b' });
    const { code, details } = made.json.error as { code: string; details: Members };
    assert.deepEqual([code, details.rule], ['policy_blocked', 'member_api_keys']);
    const owners = await inCompany(company.owner, 'POST', '/api/me/api-keys', { label: 'c' });
    assert.equal(owners.status, 201, owners.text);
  });
  assert.notEqual((await answer(token)).status, 403, 'the key only rested');
});

test('models, providers and regions that are not allowed are refused, and not listed', async () => {
  await grant(50_000_000n);
  const { token } = await keyOf(member);
  const listed = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const { json } = await contract.call('GET', '/v1/models', { headers });
    return (json.data as { id: string }[]).map(({ id }) => id);
  };
  assert.equal((await answer(token)).status, 200);
  await under({ routing_policy: { denied_models: ['svc-sim-chat'] } }, async () => {
    assert.equal((await answer(token)).status, 403);
    assert.equal((await answer(token, { model: 'svc-sim-messages' })).status, 200);
    assert.ok(!(await listed()).includes('svc-sim-chat'));
  });
  await under({ routing_policy: { allowed_providers: ['nobody'] } }, async () => {
    assert.equal((await answer(token)).status, 403, 'its provider has no public name');
    assert.equal((await answer(token, { model: 'svc-intelligent' })).status, 403);
    assert.deepEqual(await listed(), []);
  });
  assert.ok((await listed()).includes('svc-sim-chat'));
  const narrowed = { metadata: { routing_policy: { denied_models: ['svc-sim-chat'] } } };
  assert.equal((await answer(token, narrowed)).status, 403);
  const text = { metadata: { routing_policy: '{"allowed_models":["svc-sim-chat"]}' } };
  assert.equal((await answer(token, text)).status, 200);
  const wrong = await answer(token, { metadata: { routing_policy: '{"who":1}' } });
  assert.equal(wrong.status, 400);
});

test('a cap is named when it is reached, and the default is for members', async () => {
  await grant(50_000_000n);
  const { token } = await keyOf(member);
  const refusal = async () => {
    const reply = await answer(token);
    const { code, message } = reply.json.error as { code: string; message: string };
    return `${reply.status} ${code} ${message}`;
  };
  await under({ monthly_spend_limit_micros: 0 }, async () => {
    assert.match(await refusal(), /^402 spend_limit_exceeded .*organization/);
  });
  await under({ default_member_spend_limit_micros: 0 }, async () => {
    assert.match(await refusal(), /^402 spend_limit_exceeded .*member/);
    const { token: owners } = await keyOf(company.owner);
    assert.equal((await answer(owners)).status, 200, 'owners are exempt from the default');
  });
  assert.equal((await answer(token)).status, 200);
});

test('without a domain of the organization a member waits outside', async () => {
  await under({ require_verified_domain: true }, async () => {
    const kept = await inCompany(member, 'GET', '/api/me/api-keys');
    const { code, details } = kept.json.error as { code: string; details: Members };
    assert.deepEqual([code, details.rule], ['policy_blocked', 'require_verified_domain']);
    const owners = await inCompany(company.owner, 'GET', '/api/me/api-keys');
    assert.equal(owners.status, 200, 'the canonical owner never waits');
    const invited = await makePerson(bed, contract);
    const invitation = await company.owner.call('POST', `${company.path}/invitations`, {
      email: invited.email,
      role: 'member',
    });
    const { id } = invitation.json.invitation as { id: string };
    const refused = await invited.call('POST', `/api/me/invitations/${id}/accept`);
    assert.equal(refused.status, 403, refused.text);
    await company.owner.call('DELETE', `${company.path}/invitations/${id}`);
  });
});

test('the directory is for managers where it is so', async () => {
  const seen = async () => {
    const reply = await member.call('GET', `${company.path}/members`);
    return (reply.json.data as unknown[]).length;
  };
  assert.ok((await seen()) > 1);
  await under({ member_directory_visibility: 'managers' }, async () => {
    assert.equal(await seen(), 1);
  });
});

test('MCP servers are added where their host may be', async () => {
  const add = async () => {
    const body = { name: 'One', url: 'https://mcp.example.com/mcp' };
    return inCompany(member, 'POST', '/api/me/mcp-servers', body);
  };
  await under({ mcp_policy: 'none' }, async () => {
    assert.equal((await add()).status, 403);
  });
  await under({ mcp_policy: 'allowlist', allowed_mcp_domains: ['other.example'] }, async () => {
    const refused = await add();
    const { details } = refused.json.error as { details: Members };
    assert.equal(details.rule, 'mcp_policy');
  });
});

test('the legal hold is the canonical owner’s, confirmed, and ends with a reason', async () => {
  const admin = await makePerson(bed, contract);
  await join(company, admin, 'admin');
  const hold = (legal: boolean, more: Members) => ({ settings: { legal_hold: legal }, ...more });
  const by = async (person: TestPerson, body: Members) =>
    refusalOf(await person.call('PATCH', settingsPath(), body));
  assert.equal(await by(admin, hold(true, { confirm: true })), '403 forbidden role');
  assert.equal(await by(company.owner, hold(true, {})), '400 invalid_request');
  assert.equal(await by(company.owner, hold(true, { confirm: true })), '200');
  const close = { confirm: company.name };
  assert.equal(
    refusalOf(await company.owner.call('POST', `${company.path}/close`, close)),
    '409 invalid_state legal_hold',
  );
  assert.equal(await by(company.owner, hold(false, { confirm: true })), '400 invalid_request');
  assert.equal(await by(company.owner, hold(false, { confirm: true, reason: 'Over.' })), '200');
});

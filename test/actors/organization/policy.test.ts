// What an organization lets its people do: each rule at its edge, and that stricter settings allow
// nothing more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decide,
  type Policy,
  type PolicyAction,
  type PolicyRule,
} from '../../../actors/organization/policy.ts';
import { type OrganizationSettings, readSettings } from '../../../actors/organization/settings.ts';
import { organizationRoles } from '../../../db/organizations/role.ts';
import { fc } from '../../harness/properties.ts';

function policyOf(settings: Partial<OrganizationSettings>, members: Partial<Policy> = {}): Policy {
  return {
    status: 'active',
    role: 'member',
    isCanonicalOwner: false,
    hasVerifiedDomain: false,
    settings: readSettings(settings),
    settingsRevision: 7n,
    ...members,
  };
}

const euTarget = { publicName: 'acme', region: 'eu' };

/** A setting, an action that it blocks, and one beside it that it does not. */
const cases: readonly [Partial<OrganizationSettings>, PolicyAction, PolicyAction, PolicyRule][] = [
  [
    { require_verified_domain: true },
    { kind: 'context.use', isRead: true },
    { kind: 'data.erase' },
    'require_verified_domain',
  ],
  [
    { require_verified_domain: true },
    { kind: 'member.join' },
    { kind: 'data.erase' },
    'require_verified_domain',
  ],
  [
    { member_api_keys: false },
    { kind: 'key.use' },
    { kind: 'context.use', isRead: false },
    'member_api_keys',
  ],
  [
    { member_api_keys: false },
    { kind: 'key.create' },
    { kind: 'context.use', isRead: false },
    'member_api_keys',
  ],
  [
    { allow_member_kb_create: false },
    { kind: 'knowledge.create' },
    { kind: 'knowledge.share' },
    'allow_member_kb_create',
  ],
  [
    { member_directory_visibility: 'managers' },
    { kind: 'directory.read', isSelf: false },
    { kind: 'directory.read', isSelf: true },
    'member_directory_visibility',
  ],
  [
    {},
    { kind: 'usage.read', isSelf: false },
    { kind: 'usage.read', isSelf: true },
    'usage_visibility',
  ],
  [
    {},
    { kind: 'infrastructure.read' },
    { kind: 'usage.read', isSelf: true },
    'infrastructure_visibility',
  ],
  [
    { data_residency_region: 'us' },
    { kind: 'model.use', alias: 'm', target: euTarget },
    { kind: 'model.use', alias: 'm', target: null },
    'data_residency_region',
  ],
  [
    { routing_policy: { denied_models: ['m'] } },
    { kind: 'model.use', alias: 'm', target: null },
    { kind: 'model.use', alias: 'n', target: null },
    'routing_policy',
  ],
  [
    { routing_policy: { allowed_models: ['n'] } },
    { kind: 'model.use', alias: 'm', target: null },
    { kind: 'model.use', alias: 'n', target: null },
    'routing_policy',
  ],
  [
    { routing_policy: { allowed_providers: ['other'] } },
    { kind: 'model.use', alias: 'm', target: euTarget },
    { kind: 'model.use', alias: 'm', target: { publicName: 'other', region: null } },
    'routing_policy',
  ],
  [
    { routing_policy: { allowed_providers: ['acme'] } },
    { kind: 'model.use', alias: 'm', target: { publicName: null, region: null } },
    { kind: 'model.use', alias: 'm', target: euTarget },
    'routing_policy',
  ],
  [
    { routing_policy: { denied_providers: ['acme'] } },
    { kind: 'model.use', alias: 'm', target: euTarget },
    { kind: 'model.use', alias: 'm', target: { publicName: null, region: null } },
    'routing_policy',
  ],
  [
    { connector_policy: 'none' },
    { kind: 'connector.link', connector: 'mail' },
    { kind: 'mcp.add', host: 'a.example.com' },
    'connector_policy',
  ],
  [
    { connector_policy: 'allowlist', allowed_connectors: ['mail'] },
    { kind: 'connector.link', connector: 'drive' },
    { kind: 'connector.call', connector: 'mail', tool: 'send' },
    'connector_policy',
  ],
  [
    { connector_tool_policy: 'allowlist', allowed_connector_tools: ['mail.read', 'drive.*'] },
    { kind: 'connector.call', connector: 'mail', tool: 'send' },
    { kind: 'connector.call', connector: 'drive', tool: 'send' },
    'connector_tool_policy',
  ],
  [
    { notetaker_policy: 'managers' },
    { kind: 'notetaker.send' },
    { kind: 'context.use', isRead: false },
    'notetaker_policy',
  ],
  [
    {},
    { kind: 'knowledge.egress', destination: 'local' },
    { kind: 'knowledge.egress', destination: 'svc_hosted' },
    'knowledge_model_egress',
  ],
  [
    { knowledge_model_egress: 'svc_hosted_or_local' },
    { kind: 'knowledge.egress', destination: 'external' },
    { kind: 'knowledge.egress', destination: 'local' },
    'knowledge_model_egress',
  ],
  [
    { mcp_policy: 'none' },
    { kind: 'mcp.call', host: 'a.example.com' },
    { kind: 'context.use', isRead: false },
    'mcp_policy',
  ],
  [
    { mcp_policy: 'allowlist', allowed_mcp_domains: ['*.example.com'] },
    { kind: 'mcp.add', host: 'example.com' },
    { kind: 'mcp.add', host: 'A.Example.COM' },
    'mcp_policy',
  ],
  [
    { legal_hold: true },
    { kind: 'data.erase' },
    { kind: 'context.use', isRead: false },
    'legal_hold',
  ],
];

test('each setting blocks its action, and nothing beside it', () => {
  for (const [settings, blocked, allowed, rule] of cases) {
    const policy = policyOf(settings);
    const name = JSON.stringify([settings, blocked]);
    assert.deepEqual(decide(policy, blocked), { allowed: false, rule, revision: 7n }, name);
    assert.deepEqual(decide(policy, allowed), { allowed: true, rule: null, revision: 7n }, name);
  }
});

test('without an organization everything is allowed', () => {
  for (const [, action] of cases) {
    assert.deepEqual(decide(null, action), { allowed: true, rule: null, revision: null });
  }
});

test('a role that the rule exempts is let through, and so is a key of the organization', () => {
  const off = { member_api_keys: false, notetaker_policy: 'managers' as const };
  const allowed = (role: Policy['role'], action: PolicyAction) =>
    decide(policyOf(off, { role }), action).allowed;
  assert.deepEqual(
    [...organizationRoles, null].map((role) => allowed(role, { kind: 'key.use' })),
    [true, true, false, false, false, true],
  );
  assert.deepEqual(
    organizationRoles.map((role) => allowed(role, { kind: 'notetaker.send' })),
    [true, true, false, true, false],
  );
  const needed = { require_verified_domain: true };
  const use = { kind: 'context.use', isRead: false } as const;
  assert.equal(decide(policyOf(needed, { isCanonicalOwner: true }), use).allowed, true);
  assert.equal(decide(policyOf(needed, { hasVerifiedDomain: true }), use).allowed, true);
});

test('a suspended organization reads and erases, a closed one is its owner’s to read', () => {
  const use = { kind: 'context.use', isRead: false } as const;
  const read = { kind: 'context.use', isRead: true } as const;
  const suspended = policyOf({}, { status: 'suspended' });
  assert.equal(decide(suspended, use).rule, 'organization_status');
  assert.equal(decide(suspended, { kind: 'key.use' }).rule, 'organization_status');
  assert.equal(decide(suspended, read).allowed, true);
  assert.equal(decide(suspended, { kind: 'directory.read', isSelf: false }).allowed, true);
  const closed = policyOf({}, { status: 'closed' });
  assert.equal(decide(closed, read).rule, 'organization_status');
  assert.equal(decide({ ...closed, isCanonicalOwner: true }, read).allowed, true);
  assert.equal(decide({ ...closed, isCanonicalOwner: true }, use).allowed, false);
  assert.equal(decide(closed, { kind: 'data.erase' }).allowed, true);
});

test('stricter settings allow nothing more, whatever they are', () => {
  const strict = fc.subarray(cases.map(([settings]) => settings));
  fc.assert(
    fc.property(strict, fc.constantFrom(...organizationRoles), (settings, role) => {
      const open = policyOf({ knowledge_model_egress: 'any_configured_provider' }, { role });
      const stricter = { ...open.settings, ...Object.assign({}, ...settings) };
      for (const action of cases.flatMap(([, blocked, allowed]) => [blocked, allowed])) {
        if (decide(open, action).allowed) continue;
        const { allowed } = decide({ ...open, settings: stricter }, action);
        assert.equal(allowed, false, JSON.stringify([settings, action]));
      }
    }),
  );
});

// What an organization lets its people do (organizations.md, section 4): one pure function, without
// clock and I/O. Null is no organization, which allows everything.
import type { OrganizationRole } from '../../db/organizations/role.ts';
import type { OrganizationContext } from './context.ts';
import { matchesAny } from './host-pattern.ts';
import type { OrganizationSettings } from './settings.ts';

/** What is known of the organization and of who acts in it. */
export type Policy = Pick<
  OrganizationContext,
  'status' | 'role' | 'isCanonicalOwner' | 'hasVerifiedDomain' | 'settings' | 'settingsRevision'
>;

/** Where a provider's route stands, as policies name it. */
export interface PolicyTarget {
  /** Without one a provider is on no list. */
  publicName: string | null;
  region: string | null;
}

export type PolicyAction =
  /** A request that begins or changes something, and one that only reads. */
  | { kind: 'context.use'; isRead: boolean }
  | { kind: 'key.use' }
  | { kind: 'key.create' }
  /** `target` null: whether the alias is allowed at all. */
  | { kind: 'model.use'; alias: string; target: PolicyTarget | null }
  | { kind: 'knowledge.create' }
  | { kind: 'knowledge.share' }
  | { kind: 'directory.read'; isSelf: boolean }
  | { kind: 'usage.read'; isSelf: boolean }
  | { kind: 'infrastructure.read' }
  | { kind: 'connector.link'; connector: string }
  | { kind: 'connector.call'; connector: string; tool: string }
  | { kind: 'mcp.add'; host: string }
  | { kind: 'mcp.call'; host: string }
  | { kind: 'notetaker.send' }
  | { kind: 'knowledge.egress'; destination: 'svc_hosted' | 'local' | 'external' }
  | { kind: 'data.erase' }
  | { kind: 'member.join' };

/** The setting that blocks, or the status of the organization. */
export type PolicyRule = keyof OrganizationSettings | 'organization_status';

export interface PolicyDecision {
  allowed: boolean;
  /** Null when it is allowed. */
  rule: PolicyRule | null;
  /** The revision of the settings that decided; null without an organization. */
  revision: bigint | null;
}

/** What goes on while nothing new may begin. */
const goesOn: ReadonlySet<PolicyAction['kind']> = new Set([
  'directory.read',
  'usage.read',
  'infrastructure.read',
  'data.erase',
]);

export function decide(policy: Policy | null, action: PolicyAction): PolicyDecision {
  if (policy === null) return { allowed: true, rule: null, revision: null };
  const rule = stands(policy, action) ? ruleAgainst(policy, action) : 'organization_status';
  return { allowed: rule === null, rule, revision: policy.settingsRevision };
}

/** Whether the status of the organization lets it be. */
function stands({ status, isCanonicalOwner }: Policy, action: PolicyAction): boolean {
  if (status === 'active') return true;
  if (action.kind === 'data.erase') return true;
  const isRead = goesOn.has(action.kind) || (action.kind === 'context.use' && action.isRead);
  return isRead && (status === 'suspended' || isCanonicalOwner);
}

function ruleAgainst(policy: Policy, action: PolicyAction): PolicyRule | null {
  const { settings } = policy;
  switch (action.kind) {
    case 'context.use':
    case 'member.join':
      return isOfDomain(policy) ? null : 'require_verified_domain';
    case 'key.use':
    case 'key.create':
      return settings.member_api_keys || isOneOf(policy, ['owner', 'admin'])
        ? null
        : 'member_api_keys';
    case 'model.use':
      return ruleAgainstModel(settings, action);
    case 'knowledge.create':
      return settings.allow_member_kb_create || isOneOf(policy, ['owner', 'admin', 'manager'])
        ? null
        : 'allow_member_kb_create';
    case 'knowledge.share':
      return null;
    case 'directory.read':
    case 'usage.read':
    case 'infrastructure.read':
      return ruleAgainstReading(policy, action);
    case 'connector.link':
    case 'connector.call':
      return ruleAgainstConnector(settings, action);
    case 'mcp.add':
    case 'mcp.call':
      return ruleAgainstHost(settings, action.host);
    case 'notetaker.send':
      return maySendNotetaker(policy) ? null : 'notetaker_policy';
    case 'knowledge.egress':
      return mayLeave(settings, action.destination) ? null : 'knowledge_model_egress';
    case 'data.erase':
      return settings.legal_hold ? 'legal_hold' : null;
  }
}

/** Null is the organization itself, by a key of its own. */
function isOneOf({ role }: Policy, roles: readonly OrganizationRole[]): boolean {
  return role === null || roles.includes(role);
}

function isOfDomain({ role, settings, hasVerifiedDomain, isCanonicalOwner }: Policy): boolean {
  if (!settings.require_verified_domain || role === null) return true;
  return hasVerifiedDomain || isCanonicalOwner;
}

function ruleAgainstModel(
  { routing_policy: routing, data_residency_region: region }: OrganizationSettings,
  { alias, target }: Extract<PolicyAction, { kind: 'model.use' }>,
): PolicyRule | null {
  const isNamed = routing.allowed_models?.includes(alias) ?? true;
  if (!isNamed || routing.denied_models?.includes(alias) === true) return 'routing_policy';
  if (target === null) return null;
  if (region !== 'auto' && target.region !== region) return 'data_residency_region';
  const { publicName } = target;
  const { allowed_providers: allowed, denied_providers: denied } = routing;
  const isListed =
    (allowed ?? null) === null || (publicName !== null && allowed?.includes(publicName));
  const isDenied = publicName !== null && denied?.includes(publicName) === true;
  return isListed && !isDenied ? null : 'routing_policy';
}

function ruleAgainstReading(
  policy: Policy,
  action: Extract<PolicyAction, { kind: 'directory.read' | 'usage.read' | 'infrastructure.read' }>,
): PolicyRule | null {
  const { settings } = policy;
  if (action.kind === 'infrastructure.read') {
    return isOneOf(policy, ['owner', 'admin', 'manager']) ? null : 'infrastructure_visibility';
  }
  if (action.isSelf) return null;
  if (action.kind === 'directory.read') {
    const isOpen = settings.member_directory_visibility === 'organization';
    return isOpen || isOneOf(policy, ['owner', 'admin', 'manager'])
      ? null
      : 'member_directory_visibility';
  }
  const alsoManagers = settings.usage_visibility === 'managers' ? (['manager'] as const) : [];
  return isOneOf(policy, ['owner', 'admin', 'billing', ...alsoManagers])
    ? null
    : 'usage_visibility';
}

function ruleAgainstConnector(
  settings: OrganizationSettings,
  action: Extract<PolicyAction, { kind: 'connector.link' | 'connector.call' }>,
): PolicyRule | null {
  const { connector_policy: linking, connector_tool_policy: calling } = settings;
  if (linking === 'none') return 'connector_policy';
  if (linking === 'allowlist' && !settings.allowed_connectors.includes(action.connector)) {
    return 'connector_policy';
  }
  if (action.kind === 'connector.link' || calling === 'all') return null;
  const { connector, tool } = action;
  const isListed = [`${connector}.${tool}`, `${connector}.*`].some((name) =>
    settings.allowed_connector_tools.includes(name),
  );
  return isListed ? null : 'connector_tool_policy';
}

function ruleAgainstHost(settings: OrganizationSettings, host: string): PolicyRule | null {
  if (settings.mcp_policy === 'all') return null;
  if (settings.mcp_policy === 'none') return 'mcp_policy';
  return matchesAny(settings.allowed_mcp_domains, host) ? null : 'mcp_policy';
}

function maySendNotetaker(policy: Policy): boolean {
  const { notetaker_policy: rule } = policy.settings;
  if (rule === 'managers') return isOneOf(policy, ['owner', 'admin', 'manager']);
  return rule === 'all';
}

const egressOf = {
  svc_hosted_only: 0,
  svc_hosted_or_local: 1,
  any_configured_provider: 2,
} as const;
const reachOf = { svc_hosted: 0, local: 1, external: 2 } as const;

function mayLeave(
  { knowledge_model_egress: egress }: OrganizationSettings,
  destination: keyof typeof reachOf,
): boolean {
  return reachOf[destination] <= egressOf[egress];
}

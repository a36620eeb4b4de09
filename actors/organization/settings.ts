// The settings of an organization (specification 2.7; organizations.md, section 5): schema,
// defaults, and how a change is merged. The row has only what differs from the defaults.
import * as v from 'valibot';

/** 200 domains, 200 connectors, 1,000 tools, 1,000 names of a routing policy. */
const listed = (countMax: number, pattern: RegExp, expected: string, lengthMax: number) =>
  v.pipe(
    v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(lengthMax), v.regex(pattern, expected))),
    v.maxLength(countMax),
  );
const names = (countMax: number, lengthMax = 200) =>
  listed(countMax, /\S/, 'expected a name', lengthMax);
const days = (min: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(3_650));
const micros = v.nullable(
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER)),
);

const routingPolicySchema = v.strictObject({
  allowed_providers: v.optional(v.nullable(names(1_000))),
  denied_providers: v.optional(v.nullable(names(1_000))),
  allowed_models: v.optional(v.nullable(names(1_000))),
  denied_models: v.optional(v.nullable(names(1_000))),
  max_cost_premium_percent: v.optional(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000))),
  ),
});

const entries = {
  centralized_billing: v.boolean(),
  allow_personal_billing_fallback: v.boolean(),
  member_api_keys: v.boolean(),
  allow_member_kb_create: v.boolean(),
  require_verified_domain: v.boolean(),
  default_knowledge_visibility: v.picklist(['private', 'team']),
  knowledge_model_egress: v.picklist([
    'svc_hosted_only',
    'svc_hosted_or_local',
    'any_configured_provider',
  ]),
  data_residency_region: v.picklist(['auto', 'us', 'eu', 'in', 'apac']),
  retention_days: days(1),
  audit_retention_days: days(90),
  member_directory_visibility: v.picklist(['managers', 'organization']),
  usage_visibility: v.picklist(['billing', 'managers']),
  infrastructure_visibility: v.picklist(['managers']),
  legal_hold: v.boolean(),
  monthly_spend_limit_micros: micros,
  default_member_spend_limit_micros: micros,
  connector_policy: v.picklist(['all', 'none', 'allowlist']),
  allowed_connectors: names(200),
  connector_tool_policy: v.picklist(['all', 'allowlist']),
  allowed_connector_tools: listed(
    1_000,
    /^[^.\s]+\.(?:\*|\S+)$/,
    'expected connector.tool or connector.*',
    200,
  ),
  notetaker_policy: v.picklist(['all', 'managers', 'none']),
  routing_policy: routingPolicySchema,
  mcp_policy: v.picklist(['all', 'none', 'allowlist']),
  allowed_mcp_domains: names(200, 253),
} as const;

/** All of them, as they act. */
export const settingsSchema = v.strictObject(entries);
export type OrganizationSettings = v.InferOutput<typeof settingsSchema>;

/** What a change may name; the others stay. */
export const settingsChangeSchema = v.partial(settingsSchema);
export type SettingsChange = v.InferOutput<typeof settingsChangeSchema>;

/** A new organization restricts nothing. */
export const defaultSettings: Readonly<OrganizationSettings> = {
  centralized_billing: true,
  allow_personal_billing_fallback: false,
  member_api_keys: true,
  allow_member_kb_create: true,
  require_verified_domain: false,
  default_knowledge_visibility: 'private',
  knowledge_model_egress: 'svc_hosted_only',
  data_residency_region: 'auto',
  retention_days: 90,
  audit_retention_days: 365,
  member_directory_visibility: 'organization',
  usage_visibility: 'billing',
  infrastructure_visibility: 'managers',
  legal_hold: false,
  monthly_spend_limit_micros: null,
  default_member_spend_limit_micros: null,
  connector_policy: 'all',
  allowed_connectors: [],
  connector_tool_policy: 'all',
  allowed_connector_tools: [],
  notetaker_policy: 'all',
  routing_policy: {},
  mcp_policy: 'all',
  allowed_mcp_domains: [],
};

/** What a row has, as it acts. */
export function readSettings(stored: Readonly<Record<string, unknown>>): OrganizationSettings {
  return { ...defaultSettings, ...stored } as OrganizationSettings;
}

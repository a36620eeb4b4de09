// The request fields that all generation formats share (specification 2.9): their schemas, and how
// they are read. `nullish` members: clients send null for "not set".
import * as v from 'valibot';
import { lineOfText, maxCharacters, visibleAscii } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { type RoutingPolicy, readRoutingPolicy } from '../choose/policy.ts';
import type { ClientContext, OutputFormat, RequestControls } from '../request.ts';
import { assertOutputFormat } from '../structured.ts';

const clientContext = v.pipe(
  v.strictObject({
    timezone: v.nullish(v.pipe(v.string(), maxCharacters(100))),
    utc_offset_minutes: v.nullish(
      v.pipe(v.number(), v.integer(), v.minValue(-840), v.maxValue(840)),
    ),
    locale: v.nullish(v.pipe(v.string(), maxCharacters(40))),
    temperature_unit: v.nullish(v.picklist(['celsius', 'fahrenheit'])),
    share_location: v.nullish(v.boolean()),
    location: v.nullish(v.record(v.string(), v.unknown())),
  }),
  v.description(
    'What the client knows of its user. The model is told local date and time (by timezone, ' +
      'else by utc_offset_minutes), locale, temperature unit and, when shared, location in one ' +
      'line in front of the last user turn, so that all before it stays in prompt caches; a web ' +
      'search takes language and country from the locale. Location is ignored unless ' +
      'share_location is true.',
  ),
);

const optimization = v.pipe(
  v.strictObject({
    profile: v.nullish(v.picklist(['general', 'code', 'research'])),
    mode: v.nullish(v.picklist(['off', 'balanced', 'aggressive', 'auto', 'safe'])),
    engine: v.nullish(v.literal('svc_optimizer')),
    allow_lossy_context: v.nullish(v.boolean()),
  }),
  v.description(
    'How the context is shortened. profile is `code` if absent, mode `off` if absent; the modes ' +
      'auto and safe are taken as balanced. Tool output is only pruned with allow_lossy_context. ' +
      'svc-intelligent and svc-coder always optimize, their -direct variants never.',
  ),
);

const routingPolicy = v.union([v.pipe(v.string(), maxCharacters(100_000)), v.looseObject({})]);

const metadata = v.pipe(
  v.looseObject({
    require_web_search: v.nullish(v.boolean()),
    intelligent_reroute: v.nullish(v.boolean()),
    routing_policy: v.nullish(routingPolicy),
  }),
  v.description(
    'Of the application, and what the service is asked: require_web_search fails rather than ' +
      'answers without current web context; intelligent_reroute selects a model again where a ' +
      'managed route would keep that of the conversation; routing_policy, an object or its JSON ' +
      'text, narrows which providers and models may answer (allowed_providers, ' +
      'denied_providers, allowed_models, denied_models, max_cost_premium_percent). What it ' +
      'leaves nothing of is 403 `policy_blocked`.',
  ),
);

const webSearch = v.pipe(
  v.boolean(),
  v.description(
    'true asks for current web context, false forbids it; absence lets the service decide.',
  ),
);

const formatType = v.picklist(['text', 'json_object', 'json_schema']);

/** `{type, …}` of a response format; what else it needs is checked by `readOutputFormat`. */
const formatDeclaration = v.looseObject({ type: formatType });

const responseFormat = v.pipe(
  formatDeclaration,
  v.description(
    'Stands in front of `text.format`. With `json_schema` it has `json_schema`: `name`, `schema` ' +
      'and perhaps `strict`; the answer is checked against the schema.',
  ),
);

const textFormat = v.pipe(
  formatDeclaration,
  v.description('With `json_schema` it has `name`, `schema` and perhaps `strict` beside `type`.'),
);

const oneChoice = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(1, 'it must be 1, only one choice is produced'),
);

const idempotencyKey = v.pipe(
  visibleAscii(160),
  v.description('As the header `Idempotency-Key`; where both are sent they must be the same.'),
);

const tokenCeiling = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1)));

export const modelAlias = v.pipe(v.string(), v.minLength(1), maxCharacters(200));

/** Entries to spread into a format's own object schema. */
export const sharedFields = {
  model: modelAlias,
  stream: v.nullish(v.boolean()),
  instructions: v.nullish(v.string()),
  max_output_tokens: tokenCeiling,
  max_completion_tokens: tokenCeiling,
  max_tokens: tokenCeiling,
  n: v.nullish(oneChoice),
  response_format: v.nullish(responseFormat),
  text: v.nullish(v.looseObject({ format: v.nullish(textFormat) })),
  web_search: v.nullish(webSearch),
  request_id: v.nullish(idempotencyKey),
  conversation_id: v.nullish(lineOfText(160)),
  client_context: v.nullish(clientContext),
  optimization: v.nullish(optimization),
  metadata: v.nullish(metadata),
};

const sharedBody = v.object(sharedFields);
type SharedBody = Omit<v.InferOutput<typeof sharedBody>, 'model'>;

/** The first that is given of the three names that a ceiling has (decisions.md, section 6). */
export function readCeiling(body: SharedBody): number | null {
  return body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens ?? null;
}

/** What the service itself is asked to do. Legacy optimization modes are `balanced`. */
export function readControls(body: SharedBody): RequestControls {
  const mode = body.optimization?.mode ?? 'off';
  return {
    webSearch: body.web_search ?? null,
    requireWebSearch: body.metadata?.require_web_search === true,
    reroute: body.metadata?.intelligent_reroute === true,
    routing: readNarrowing(body.metadata?.routing_policy ?? null),
    conversationId: body.conversation_id ?? null,
    clientContext: readContext(body.client_context ?? null),
    optimization: {
      profile: body.optimization?.profile ?? 'code',
      mode: mode === 'auto' || mode === 'safe' ? 'balanced' : mode,
      allowLossyContext: body.optimization?.allow_lossy_context === true,
    },
  };
}

/**
 * An object, or its JSON text, as metadata of most formats are texts. Null: there is none.
 * @throws Problem invalid_request
 */
function readNarrowing(value: string | Record<string, unknown> | null): RoutingPolicy | null {
  if (value === null) return null;
  const read = readRoutingPolicy(typeof value === 'string' ? parsed(value) : value);
  if (read.ok) return read.policy;
  const path = ['metadata.routing_policy', read.member].filter((part) => part !== '').join('.');
  throw fieldProblem(path, 'A routing policy is expected, an object or its JSON text.');
}

/** What is no JSON is no policy either. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? text;
  } catch {
    return text;
  }
}

function readContext(declared: SharedBody['client_context'] | null): ClientContext | null {
  if (declared === null || declared === undefined) return null;
  return {
    timezone: stated(declared.timezone),
    utcOffsetMinutes: declared.utc_offset_minutes ?? null,
    locale: stated(declared.locale),
    temperatureUnit: declared.temperature_unit ?? null,
    location: declared.share_location === true ? (declared.location ?? null) : null,
  };
}

/** A blank says no more than nothing, and must not cost tokens. */
function stated(text: string | null | undefined): string | null {
  return text === null || text === undefined || text.trim() === '' ? null : text;
}

/**
 * The format of the answer; an explicit response_format takes precedence over text.format.
 * @throws Problem invalid_request with the member's path
 */
export function readOutputFormat(body: Pick<SharedBody, 'response_format' | 'text'>): OutputFormat {
  const explicit = body.response_format ?? null;
  if (explicit !== null) {
    const inner = explicit.json_schema;
    return toOutputFormat(explicit.type, inner, 'response_format.json_schema');
  }
  const format = body.text?.format ?? null;
  if (format === null) return { type: 'text' };
  // Without it nothing would hold the answer to anything; Chat's own member may leave it out.
  if (format.type === 'json_schema' && (format.schema ?? null) === null) {
    throw fieldProblem('text.format.schema', "Missing required field 'text.format.schema'.");
  }
  return toOutputFormat(format.type, format, 'text.format');
}

function toOutputFormat(
  type: v.InferOutput<typeof formatType>,
  declared: unknown,
  declaredPath: string,
): OutputFormat {
  if (type !== 'json_schema') return { type };
  if (!isMembers(declared)) {
    throw fieldProblem(declaredPath, `Missing required field '${declaredPath}'.`);
  }
  const { name, schema, strict } = declared;
  if (typeof name !== 'string' || name === '' || name.length > 256) {
    throw fieldProblem(`${declaredPath}.name`, `Missing or invalid '${declaredPath}.name'.`);
  }
  if (schema !== undefined && !isMembers(schema)) {
    throw fieldProblem(`${declaredPath}.schema`, `Invalid value for '${declaredPath}.schema'.`);
  }
  const format: OutputFormat = {
    type: 'json_schema',
    name,
    schema: schema ?? {},
    strict: strict === true,
  };
  assertOutputFormat(format, `${declaredPath}.schema`);
  return format;
}

/** @throws Problem invalid_request when a list of allowed tools leaves nothing to call. */
export function refuseNoneAllowed<T>(left: T[], path: string): T[] {
  if (left.length > 0) return left;
  throw fieldProblem(path, `None of the tools in '${path}' is declared.`);
}

const serverToolsMax = 8;

/**
 * Refuses the service's own tool declarations (`svc_app`, `svc_mcp`): badly written ones by their
 * path, good ones because nothing executes them here. False: the declaration is not ours.
 * @throws Problem invalid_request
 */
export function refuseServerTool(tool: { type: string }, index: number): boolean {
  if (tool.type !== 'svc_app' && tool.type !== 'svc_mcp') return false;
  const members = tool as Record<string, unknown>;
  if (tool.type === 'svc_app' && members.selection !== 'auto') {
    throw fieldProblem(`tools[${index}].selection`, "'selection' of svc_app must be 'auto'.");
  }
  const { server_id } = members;
  if (tool.type === 'svc_mcp' && (typeof server_id !== 'string' || server_id === '')) {
    throw fieldProblem(`tools[${index}].server_id`, "svc_mcp needs a 'server_id'.");
  }
  if (tool.type === 'svc_app') {
    const message = 'No connected application is available to this account.';
    throw fieldProblem(`tools[${index}].type`, message);
  }
  throw fieldProblem(`tools[${index}].server_id`, 'There is no enabled MCP server with this id.');
}

/** @throws Problem invalid_request when there are more MCP servers than a request may name. */
export function refuseTooManyServers(tools: readonly { type: string }[]): void {
  const servers = tools.filter((tool) => tool.type === 'svc_mcp').length;
  if (servers <= serverToolsMax) return;
  throw fieldProblem('tools', `At most ${serverToolsMax} MCP servers can be used in a request.`);
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

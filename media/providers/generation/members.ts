// What becomes of each top-level member of a request on its way to a provider. A vendor's own host
// is told what nobody here knows; every other server only what is listed, for one of the reasons
// below. Nothing that could choose another model, route, template or paid plugin is on the list.
import type { GenerationRequest, WireFormat } from '../../model/request.ts';
import type { Members } from '../../transport/members.ts';
import { asksNothing } from './asks-nothing.ts';
import type { ProviderFamily, UpstreamTarget } from './contract.ts';
import { verbosityOf } from './told.ts';

/**
 * - `ours`: the service itself reads it, or refuses it; no provider is told it.
 * - `written`: it is written anew, from what it says in every format.
 * - `neutral`: it goes as it is to servers of its format, and is translated for others that have
 *   the like (`leavesOut` of a family).
 * - `passes`: it goes as it is to servers of its format; others have nothing like it.
 * - `vendor`: only the vendor's own host is told it, or who an administrator says.
 * - `dropped`: it is never sent.
 */
export type Fate = 'ours' | 'written' | 'neutral' | 'passes' | 'vendor' | 'dropped';

type Entry = readonly [fate: Fate, reason: string, names: readonly string[]];

const shared: readonly Entry[] = [
  ['ours', 'the fields of specification 2.9', ['client_context', 'conversation_id', 'metadata']],
  ['ours', 'the same', ['instructions', 'n', 'optimization', 'request_id', 'web_search']],
  ['written', 'the alias becomes the upstream model', ['model']],
  ['written', 'the ceiling after policy', ['max_output_tokens', 'max_completion_tokens']],
  ['written', 'the ceiling after policy', ['max_tokens']],
  ['written', 'the format that the answer is held to', ['response_format', 'text']],
  ['written', 'every call is streamed', ['stream', 'stream_options']],
  ['dropped', 'another tier has another price than the one that is charged', ['service_tier']],
];

const tables: Readonly<Record<WireFormat, ReadonlyMap<string, Fate>>> = {
  chat: tableOf([
    ...shared,
    ['written', 'the conversation', ['messages', 'input']],
    ['neutral', 'how tokens are drawn costs nothing', ['temperature', 'top_p', 'seed', 'stop']],
    ['neutral', 'the same', ['presence_penalty', 'frequency_penalty']],
    ['neutral', 'tools that the client runs', ['tools', 'tool_choice', 'parallel_tool_calls']],
    ['neutral', 'their former names', ['functions', 'function_call']],
    ['neutral', 'how hard it thinks: its tokens are reported', ['reasoning_effort']],
    ['neutral', 'tokens that are there anyway', ['logprobs', 'top_logprobs']],
    ['neutral', 'a search, which passes at a price alone', ['web_search_options']],
    ['neutral', 'cached tokens have a price', ['cache_control']],
    ['passes', 'how tokens are drawn costs nothing', ['logit_bias', 'top_k', 'min_p', 'top_a']],
    ['passes', 'the same', ['typical_p', 'repetition_penalty', 'random_seed']],
    [
      'passes',
      'how hard it thinks, in the words of other servers',
      ['thinking', 'enable_thinking'],
    ],
    ['passes', 'the same', ['thinking_budget', 'reasoning', 'include_reasoning']],
    ['passes', 'how thinking is shown', ['reasoning_format', 'reasoning_split']],
    ['neutral', 'how long the words are', ['verbosity']],
    ['passes', 'text is the only modality here', ['modalities']],
    ['neutral', 'labels of the end user', ['user', 'safety_identifier']],
    ['neutral', 'which cache is looked into', ['prompt_cache_key']],
    ['vendor', 'tokens of a prediction are billed, and not every server says so', ['prediction']],
    ['vendor', 'how long a cache keeps has a price elsewhere', ['prompt_cache_retention']],
    ['vendor', 'the same', ['prompt_cache_options']],
    ['vendor', 'a second model looks at the answer', ['moderation']],
    ['dropped', 'the provider would keep it for the operator', ['store']],
    ['dropped', 'sound has another price', ['audio']],
  ]),
  responses: tableOf([
    ...shared,
    ['written', 'the conversation', ['messages', 'input']],
    ['written', 'what is not stored has to come with the answer', ['include']],
    ['ours', 'the service stores, and runs in the background', ['store', 'background']],
    ['ours', 'turns that the service keeps', ['previous_response_id']],
    [
      'ours',
      'state that the operator has with the provider is refused',
      ['conversation', 'prompt'],
    ],
    ['neutral', 'how tokens are drawn costs nothing', ['temperature', 'top_p']],
    ['neutral', 'tools have prices of their own', ['tools', 'tool_choice', 'parallel_tool_calls']],
    ['neutral', 'how hard it thinks: its tokens are reported', ['reasoning']],
    ['passes', 'a bound of what is held for', ['max_tool_calls']],
    ['neutral', 'how tokens are drawn costs nothing', ['presence_penalty', 'frequency_penalty']],
    ['neutral', 'tokens that are there anyway', ['top_logprobs']],
    ['passes', 'what is left out of a long input', ['truncation', 'context_management']],
    ['neutral', 'labels of the end user', ['user', 'safety_identifier']],
    ['neutral', 'which cache is looked into', ['prompt_cache_key']],
    ['vendor', 'how long a cache keeps has a price elsewhere', ['prompt_cache_retention']],
    ['vendor', 'the same', ['prompt_cache_options']],
    ['vendor', 'a second model looks at the answer', ['moderation']],
    ['vendor', 'settings of a tool that is priced by its type', ['image']],
    ['dropped', 'programs are between the vendor and its customer', ['access_programs']],
  ]),
  messages: tableOf([
    ...shared,
    ['written', 'the conversation', ['messages', 'system']],
    ['written', 'the format that the answer is held to', ['output_config', 'output_format']],
    ['written', 'as the model takes it', ['thinking']],
    ['ours', 'conversations of the server are refused', ['thread']],
    ['neutral', 'how tokens are drawn costs nothing', ['temperature', 'top_k', 'top_p']],
    ['neutral', 'where the answer ends', ['stop_sequences']],
    ['neutral', 'tools have prices of their own', ['tools', 'tool_choice']],
    ['neutral', 'cached tokens have a price', ['cache_control']],
    ['passes', 'servers that it names run tools at their own expense', ['mcp_servers']],
    ['passes', 'where code runs, which passes at a price alone', ['container']],
    ['passes', 'what is left out of a long input', ['context_management', 'compaction']],
    ['vendor', 'what a cache did not find', ['diagnostics']],
    ['dropped', 'another model or speed has another price', ['fallbacks', 'speed']],
    ['dropped', 'another place has another price', ['inference_geo', 'fallback_credit_token']],
    ['dropped', 'whose account it is, the client does not say', ['billing_policy']],
    ['dropped', 'the same', ['user_profile_id', 'workspace_id']],
  ]),
};

function tableOf(entries: readonly Entry[]): ReadonlyMap<string, Fate> {
  return new Map(entries.flatMap(([fate, , names]) => names.map((name) => [name, fate] as const)));
}

/** What becomes of a member; undefined: nobody here knows it. */
export function fateOf(format: WireFormat, name: string): Fate | undefined {
  return tables[format].get(name);
}

/**
 * Members that an administrator cannot let pass either: they choose what is called, and the price
 * is that of the model that was named.
 */
const choosing: ReadonlySet<string> = new Set([
  '__proto__',
  'best_of',
  'chat_template',
  'extra_body',
  'fallbacks',
  'models',
  'plugins',
  'preset',
  'provider',
  'route',
]);

/** Why an administrator cannot let this member pass to servers of the format; null: he can. */
export function forwardFault(format: WireFormat, name: string): string | null {
  if (choosing.has(name)) return `"${name}" could choose another model, route, template or price`;
  const fate = fateOf(format, name);
  if (fate === undefined || fate === 'vendor') return null;
  return `"${name}" is ${fate === 'dropped' ? 'never sent' : 'known, and needs no leave'}`;
}

/** The hosts of the vendors whose formats these are. */
const vendorHosts: Readonly<Record<WireFormat, RegExp>> = {
  chat: /^https:\/\/([a-z]+\.)?api\.openai\.com(\/|$)/,
  responses: /^https:\/\/([a-z]+\.)?api\.openai\.com(\/|$)/,
  messages: /^https:\/\/api\.anthropic\.com(\/|$)/,
};

/** Whether the provider is the vendor itself, at its own host. */
export function isVendor(
  format: WireFormat,
  { baseUrl }: Pick<UpstreamTarget, 'baseUrl'>,
): boolean {
  return vendorHosts[format].test(baseUrl);
}

/** Hosts of vendors that refuse every member that they do not know. */
const strictHosts = /^https:\/\/api\.mistral\.ai(\/|$)/;

/** Whether the server refuses every member that it does not know. */
export function isStrict({ baseUrl, quirks }: Pick<UpstreamTarget, 'baseUrl' | 'quirks'>): boolean {
  return quirks?.strictMembers ?? strictHosts.test(baseUrl);
}

/** What of the members that pass to other servers strict ones take as well. */
const strictMembers: ReadonlySet<string> = new Set([
  'frequency_penalty',
  'parallel_tool_calls',
  'presence_penalty',
  'prompt_cache_key',
  'random_seed',
  'reasoning_effort',
  'seed',
  'stop',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
]);

type Forwarding = Pick<UpstreamTarget, 'baseUrl' | 'forwardMembers' | 'quirks'>;

/** Writes into `body` what a server of the client's own format is told as it is. */
export function forwardMembers(
  format: WireFormat,
  source: Members,
  target: Forwarding,
  body: Members,
): void {
  for (const name of Object.keys(source)) {
    const value = source[name];
    if (value !== null && passesTo(format, name, target)) body[name] = value;
  }
}

function passesTo(format: WireFormat, name: string, target: Forwarding): boolean {
  const fate = fateOf(format, name);
  if (format === 'chat' && isStrict(target) && !strictMembers.has(name)) {
    return target.forwardMembers?.includes(name) === true && !choosing.has(name);
  }
  if (fate === 'neutral' || fate === 'passes') return true;
  if (fate !== undefined && fate !== 'vendor') return false;
  if (choosing.has(name)) return false;
  return isVendor(format, target) || target.forwardMembers?.includes(name) === true;
}

const none: readonly string[] = [];

/**
 * The members of a request that a provider is not told and that nothing else stands for, for
 * `x-svc-dropped-members`; one within another by its path. One that asks for what happens anyway is
 * not missed.
 */
export function droppedMembers(
  request: GenerationRequest,
  family: Pick<ProviderFamily, 'format' | 'leavesOut'>,
  target: UpstreamTarget,
): readonly string[] {
  const { format: own, body } = request.source;
  if (own === 'legacy') return none;
  const isOwn = family.format === own;
  const leftOut = isOwn ? nothing : family.leavesOut(request, target);
  let dropped: string[] | null = null;
  for (const name of Object.keys(body)) {
    const fate = fateOf(own, name);
    if (fate === 'ours' || fate === 'written') continue;
    if (fate === 'neutral' && !isOwn && !leftOut.has(name)) continue;
    if (asksNothing(name, body[name])) continue;
    if (isOwn && passesTo(own, name, target)) continue;
    dropped ??= [];
    dropped.push(name);
  }
  if (own === 'responses' && leftOut.has('verbosity') && verbosityOf(request) !== null) {
    dropped ??= [];
    dropped.push('text.verbosity');
  }
  return dropped ?? none;
}

const nothing: ReadonlySet<string> = new Set();

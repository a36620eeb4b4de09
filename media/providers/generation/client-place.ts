// Where in the client's own body the part stands that a provider has refused in the body that it
// was sent. What is not certain is left off the path's end: a wrong place is worse than a wide one.

import { declaringItems } from '../../model/dialects/responses/late-tools.ts';
import { flatName } from '../../model/dialects/responses/namespaces.ts';
import { conversationMember, type MediaKind, mediaPaths } from '../../model/media-path.ts';
import { type GenerationRequest, isForwardable } from '../../model/request.ts';
import { isMembers, type Members } from '../../transport/members.ts';
import type { Place } from '../../transport/place.ts';
import type { Fitted, ProviderFamily } from './contract.ts';

export interface Told {
  /** As the client sent it. */
  asked: GenerationRequest;
  fitted: Fitted;
  family: Pick<ProviderFamily, 'format'>;
  /** What the provider was sent. */
  body: Members;
}

type Steps = readonly (string | number)[];

/** A path in the client's own body, as in `tools[0].function.name`; null: nothing is certain. */
export function clientPath(told: Told, place: Place): string | null {
  const { asked, family } = told;
  const { body, format } = asked.source;
  const [first = '', ...rest] = place.map(inSnakeCase);
  if (first === 'tools') return toolPath(told, rest);
  if (first === 'messages' || first === 'input' || first === 'contents') {
    return conversationPath(told, first, rest);
  }
  if (first === 'generation_config') return settingPath(asked, rest);
  const isOwn = format === family.format && isGiven(body, String(first));
  return isOwn ? walked(body, [first, ...rest], '') : settingPath(asked, [first, ...rest]);
}

/** Gemini writes both. */
function inSnakeCase(part: string | number): string | number {
  if (typeof part === 'number') return part;
  return part.replace(/[a-z][A-Z]/g, ([low = '', high = '']) => `${low}_${high.toLowerCase()}`);
}

/** What the formats call the same thing. */
const settings: readonly (readonly [providers: RegExp, clients: readonly string[]])[] = [
  [/^max_(completion_|output_)?tokens$/, ['max_output_tokens', 'max_completion_tokens']],
  [/^max_(completion_|output_)?tokens$/, ['max_tokens']],
  [/^stop(_sequences)?$/, ['stop', 'stop_sequences']],
  [/^(tool_choice|tool_config)$/, ['tool_choice', 'function_call']],
  [/^(thinking|reasoning)/, ['reasoning_effort', 'reasoning', 'thinking', 'output_config']],
  [/^(response_|text$|output_)/, ['response_format', 'text', 'output_config', 'output_format']],
  [/^(system|instructions)/, ['instructions', 'system', 'messages', 'input']],
];

function settingPath({ source }: GenerationRequest, [first]: Steps): string | null {
  const name = String(first);
  if (isGiven(source.body, name)) return name;
  const known = settings.flatMap(([pattern, names]) => (pattern.test(name) ? names : []));
  return known.find((member) => isGiven(source.body, member)) ?? null;
}

function isGiven(body: Members, name: string): boolean {
  return Object.hasOwn(body, name) && (body[name] ?? null) !== null;
}

/** Tools have their names in both bodies. */
function toolPath({ asked, fitted, body }: Told, steps: Steps): string | null {
  const { source } = asked;
  const list = isGiven(source.body, 'tools') ? 'tools' : 'functions';
  const isListed = isGiven(source.body, list);
  const otherwise = isListed ? list : null;
  const { tool, inside } = toolAt(body, steps);
  if (tool === null) return otherwise;
  const name = nameOf(tool);
  const meant = fitted.names?.meant.get(name ?? '') ?? name;
  const listed = isListed ? toolNamed(source.body[list], list, meant, tool) : null;
  const found = listed ?? lateToolNamed(asked, meant, tool);
  return found === null ? otherwise : memberPath(found, inside);
}

/** A tool that stands in an item of the client's own input. */
function lateToolNamed(asked: GenerationRequest, name: string | null, sent: Members): Found | null {
  const { body, format } = asked.source;
  if (format !== 'responses') return null;
  const member = conversationMember(asked);
  const items: unknown[] = Array.isArray(body[member]) ? body[member] : [];
  for (const item of declaringItems({ body })) {
    const path = `${member}[${items.indexOf(item)}].tools`;
    const found = toolNamed(item.tools, path, name, sent);
    if (found !== null) return found;
  }
  return null;
}

interface Found {
  tool: Members;
  path: string;
}

/** Gemini has them in a list of lists. */
function toolAt(body: Members, steps: Steps): { tool: Members | null; inside: Steps } {
  const [index, list, inner] = steps;
  const tool: unknown = Object(body.tools)[Number(index)];
  if (!isMembers(tool)) return { tool: null, inside: [] };
  if (list !== 'function_declarations') return { tool, inside: steps.slice(1) };
  const declared: unknown = Object(tool.functionDeclarations)[Number(inner)];
  return { tool: isMembers(declared) ? declared : null, inside: steps.slice(3) };
}

function nameOf(tool: Members): string | null {
  const inner = [tool.function, tool.custom].find(isMembers);
  const name = tool.name ?? inner?.name;
  return typeof name === 'string' ? name : null;
}

function toolNamed(list: unknown, path: string, name: string | null, sent: Members): Found | null {
  const tools: unknown[] = Array.isArray(list) ? list : [];
  for (const [index, tool] of tools.entries()) {
    if (!isMembers(tool)) continue;
    const at = `${path}[${index}]`;
    if (tool === sent || (name !== null && nameOf(tool) === name)) return { tool, path: at };
    const inner: unknown[] = Array.isArray(tool.tools) ? tool.tools : [];
    const place = inner.findIndex((each) => {
      const own = isMembers(each) ? nameOf(each) : null;
      return own !== null && flatName(String(tool.name), own) === name;
    });
    if (place >= 0) return { tool: inner[place] as Members, path: `${at}.tools[${place}]` };
  }
  return null;
}

const schemaNames = ['parameters', 'input_schema'];

/** Where a member of a tool stands in the client's own form of it. */
function memberPath({ tool, path }: Found, inside: Steps): string {
  const [first, ...rest] = inside.filter((name) => name !== 'function' && name !== 'custom');
  const isNested = isMembers(tool.function);
  const own = isNested ? (tool.function as Members) : tool;
  const base = isNested ? `${path}.function` : path;
  const isSchema = /^(parameters|input_schema)/.test(String(first));
  const member = isSchema ? schemaNames.find((name) => isGiven(own, name)) : first;
  if (typeof member !== 'string' || !isGiven(own, member)) return path;
  return walked(own, [member, ...rest], base);
}

/** An entry is the client's own where it was forwarded; one that was written anew has no place. */
function conversationPath(told: Told, list: string, [index, ...rest]: Steps): string {
  const { asked, body } = told;
  const member = conversationMember(asked);
  const sent: unknown[] = Array.isArray(body[list]) ? body[list] : [];
  const own: unknown = asked.source.body[member];
  const entries: unknown[] = Array.isArray(own) ? own : [];
  const at = typeof index === 'number' ? ownIndex(told, sent, entries, index) : -1;
  if (at >= 0) return walked(entries[at], rest, `${member}[${at}]`);
  const kind = mediaKindOf(rest);
  const [only, ...others] = kind === null ? [] : mediaPaths(asked, kind);
  return only !== undefined && others.length === 0 ? only : member;
}

function ownIndex(
  { fitted, family }: Told,
  sent: readonly unknown[],
  entries: readonly unknown[],
  index: number,
): number {
  const entry = sent[index];
  if (!isMembers(entry)) return -1;
  const same = entries.findIndex((each) => isSame(each, entry));
  const { format } = family;
  const isWhole = format !== null && isForwardable(fitted.request, format);
  return same < 0 && isWhole && sent.length === entries.length ? index : same;
}

/** A copy shares what stands in it. */
function isSame(entry: unknown, sent: Members): boolean {
  if (entry === sent || !isMembers(entry)) return entry === sent;
  return [entry.content, entry.tool_calls, entry.output].some((member) => {
    const isShared = member === sent.content || member === sent.tool_calls;
    return typeof member === 'object' && member !== null && (isShared || member === sent.output);
  });
}

function mediaKindOf(steps: Steps): MediaKind | null {
  const words = steps.join(' ');
  if (words.includes('image')) return 'image';
  if (words.includes('audio')) return 'audio';
  return /file|document/.test(words) ? 'file' : null;
}

const pathLengthMax = 200;

/** As far as the client's own value has these members. */
function walked(value: unknown, steps: Steps, base: string): string {
  let path = base;
  let at = value;
  for (const step of steps) {
    let next = path;
    if (typeof step === 'number' && Array.isArray(at) && step < at.length) next += `[${step}]`;
    else if (typeof step === 'string' && isMembers(at) && isGiven(at, step)) {
      next += path === '' ? step : `.${step}`;
    } else if (isMembers(at) && at.type === step) continue;
    else break;
    if (next.length > pathLengthMax) break;
    path = next;
    at = (at as Members)[step];
  }
  return path;
}

// What only a client of this format can be shown, and no neutral event says. What tells of the
// operator's own contract with the provider (tier, place, speed, the model's name) is left out.
import type { NativeValue } from '../../../model/events.ts';
import { count, isMembers, type Members } from '../../../transport/members.ts';
import { sideIterations } from './usage.ts';

/** What a message says of itself before it has any content; null: nothing. */
export function ownStart(message: Members): NativeValue | null {
  const value = membersOf(message, ['diagnostics', 'input_transformations']);
  const usage = isMembers(message.usage) ? message.usage : {};
  const written = isMembers(usage.cache_creation) ? usage.cache_creation : {};
  if (Object.values(written).some((tokens) => count(tokens) > 0)) {
    value.usage = { cache_creation: written };
  }
  return Object.keys(value).length === 0 ? null : { format: 'messages', value };
}

/** What the end says besides why it ended: `told` is the event, or the whole message. */
export function ownEnd(told: Members): Members {
  const value = membersOf(told, ['context_management', 'input_transformations']);
  const usage = isMembers(told.usage) ? ownUsage(told.usage) : {};
  if (Object.keys(usage).length > 0) value.usage = usage;
  return value;
}

/** Of a `tool_use` block: who called it, and the family of tools that it is of. */
export function ownCall(block: Members): NativeValue | null {
  const { type: _type, id: _id, name: _name, input: _input, ...beside } = block;
  const value = membersOf(beside, Object.keys(beside));
  if (isMembers(value.caller) && value.caller.type === 'direct') delete value.caller;
  return Object.keys(value).length === 0 ? null : { format: 'messages', value };
}

const totals = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
];

function ownUsage(usage: Members): Members {
  const own: Members = {};
  const { server_tool_use: tools, iterations } = usage;
  if (isMembers(tools) && isNews(tools)) own.server_tool_use = tools;
  if (!Array.isArray(iterations)) return own;
  own.iterations = iterations.map((entry) =>
    isMembers(entry) && entry.type === 'message' ? { ...entry, model: null } : entry,
  );
  // The format's totals leave out what ours have, and clients read the size of the context there.
  if (sideIterations(iterations).length > 0) Object.assign(own, membersOf(usage, totals));
  return own;
}

/** Searches are counted anyway. */
function isNews(tools: Members): boolean {
  return Object.keys(tools).some(
    (name) => name !== 'web_search_requests' && count(tools[name]) > 0,
  );
}

/** Those of these members that are set. */
function membersOf(members: Members, names: readonly string[]): Members {
  const found: Members = {};
  for (const name of names) {
    const value = members[name];
    if (value !== null && value !== undefined && name !== '__proto__') found[name] = value;
  }
  return found;
}

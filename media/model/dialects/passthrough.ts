// What a member of a request has besides what is read of it: kept for upstreams of the same format,
// where a message has to be written anew.
import type { Message, NativeMembers, WireFormat } from '../request.ts';

/** Those that are set; `own` is left out where there is none. */
export function passthroughOf(
  format: WireFormat,
  members: Record<string, unknown>,
  read: ReadonlySet<string>,
): NativeMembers {
  let value: Record<string, unknown> | null = null;
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (read.has(name) || member === null || member === undefined) continue;
    value ??= {};
    value[name] = member;
  }
  return value === null ? none : { own: { format, value } };
}

/** Where the client wants a cache to keep what it has written so far. */
export function cacheMark({
  cache_control: mark,
}: Record<string, unknown>): Pick<Message, 'cacheControl'> {
  const isMark = typeof mark === 'object' && mark !== null && !Array.isArray(mark);
  return isMark ? { cacheControl: mark as Record<string, unknown> } : {};
}

const none: NativeMembers = Object.freeze({});

// What a member of a request has besides what is read of it: kept for upstreams of the same format,
// where a message has to be written anew.
import type { NativeMembers, WireFormat } from '../request.ts';

/** Those that are set; `own` is left out where there is none. */
export function beside(
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

const none: NativeMembers = Object.freeze({});

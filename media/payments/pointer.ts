// What a webhook or a list tells, read as members of no known shape: ids, and nothing else.
import { isMembers, type Members } from '../transport/members.ts';

const idCharactersMax = 200;

/** An id, or null: it is no text of a sensible length. */
export function idIn(members: Members, name: string): string | null {
  const id = members[name];
  const isId = typeof id === 'string' && id !== '' && id.length <= idCharactersMax;
  return isId ? id : null;
}

/** An id that may be the whole object, where the provider expands it. */
export function linkIn(members: Members, name: string): string | null {
  const linked = members[name];
  return isMembers(linked) ? idIn(linked, 'id') : idIn(members, name);
}

export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** Each once, without those that are not there. */
export function idsOf(...ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}

/** Unix seconds as a moment. @throws Error where it is none: what was signed is no event */
export function momentOf(seconds: unknown): Date {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds < 1e11)) {
    throw new Error('the event has no time');
  }
  return new Date(seconds * 1_000);
}

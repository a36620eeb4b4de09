// What a server wants back with a turn or a call of its own. Clients of another format have no
// place for it. It travels sealed: for the turn as reasoning does, for a call in the call's id.
import type { Message, Returned } from './request.ts';
import type { Seals } from './seals.ts';

type Call = Message['toolCalls'][number];

/** What stands behind the id itself: the length of the key's name, the name, what is sealed. */
const mark = '__own';
const ownMark = /__own(\d{1,2})_/g;
const sealStart = 'svc1.';
/** A longer id is not made: ids are kept in places that were not made for so much. */
const carriedCharactersMax = 16_384;

/** The id of a call as its client carries it. It is the id itself where nothing is wanted back. */
export function carryingId(
  { id, returned }: { id: string; returned?: Returned | undefined },
  seals: Pick<Seals, 'seal'>,
): string {
  if (returned === undefined) return id;
  const { server, members } = returned;
  const sealed = seals.seal({ format: 'chat', value: { server, members } }).slice(sealStart.length);
  const [name = '', text = ''] = sealed.split('.');
  const carrying = `${id}${mark}${name.length}_${name}${text}`;
  return carrying.length > carriedCharactersMax ? id : carrying;
}

/** Whether something is carried in the id of a call. */
export function isCarrying(id: string): boolean {
  return carriedIn(id) !== null;
}

/** The id as its server gave it. */
export function plainCallId(id: string): string {
  return carriedIn(id)?.id ?? id;
}

function carriedIn(id: string): IdSuffix | null {
  const found = id.includes(mark) ? suffixOf(id, ownMark) : null;
  return found === null || found.text === '' ? null : found;
}

/** What the server of a call wants back; no member: nothing, or nothing that opens. */
export function readCarried(id: string, seals: Pick<Seals, 'open'>): Pick<Call, 'returned'> {
  const found = carriedIn(id);
  if (found === null) return {};
  const { groups, text } = found;
  const nameLength = Number(groups[0]);
  const sealed = `${sealStart}${text.slice(0, nameLength)}.${text.slice(nameLength)}`;
  const opened = seals.open(sealed);
  if (opened?.format !== 'chat') return {};
  return { returned: returnedIn(opened.value) };
}

interface IdSuffix {
  /** The id in front of it. */
  id: string;
  /** It holds what the groups of the mark have found. */
  groups: readonly string[];
  /** It stands behind the mark. */
  text: string;
}

/** The codes of which carried text is made. */
const carriedCodes = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * The first mark behind which all is carried text; null: there is none. An id is as long as its
 * client likes: a pattern that is tried at each mark would take the square of its length. `behind`
 * is the mark, with the flag `g`, and made of carried text as well.
 */
export function suffixOf(id: string, behind: RegExp): IdSuffix | null {
  let start = id.length;
  while (start > 0 && carriedCodes[id.charCodeAt(start - 1)] === 1) start -= 1;
  behind.lastIndex = start;
  const found = behind.exec(id);
  if (found === null) return null;
  const [whole, ...groups] = found;
  return { id: id.slice(0, found.index), groups, text: id.slice(found.index + whole.length) };
}

/** The sealed value: we made it ourselves. */
export function returnedIn({ server, members }: Record<string, unknown>): Returned {
  return { server: String(server), members: Object(members) };
}

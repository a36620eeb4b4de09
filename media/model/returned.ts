// What a server wants back with a turn or a call of its own. Clients of another format have no
// place for it. It travels sealed: for the turn as reasoning does, for a call in the call's id.
import type { Message, Returned } from './request.ts';
import type { Seals } from './seals.ts';

type Call = Message['toolCalls'][number];

/** What stands behind the id itself: the length of the key's name, the name, what is sealed. */
const mark = '__own';
const suffix = /__own(\d{1,2})_([A-Za-z0-9_-]+)$/;
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
  return id.includes(mark) && suffix.test(id);
}

/** The id as its server gave it. */
export function plainCallId(id: string): string {
  return id.includes(mark) ? id.replace(suffix, '') : id;
}

/** What the server of a call wants back; no member: nothing, or nothing that opens. */
export function readCarried(id: string, seals: Pick<Seals, 'open'>): Pick<Call, 'returned'> {
  const found = id.includes(mark) ? suffix.exec(id) : null;
  if (found === null) return {};
  const [, length, text = ''] = found;
  const nameLength = Number(length);
  const sealed = `${sealStart}${text.slice(0, nameLength)}.${text.slice(nameLength)}`;
  const opened = seals.open(sealed);
  if (opened?.format !== 'chat') return {};
  return { returned: returnedIn(opened.value) };
}

/** The sealed value: we made it ourselves. */
export function returnedIn({ server, members }: Record<string, unknown>): Returned {
  return { server: String(server), members: Object(members) };
}

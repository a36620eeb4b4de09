// Where images, files and sound of a request may be. A provider fetches what a stranger names: one
// that runs beside us would read its own disk (file:), its neighbours or the metadata service of
// its cloud for him. What may be fetched goes on as it was parsed, never as it was written.
import { fieldProblem } from '../../runtime/http/validate.ts';
import { readWebUrl } from './web-url.ts';

type Members = Record<string, unknown>;

/** What a member is to a provider: to be fetched by its `url`, by its `data` too, or neither. */
type Place = 'address' | 'media' | 'other';
/** Names and places of a member, from the body's own on. */
type Trail = (string | number)[];

/** Parts that have what they show in a member of their own name. A document's may be words. */
const mediaNames: ReadonlySet<string> = new Set([
  'audio',
  'image',
  'input_audio',
  'input_image',
  'input_video',
  'video',
]);
/** Schemas are about names, whatever those are. */
const schemaNames: ReadonlySet<string> = new Set(['parameters', 'input_schema', '__proto__']);

/**
 * The body with every URL in these lists as it was parsed; the same one if nothing differs. Bare
 * base64 is the provider's affair: some take it.
 * @throws Problem invalid_request that names where the client has the URL
 */
export function withParsedUrls<B extends object>(body: B, lists: readonly (keyof B & string)[]): B {
  let whole = body;
  for (const name of lists) {
    const given = body[name];
    // Servers that a provider connects to for their tools.
    const place = name === 'mcp_servers' ? 'address' : 'other';
    const parsed = readValue(given, place, [name]);
    if (parsed === given) continue;
    if (whole === body) whole = { ...body };
    whole[name] = parsed as B[typeof name];
  }
  return whole;
}

/** The value, or a copy of what differs in it; the body's depth is bounded. */
function readValue(value: unknown, place: Place, trail: Trail): unknown {
  if (typeof value === 'string') return place === 'other' ? value : parsedUrl(value, trail);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? readList(value, place, trail)
    : readMembers(value as Members, place, trail);
}

function readList(list: unknown[], place: Place, trail: Trail): unknown[] {
  let copy = list;
  for (let index = 0; index < list.length; index += 1) {
    const value = list[index];
    trail.push(index);
    const parsed = readValue(value, place, trail);
    trail.pop();
    if (parsed === value) continue;
    if (copy === list) copy = [...list];
    copy[index] = parsed;
  }
  return copy;
}

function readMembers(members: Members, place: Place, trail: Trail): Members {
  let copy = members;
  for (const name of Object.keys(members)) {
    const value = members[name];
    const own = placeOf(name, value, members, place);
    // Most members are texts or numbers.
    if (own === 'other' && typeof value !== 'object') continue;
    if (isUnread(name, members)) continue;
    trail.push(name);
    const parsed = readValue(value, own, trail);
    trail.pop();
    if (parsed === value) continue;
    if (copy === members) copy = { ...members };
    copy[name] = parsed;
  }
  return copy;
}

/** `url` alone is also where a search has been, or what was cited: nobody fetches that. */
function placeOf(name: string, value: unknown, owner: Members, place: Place): Place {
  if (name.endsWith('_url') || name === 'file_data') return 'address';
  // A block's `source` has its URL inside: as a text it is but a name.
  if (name === 'source') return typeof value === 'object' ? 'address' : 'other';
  if (name === owner.type && mediaNames.has(name)) return 'media';
  const isNamed = name === 'url' ? place !== 'other' : name === 'data' && place === 'media';
  return isNamed && typeof value === 'string' ? place : 'other';
}

/** The arguments of a call may name a picture, too: they are not fetched. */
function isUnread(name: string, { type }: Members): boolean {
  if (name === 'input') return typeof type === 'string' && /_(use|call)$/.test(type);
  return schemaNames.has(name);
}

/** Members of parts have any name that the client likes. */
const pathLengthMax = 200;

function pathOf(trail: Trail): string {
  const [list = '', ...rest] = trail;
  const steps = rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  const path = `${list}${steps.join('')}`;
  return path.length <= pathLengthMax ? path : `${list}`;
}

function parsedUrl(text: string, trail: Trail): string {
  const url = readUrl(text);
  if (typeof url === 'string') return url;
  const path = pathOf(trail);
  // Not every format has a member for the path: the message says it too.
  throw fieldProblem(path, `The URL in '${path}' ${url.fault}.`);
}

/** What stands before a scheme and breaks it is found here, and refused by what reads it then. */
const schemePattern = /^[\s\p{Cc}]*([a-z][a-z0-9+.\t\r\n-]*)$/iu;
/** Nobody's URL begins so late. */
const schemeEndMax = 4_096;
/** No path of a disk and no host without its scheme: those have a dot or a tilde. */
const base64Head = /^[A-Za-z0-9+/=_\-\s]*$/;

/** What goes to a provider for this text. */
function readUrl(text: string): string | { fault: string } {
  const end = text.indexOf(':');
  if (end === -1) {
    if (text.trim() === '') return { fault: 'is empty' };
    return base64Head.test(text.slice(0, schemeEndMax)) ? text : { fault: 'is not a URL' };
  }
  const head = end > schemeEndMax ? null : schemePattern.exec(text.slice(0, end));
  const scheme = head?.[1]?.replace(/[\t\r\n]/g, '').toLowerCase();
  if (scheme === 'data' && head?.[0].toLowerCase() === 'data') {
    return text.includes(',') ? text : { fault: 'has no data' };
  }
  if (scheme !== 'http' && scheme !== 'https') return { fault: 'must be http, https or data' };
  const url = readWebUrl(text);
  return 'href' in url ? url.href : url;
}

// Where images and files of a message may be. A provider fetches what a stranger names: one that
// runs beside us would read its own disk (file:), its neighbours or the metadata service of its
// cloud for him.
import { fieldProblem } from '../../runtime/http/validate.ts';
import type { Problem } from '../../runtime/problem.ts';
import { isInternalHost } from './hosts.ts';
import type { ContentPart, Message } from './request.ts';

/**
 * Refuses what no image or file can be. Bare base64 of an image is the provider's affair: some
 * take it. `entries` are what the client wrote in `list`, of which the messages were made.
 * @throws Problem invalid_request that names where the client has the URL
 */
export function assertMediaUrls(
  messages: readonly Message[],
  list: string,
  entries: readonly unknown[],
): void {
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === 'text') continue;
      for (const url of urlsOf(part)) {
        const fault = urlFault(url);
        if (fault !== null) throw faultProblem(pathOf(url, list, entries), fault);
      }
    }
  }
}

/**
 * The same of servers that a provider connects to for their tools; `member` is where each of them
 * has its URL.
 * @throws Problem invalid_request that names the URL's path
 */
export function assertServerUrls(servers: unknown, list: string, member: string): void {
  if (!Array.isArray(servers)) return;
  for (const [index, server] of servers.entries()) {
    const url: unknown = Object(server)[member];
    const fault = typeof url === 'string' ? urlFault(url) : null;
    if (fault === null) continue;
    throw faultProblem(`${list}[${index}].${member}`, fault);
  }
}

/** Not every format has a member for the path: the message says it too. */
function faultProblem(path: string, fault: string): Problem {
  return fieldProblem(path, `The URL in '${path}' ${fault}.`);
}

function urlsOf(part: Exclude<ContentPart, { type: 'text' }>): Iterable<string> {
  return part.type === 'native' ? nativeUrls(part.value) : [part.url];
}

function* nativeUrls(value: unknown): Generator<string> {
  for (const { url } of fetched(value, '')) yield url;
}

/** Members of native parts have any name that the client likes. */
const pathLengthMax = 200;

/** Messages do not say where their parts were; only the list where none of its own has the URL. */
function pathOf(url: string, list: string, entries: readonly unknown[]): string {
  for (const { url: other, path } of fetched(entries, list)) {
    // The arguments of a call may name the same picture: they are not fetched.
    if (other === url && !path.includes('.input.') && path.length <= pathLengthMax) return path;
  }
  return list;
}

/** What a provider would fetch; `url` alone is also where a search has been, or what was cited. */
function* fetched(value: unknown, path: string): Generator<{ url: string; path: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const isFetched = /^file_data$|_url$/.test(name);
    const url: unknown = typeof member === 'string' ? member : Object(member).url;
    // A block's `source` has its URL inside: as a text it is but a name.
    const isSource = name === 'source' && typeof member === 'object';
    const place = Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`;
    if ((isFetched || isSource) && typeof url === 'string') {
      yield { url, path: typeof member === 'string' ? place : `${place}.url` };
    }
    yield* fetched(member, place);
  }
}

/** Readers of URLs leave out what stands before one, and tabs and line breaks (WHATWG URL, 4.4). */
const schemePattern = /^[\s\p{Cc}]*([a-z][a-z0-9+.\t\r\n-]*)$/iu;
/** Nobody's URL begins so late; base64 has no colon. */
const schemeEndMax = 4_096;

/** In small letters; undefined: there is none, so it is no URL. */
function schemeOf(url: string): string | undefined {
  const end = url.indexOf(':');
  if (end > schemeEndMax) return '';
  const scheme = end === -1 ? undefined : schemePattern.exec(url.slice(0, end))?.[1];
  return scheme?.replace(/[\t\r\n]/g, '').toLowerCase();
}

function urlFault(url: string): string | null {
  const scheme = schemeOf(url);
  if (url.trim() === '') return 'is empty';
  if (scheme === undefined) return null;
  if (scheme === 'data') return url.includes(',') ? null : 'has no data';
  if (scheme !== 'http' && scheme !== 'https') return 'must be http, https or data';
  if (!URL.canParse(url)) return 'is not a URL';
  return isInternalHost(new URL(url).hostname) ? 'is of a private network, not of the web' : null;
}

// Media types of requests and replies (RFC 9110, 12.5.1 and 8.3), as leniently as is honest.
import type { HttpRequest } from 'uWebSockets.js';
import { Problem } from '../problem.ts';
import type { Route } from './route.ts';

const jsonPattern = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const formPattern = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const multipartPattern = /^multipart\/form-data\s*(?:;|$)/i;

type BodyKind = NonNullable<Route<unknown, unknown, unknown>['body']>['kind'];

/** A 415 unless the body is of the kind that the route reads; no type at all counts as JSON. */
export function checkContentType(kind: BodyKind, contentType: string): void {
  if (kind === 'bytes') return;
  if (kind === 'multipart') {
    if (multipartPattern.test(contentType)) return;
    throw new Problem('unsupported_media_type', {
      message: 'The request body must be multipart/form-data.',
    });
  }
  if (kind === 'form') {
    if (formPattern.test(contentType)) return;
    throw new Problem('unsupported_media_type', {
      message: 'The request body must be application/x-www-form-urlencoded.',
    });
  }
  if (contentType === '' || contentType === 'application/json') return;
  if (jsonPattern.test(contentType)) return;
  throw new Problem('unsupported_media_type', {
    message: 'The request body must be application/json.',
  });
}

/** A 415 for a compressed body: nothing here unpacks what a stranger packed. */
export function checkContentEncoding(encoding: string): void {
  if (encoding === '' || encoding.trim().toLowerCase() === 'identity') return;
  throw new Problem('unsupported_media_type', {
    message: 'The request body must not be compressed (Content-Encoding).',
  });
}

/** What a look at all lines of a head tells, and no look at one of them. */
export interface Lines {
  /**
   * Whether the end of the body is beyond doubt. The server takes an empty length for none, the
   * first of several, and any coding for `chunked`; whoever stands in front may see the request end
   * elsewhere (RFC 9112, sections 6.1 and 6.3).
   */
  isEndCertain: boolean;
  /** An Idempotency-Key with nothing in it: uWS takes bytes beyond ASCII at an end for blanks. */
  hasBlankKey: boolean;
  /** Cookies in several lines, as a proxy may write those of HTTP/2 (RFC 9113, 8.2.3). */
  hasCookieLines: boolean;
}

export function readLines(request: HttpRequest): Lines {
  let ends = 0;
  let isKnown = true;
  let hasBlankKey = false;
  let cookies = 0;
  request.forEach((name, value) => {
    if (name === 'content-length') isKnown &&= value !== '';
    else if (name === 'transfer-encoding') isKnown &&= value.trim().toLowerCase() === 'chunked';
    else {
      if (name === 'cookie') cookies += 1;
      else if (value === '' && name === 'idempotency-key') hasBlankKey = true;
      return;
    }
    ends += 1;
  });
  return { isEndCertain: isKnown && ends <= 1, hasBlankKey, hasCookieLines: cookies > 1 };
}

/** Whether a client that reads pages asked, such as a browser; others are sent JSON. */
export function wantsPage(accept: string): boolean {
  const named = accept.toLowerCase();
  return named.includes('text/html') || !named.includes('application/json');
}

/** A 406 when the Accept header rules out everything that the route can send. */
export function checkAccept(accept: string, mediaTypes: readonly string[]): void {
  if (accept === '' || accept.includes('*/*') || accept.includes('application/json')) return;
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) continue;
    const prefix = name.endsWith('/*') ? name.slice(0, -1) : null;
    for (const type of mediaTypes) {
      if (type === name || (prefix !== null && type.startsWith(prefix))) return;
    }
  }
  throw new Problem('not_acceptable');
}

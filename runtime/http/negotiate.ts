// Media types of requests and replies (RFC 9110, 12.5.1 and 8.3), as leniently as is honest.
import type { HttpRequest } from 'uWebSockets.js';
import { Problem } from '../problem.ts';

const jsonPattern = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const multipartPattern = /^multipart\/form-data\s*(?:;|$)/i;

/** A 415 unless the body is of the kind that the route reads; no type at all counts as JSON. */
export function checkContentType(kind: 'json' | 'multipart', contentType: string): void {
  if (kind === 'multipart') {
    if (multipartPattern.test(contentType)) return;
    throw new Problem('unsupported_media_type', {
      message: 'The request body must be multipart/form-data.',
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
}

export function readLines(request: HttpRequest): Lines {
  let ends = 0;
  let isKnown = true;
  let hasBlankKey = false;
  request.forEach((name, value) => {
    if (name === 'content-length') isKnown &&= value !== '';
    else if (name === 'transfer-encoding') isKnown &&= value.trim().toLowerCase() === 'chunked';
    else {
      if (value === '' && name === 'idempotency-key') hasBlankKey = true;
      return;
    }
    ends += 1;
  });
  return { isEndCertain: isKnown && ends <= 1, hasBlankKey };
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

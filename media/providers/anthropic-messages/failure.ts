// Errors of Messages servers → the neutral failure. An `error` event may come long after a 200, so
// its type has to say what a status says elsewhere.
import type { UpstreamFailure } from '../../model/events.ts';
import { isMembers } from '../members.ts';
import { detailCharactersMax, kindOfStatus, retryAfterMs } from '../refusal.ts';

/** Classifies a reply that is not 2xx. */
export function readFailure(
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  return {
    kind: kindOfStatus(status),
    status,
    retryAfterMs: retryAfterMs(headers),
    detail: detailOf(body),
  };
}

const kinds: Readonly<Record<string, UpstreamFailure['kind']>> = {
  invalid_request_error: 'rejected',
  request_too_large: 'rejected',
  rate_limit_error: 'busy',
};

/** An `error` event inside a stream that had begun with 200. */
export function streamFailure(event: unknown): UpstreamFailure {
  const error = isMembers(event) && isMembers(event.error) ? event.error : event;
  const type = isMembers(error) && typeof error.type === 'string' ? error.type : '';
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  return { kind: kind ?? 'failed', status: null, retryAfterMs: null, detail: textOf(error) };
}

function detailOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (isMembers(parsed)) return textOf(parsed.error ?? parsed);
  } catch {
    // not JSON: the text itself is the detail
  }
  return body.slice(0, detailCharactersMax);
}

function textOf(error: unknown): string {
  if (typeof error === 'string') return error.slice(0, detailCharactersMax);
  if (!isMembers(error)) return '';
  const parts = [error.type, error.message].filter((part) => part !== undefined);
  return parts.map(String).join(': ').slice(0, detailCharactersMax);
}

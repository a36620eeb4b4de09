// Error replies of Chat Completions servers → the neutral failure.
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

/** An error inside a stream that had begun with 200. */
export function streamFailure(error: unknown): UpstreamFailure {
  const code = isMembers(error) ? error.code : null;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : null;
  return { kind: 'failed', status, retryAfterMs: null, detail: textOf(error) };
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
  const parts = [error.type, error.code, error.message].filter((part) => part !== undefined);
  return parts.map(String).join(': ').slice(0, detailCharactersMax);
}

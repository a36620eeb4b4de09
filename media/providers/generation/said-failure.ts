// What an error means by its own words, in one table for all families. A status says it where there
// is one; inside a stream that had begun with 200, codes and types do, some of them numbers.
import type { UpstreamFailure } from '../../model/events.ts';
import { isMembers } from '../../transport/members.ts';
import { detailOf, kindOfStatus, withPlace } from '../../transport/refusal.ts';
import { withUnpaid } from '../unpaid.ts';

type Kind = UpstreamFailure['kind'];

/** The first words of a code, a type or a status, in small letters. The first match counts. */
const meanings: readonly (readonly [words: RegExp, kind: Kind])[] = [
  [/^(rate_?limit|too_?many_?requests|throttl|resource_exhausted|slow_down)/, 'busy'],
  [/^(request_)?(timeout|timed_out)|^deadline_exceeded/, 'timeout'],
  // The operator's credential and model are at fault, and another provider may have them.
  [/^(invalid_api_key|invalid_auth|authentication|unauthenticated|permission)/, 'failed'],
  [/^(not_?found|model_not_found)/, 'failed'],
  [/^(invalid_?|bad_?request|unprocessable|validation|unsupported_)/, 'rejected'],
  [/^(context_length|context_window|exceed_context|request_too_large|string_above)/, 'rejected'],
  [/^(image_|empty_image|failed_to_download)/, 'rejected'],
];

/** Statuses that servers and proxies give to any fault. */
const vagueStatuses: ReadonlySet<number | null> = new Set([400, 422, 500]);

interface Said {
  kind: Kind;
  /** The status that the error names; null: it names none. */
  status: number | null;
}

/** What the members by which servers name a fault say; null: nothing that is known. */
function saidBy(error: unknown): Said | null {
  if (!isMembers(error)) return null;
  const names = [error.code, error.type, error.status];
  const status = names.map(statusOf).find((one) => one !== null) ?? null;
  const isVague = vagueStatuses.has(status);
  if (status !== null && !isVague) return { kind: kindOfStatus(status), status };
  for (const name of names) {
    const word = typeof name === 'string' ? name.toLowerCase() : '';
    const meaning = meanings.find(([words]) => words.test(word));
    if (meaning !== undefined) return { kind: meaning[1], status };
  }
  return status === null ? null : { kind: kindOfStatus(status), status };
}

function statusOf(name: unknown): number | null {
  const isText = typeof name === 'string' && /^\d{3}$/.test(name);
  const status = isText ? Number(name) : name;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : null;
}

/** The failure that an error of a begun stream is. `told`: its members that the log is told. */
export function saidFailure(error: unknown, told: readonly string[]): UpstreamFailure {
  const { kind, status } = saidBy(error) ?? { kind: 'failed' as const, status: null };
  const detail = detailOf(error, told);
  return withUnpaid(withPlace({ kind, status, retryAfterMs: null, detail }, error), error);
}

/** The failure of a refused call, told by its error where the status may mean anything. */
export function withSaid(failure: UpstreamFailure, error: unknown): UpstreamFailure {
  if (!vagueStatuses.has(failure.status)) return failure;
  const said = saidBy(error);
  if (said === null || said.kind === failure.kind) return failure;
  return withPlace({ ...failure, kind: said.kind }, error);
}

// What a provider wants back travels with the client, sealed for its account: no client reads or
// alters it. The mark is that of the seals before, which anybody could open and make. Processes of
// the build before take ours for broken ones, and leave them out.
import { Buffer } from 'node:buffer';
import * as v from 'valibot';
import type { BoundSealer, Sealer } from '../../runtime/seal.ts';
import type { NativeValue } from './events.ts';
import type { WireFormat } from './request.ts';

const mark = 'svc1.';

/** Seals for one account. */
export interface Seals {
  /** `value` as JSON, of which the same account gets the same again. */
  seal(content: NativeValue): string;
  /** Null: it was altered, is another account's, has a key that is gone, or is too old. */
  open(sealed: string): NativeValue | null;
}

/** Why a seal was not opened. */
export type SealFault = 'unknown_key' | 'altered' | 'expired' | 'unknown_content' | 'too_many';

export interface SealsOptions {
  sealer: Sealer;
  /** Opens what the master key before sealed. */
  previousSealer: Sealer | null;
  /** Unix milliseconds up to which seals that are bound to no account are taken. */
  unboundUntilMs: () => number;
  clock: () => number;
  /** How many seals one request may have opened. */
  openedMax: number;
  refused: (fault: SealFault) => void;
}

/** Formats that want something back: another one that does is one more name. */
const formats: ReadonlySet<string> = new Set<WireFormat>(['chat', 'responses', 'messages']);

/** Whether a text was sealed here: it means nothing to any provider. */
export function isSealed(text: string): boolean {
  return text.startsWith(mark);
}

/** Opens nothing: for a request that has no input. */
export const noSeals: Pick<Seals, 'open'> = { open: () => null };

/** Gives the seals of an account, for one request. What they need is made with the first one. */
export function createSeals(options: SealsOptions): (accountId: string) => Seals {
  const { sealer, previousSealer, openedMax, refused } = options;
  const sealers = previousSealer === null ? [sealer] : [sealer, previousSealer];
  return (accountId) => {
    const bound = new Map<Sealer, BoundSealer>();
    let openedCount = 0;
    const of = (given: Sealer): BoundSealer => {
      const found = bound.get(given) ?? given.bind(`reasoning:${accountId}`);
      bound.set(given, found);
      return found;
    };
    return {
      seal({ format, value }) {
        const sealed = of(sealer).seal(JSON.stringify([format, value]));
        return `${mark}${sealer.keyId}.${sealed.toString('base64url')}`;
      },
      open(text) {
        openedCount += 1;
        const opened =
          openedCount > openedMax
            ? 'too_many'
            : openBy(text.slice(mark.length), options, (keyId) => {
                const named = sealers.find((each) => each.keyId === keyId);
                return named === undefined ? null : of(named);
              });
        if (typeof opened !== 'string') return opened;
        refused(opened);
        return null;
      },
    };
  };
}

function openBy(
  text: string,
  { clock, unboundUntilMs }: SealsOptions,
  sealerOf: (keyId: string) => BoundSealer | null,
): NativeValue | SealFault {
  const nameEnd = text.indexOf('.');
  if (nameEnd < 0) return clock() < unboundUntilMs() ? openUnbound(text) : 'expired';
  const sealer = sealerOf(text.slice(0, nameEnd));
  if (sealer === null) return 'unknown_key';
  const encoded = text.slice(nameEnd + 1);
  const sealed = Buffer.from(encoded, 'base64url');
  // Node passes over what makes no byte: one seal would have many names.
  if (sealed.toString('base64url') !== encoded) return 'altered';
  let content: string;
  try {
    content = sealer.open(sealed);
  } catch {
    return 'altered';
  }
  // A newer process may have sealed what is not known here.
  const [format, value] = JSON.parse(content) as [string, NativeValue['value']];
  return formats.has(format) ? { format: format as WireFormat, value } : 'unknown_content';
}

const openText = v.strictObject({ type: v.literal('reasoning_text'), text: v.string() });
const nonEmpty = v.pipe(v.string(), v.nonEmpty());

/** All that the seals before ever held. */
const unbound = v.union([
  v.strictTuple([
    v.literal('responses'),
    v.strictObject({ id: v.optional(v.string()), encrypted_content: nonEmpty }),
  ]),
  v.strictTuple([v.literal('responses'), v.strictObject({ content: v.array(openText) })]),
  v.strictTuple([v.literal('messages'), v.strictObject({ signature: nonEmpty })]),
  v.strictTuple([
    v.literal('messages'),
    v.strictObject({ type: v.literal('redacted_thinking'), data: nonEmpty }),
  ]),
]);

/** Base64url of JSON, which the client may have made himself: none but known members count. */
function openUnbound(text: string): NativeValue | SealFault {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const known = v.safeParse(unbound, parsed);
    if (!known.success) return 'unknown_content';
    const [format, value] = known.output;
    return { format, value };
  } catch {
    return 'altered';
  }
}

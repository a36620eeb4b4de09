// The body of a reply, put together once as text: it is hashed, sealed and sent as it is.
import type { QuerySpec } from './spec.ts';

export interface ReplyMoney {
  chargeMicros: bigint;
  /** What the paying wallet has available once the charge is taken. */
  remainingMicros: bigint;
}

interface ReplyParts extends ReplyMoney {
  surface: string;
  requestId: QuerySpec['id'];
  isSimulated: boolean;
  /** JSON of an object. */
  dataJson: string;
  normalizedJson: string;
}

const microsPerCredit = 1_000_000n;
const head = '{"ok":true,"replayed":';

export function replyText(parts: ReplyParts): string {
  const { chargeMicros, surface, requestId, isSimulated, dataJson, normalizedJson } = parts;
  const remainingMicros = parts.remainingMicros > 0n ? parts.remainingMicros : 0n;
  const members = JSON.stringify({
    surface,
    credits_charged: Number((chargeMicros + microsPerCredit - 1n) / microsPerCredit),
    charge_microcredits: Number(chargeMicros),
    remaining_credits: Number(remainingMicros / microsPerCredit),
    remaining_microcredits: Number(remainingMicros),
    request_id: requestId,
    simulated: isSimulated,
  });
  return `${head}false,${members.slice(1, -1)},"data":${dataJson},"normalized":${normalizedJson}}`;
}

/** The same reply as whoever did not pay for it is told it. */
export function replayedText(text: string): string {
  return `${head}true${text.slice(`${head}false`.length)}`;
}

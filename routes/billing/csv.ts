// CSV (RFC 4180) for spreadsheets, which run what begins like a formula: such a text gets a `'`.
// Amounts are numbers, whatever they begin with.
import { stringify } from 'csv-stringify/sync';

/** A bigint is an amount in microcredits, and is written in credits. */
export type Cell = string | number | bigint | null;

const microsDigits = 6;

/** Microcredits as credits, exactly, with no more digits than it takes. */
export function creditsText(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(microsDigits + 1, '0');
  const whole = digits.slice(0, -microsDigits);
  const rest = digits.slice(-microsDigits).replace(/0+$/, '');
  return `${micros < 0n ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`;
}

/** Lines as bytes, each ended by CRLF. */
export function csvBytes(rows: readonly (readonly Cell[])[]): Uint8Array {
  const text = stringify(rows as Cell[][], {
    record_delimiter: '\r\n',
    escape_formulas: true,
    // Left alone, it quotes CRLF and not its halves, at which readers end a line as well.
    quoted_match: /[\r\n]/,
    cast: { bigint: creditsText },
  });
  return Buffer.from(text);
}

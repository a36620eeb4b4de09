// Codes as people type and paste them: digits of a mail, letters of a device.

const digitCount = 6;
const letters = /[^BCDFGHJKLMNPQRSTVWXZ]/g;
const letterCount = 8;

/** The digits alone, in any script and with whatever a mail puts between them. */
export function digitsOf(text: string): string {
  return text.normalize('NFKC').replaceAll(/\D/g, '').slice(0, digitCount);
}

export const isWholeCode = (digits: string): boolean => digits.length === digitCount;

/** The consonants alone, in capitals: those that no device shows were typed by mistake. */
function lettersOf(text: string): string {
  return text.normalize('NFKC').toUpperCase().replaceAll(letters, '').slice(0, letterCount);
}

export interface Typed {
  text: string;
  /** Where the next letter comes. */
  caret: number;
}

/** The code with its dash, and the caret behind the letters that were before it. */
export function deviceCode(text: string, caret: number): Typed {
  const typed = lettersOf(text);
  const before = lettersOf(text.slice(0, caret)).length;
  const half = letterCount / 2;
  if (typed.length <= half) return { text: typed, caret: before };
  const shown = `${typed.slice(0, half)}-${typed.slice(half)}`;
  return { text: shown, caret: before > half ? before + 1 : before };
}

export const isWholeDeviceCode = (text: string): boolean => lettersOf(text).length === letterCount;

// Amounts as replies have them: JSON integers in microcredits, which every wallet's constraint
// keeps below 2^53, and beside each the same digits as a string.
import * as v from 'valibot';

export const micros = v.pipe(v.number(), v.integer());
export const exact = v.pipe(v.string(), v.regex(/^-?\d+$/));

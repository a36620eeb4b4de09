// Parameters that nobody here knows and that this family's servers do, each with what it is good
// for. Categories and engines are no such ones: they would be another surface.
import type { ParameterValue } from '../../../search/contract.ts';
import type { ServedSurface } from '../../../search/surfaces.ts';

export const passes: Readonly<Record<string, string>> = {
  language: 'languages of three letters, and countries of a language that is not theirs',
};

/** The server refuses all others with a 400. */
const language = /^(?:all|auto|[a-z]{2,3}(?:-[A-Za-z]{2})?)$/;

export function takes(_surface: ServedSurface, _name: string, value: ParameterValue): boolean {
  return typeof value === 'string' && language.test(value);
}

// Classes are for resources with a lifetime and inherit nothing, but what the platform demands.
import type { Check } from './check.ts';
import { lineOf } from './imports.ts';

/** What else may be extended, and why. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['AudioWorkletProcessor', 'a browser runs no other class in its audio thread'],
  ['Number', 'WholeNumber is a number to everybody but the writer of JSON'],
  ['BodyReader', 'hot parser: each family of readers gives its four steps to one loop'],
]);
const HEAD = /\bclass(?:\s+[\w$]+)?(?:<[^{]*?>)?\s+extends\s+([\w$.]+)/g;

export const inheritance: Check = {
  id: 'inheritance',
  rule: `classes extend Error, or ${[...EXCEPTIONS.keys()].join(', ')}`,
  advice: 'hold the other object, or name the exception with its reason',
  find: ({ sources }) =>
    sources.flatMap(({ path, code }) =>
      [...code.matchAll(HEAD)]
        .filter(({ 1: base = '' }) => !/Error$/.test(base) && !EXCEPTIONS.has(base))
        .map(({ index, 0: head }) => `${path}:${lineOf(code, index)} ${head.replace(/\s+/g, ' ')}`),
    ),
};

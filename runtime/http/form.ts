// application/x-www-form-urlencoded bodies (WHATWG URL, 5.1), as OAuth sends them: short, in UTF-8,
// each parameter once (RFC 6749, 3.1 and 3.2).
import { Problem } from '../problem.ts';
import { fieldProblem } from './validate.ts';

/** More than any request of OAuth has, unknown ones included. */
const fieldsMax = 64;
const toldNameMax = 100;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws Problem invalid_request for bad UTF-8, a repeated parameter, or too many of them */
export function parseForm(bytes: Uint8Array): Record<string, string> {
  return onceEach(new URLSearchParams(textOf(bytes)));
}

/** A query whose parameters are refused where they repeat. @throws as `parseForm` */
export function parseQueryOnce(query: string): Record<string, string> {
  return onceEach(new URLSearchParams(query));
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Problem('invalid_request', { message: 'The form is not valid UTF-8.' });
  }
}

function onceEach(parameters: URLSearchParams): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  let count = 0;
  for (const [name, value] of parameters) {
    count += 1;
    if (count > fieldsMax) {
      throw new Problem('invalid_request', { message: `More than ${fieldsMax} parameters.` });
    }
    const told = name.slice(0, toldNameMax);
    if (name in fields) throw fieldProblem(told, `The parameter '${told}' is repeated.`);
    fields[name] = value;
  }
  return fields;
}

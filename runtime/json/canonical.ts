// Canonical JSON (JCS, RFC 8785): one value has one text, so that a hash of it says what it was.
import canonicalize from 'canonicalize';

/** The package declares a module where it exports a function. */
const serialize = canonicalize as unknown as (value: unknown) => string | undefined;

/** @throws Error for what JSON cannot say. */
export function canonicalJson(value: unknown): string {
  const text = serialize(value);
  if (text === undefined) throw new Error('this value has no JSON');
  return text;
}

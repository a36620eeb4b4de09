// What apps tell as JSON, without what must not be kept; and names that are none. Pure.
import { cut, redactText } from './redact-text.ts';

/** Deeper members of an object are cut: a stack of frames is not that deep. */
const depthMax = 8;
const membersMax = 200;

const secretName = new RegExp(
  'pass|pwd|secret|token|auth|cookie|session|credential|api.?key|signature|' +
    'card|cvc|cvv|iban|e-?mail|phone',
  'i',
);

/** JSON without what must not be kept, wherever in it that stands, names of members included. */
export function redactJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'number') return redactNumber(value);
  if (value === null || typeof value !== 'object') return value ?? null;
  if (depth >= depthMax) return cut.secret;
  if (Array.isArray(value)) {
    return value.slice(0, membersMax).map((item) => redactJson(item, depth + 1));
  }
  return redactMembers(value as Record<string, unknown>, depth);
}

/** The same of an object's members. One that is called as a secret is loses its value. */
export function redactMembers(
  members: Readonly<Record<string, unknown>>,
  depth = 0,
): Record<string, unknown> {
  const entries = Object.entries(members).slice(0, membersMax);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      redactText(name),
      secretName.test(name) && value !== null ? cut.secret : redactJson(value, depth + 1),
    ]),
  );
}

function redactNumber(value: number): number | string {
  if (!Number.isInteger(value)) return value;
  const text = String(value);
  const kept = redactText(text);
  return kept === text ? value : kept;
}

/** Whether a name that somebody chose is a credential or the number of a card. */
export function isSecretLike(name: string): boolean {
  return /^svc_[a-z]{2,8}_|^eyJ|^(?:sk|pk|rk|whsec|gh[opusr]|rzp)[_-]/i.test(name) || isCard(name);
}

/** Told by first digit, length, and the sum of ISO/IEC 7812-1, annex B. */
function isCard(name: string): boolean {
  const digits = name.replace(/[.:_-]/g, '');
  if (!/^[3-6]\d{14,18}$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

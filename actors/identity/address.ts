// An address of mail as it is compared and stored: ASCII local part, IDNA domain, lower case.
import { domainToASCII } from 'node:url';

const bytesMin = 3;
const bytesMax = 254;
const localMax = 64;
/** A dot-atom (RFC 5322, 3.2.3). */
const localPattern = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const domainPattern =
  /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** The address in its one form, or null: it is none. */
export function parseAddress(text: string): string | null {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  if (at < 1 || trimmed.length > 4 * bytesMax) return null;
  const local = trimmed.slice(0, at).toLowerCase();
  if (local.length > localMax || !localPattern.test(local)) return null;
  const typed = trimmed.slice(at + 1).normalize('NFC');
  // What would be more than a name: a port, a path, a literal.
  if (/[\s:/\\?#@[\]%]/.test(typed)) return null;
  const domain = domainToASCII(typed).toLowerCase();
  if (!domainPattern.test(domain)) return null;
  const address = `${local}@${domain}`;
  return address.length >= bytesMin && address.length <= bytesMax ? address : null;
}

/** The domain of an address in its one form. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

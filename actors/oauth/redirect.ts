// Where an answer may be sent: what a client may register, and whether what a request names is one
// of these. A request's is compared as text, since every reading of a URL is a reading too many.
import { domainToASCII } from 'node:url';

export const redirectBytesMax = 500;
export const redirectUrisMax = 20;

export type RedirectKind = 'https' | 'loopback' | 'private';

/** What URIs are made of (RFC 3986, 2), without the wildcard and the mark of a fragment. */
const uriPattern = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?[\]@!$&'()+,;=%-]+$/;
/** RFC 8252, 7.3: the host is one of three, as it is written, and the port is the system's. */
const loopbackPattern = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?(\/[^#]*)?$/;
const httpsPattern = /^https:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?].*)?$/;
/** RFC 8252, 7.1: a name of the app's own, or a single word as `svc-desktop`. */
const privatePattern = /^[a-z][a-z0-9.+-]*:\/[^@]*$/;
/**
 * Schemes that a browser or a system answers itself. A page that is sent there runs a script, reads
 * a file or starts a program.
 */
const knownSchemes = new Set(
  (
    'about blob chrome chrome-extension content data facetime feed file filesystem ftp gopher ' +
    'http https imap intent jar javascript ldap ldaps mailto market mhtml moz-extension news ' +
    'nfs nntp pop resource rtsp search-ms sftp shell sip sips smb sms ssh tel telnet urn ' +
    'vbscript view-source vnc ws wss xmpp'
  ).split(' '),
);

/** What is wrong with a redirect URI that a client would register; null: nothing. */
export function redirectFault(uri: string): string | null {
  if (uri.length > redirectBytesMax) return `expected at most ${redirectBytesMax} characters`;
  if (uri.includes('#')) return 'expected no fragment';
  if (uri.includes('*')) return 'expected no wildcard';
  if (!uriPattern.test(uri) || !URL.canParse(uri)) return 'expected a URI';
  const { username, password } = new URL(uri);
  if (username !== '' || password !== '') return 'expected no user';
  if (redirectKindOf(uri) !== null) return null;
  return (
    'expected https, http at a loopback address, or a scheme of its own such as ' +
    'com.example.app:/'
  );
}

/** How the answer gets to the client; null: such a URI is no redirect URI. */
export function redirectKindOf(uri: string): RedirectKind | null {
  const loopback = loopbackPattern.exec(uri);
  if (loopback !== null) return isPort(loopback[2]) ? 'loopback' : null;
  const https = httpsPattern.exec(uri);
  if (https !== null) return isHost(https[1] ?? '') ? 'https' : null;
  const scheme = uri.slice(0, uri.indexOf(':'));
  // Windows starts programs by these.
  const isTaken = knownSchemes.has(scheme) || scheme.startsWith('ms-');
  return privatePattern.test(uri) && !isTaken ? 'private' : null;
}

/** Whether a request may name it: exactly as registered, a loopback's port aside. */
export function isRegistered(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true;
  const wanted = loopbackPattern.exec(asked);
  if (wanted === null || !isPort(wanted[2])) return false;
  const [, host, , path] = wanted;
  return registered.some((uri) => {
    const known = loopbackPattern.exec(uri);
    return known !== null && known[1] === host && known[3] === path;
  });
}

/** What a person is shown of it: where the answer goes, no more. */
export function shownRedirect(uri: string): { kind: RedirectKind; shown: string } {
  const kind = redirectKindOf(uri) ?? 'private';
  if (kind === 'private') return { kind, shown: uri.slice(0, uri.indexOf(':') + 1) };
  return { kind, shown: new URL(uri).host };
}

/** The URI with the members of an answer added to its query (RFC 6749, 4.1.2). */
export function answerTo(uri: string, members: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(members).toString();
  const join = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?';
  return `${uri}${join}${query}`;
}

function isPort(digits: string | undefined): boolean {
  return digits === undefined || (Number(digits) >= 1 && Number(digits) <= 65_535);
}

/** A name in its ASCII form, or an address: nothing that a browser would read as another. */
function isHost(host: string): boolean {
  return domainToASCII(host) === host || host.startsWith('[');
}

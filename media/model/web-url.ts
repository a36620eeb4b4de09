// A URL of the web, as a stranger wrote it and as it may be passed on. Readers of URLs disagree:
// `http://example.com\@169.254.169.254/` is on the first host for one of them and on the second for
// another. What two could read in two ways is refused, and the parsed form is what goes on. Pure.
import { isInternalHost } from '../../runtime/outbound/hosts.ts';

/** `fault` is what is wrong with it, as the end of a sentence. */
export type WebUrl = { href: string } | { fault: string };

/** Signed addresses of stores have up to 2 KB; servers are to take 8,000 bytes (RFC 9110, 4.1). */
const lengthMax = 16_384;
/** Parsers leave these out or take them for something else (WHATWG URL, 4.4). */
const ambiguous = /[\s\\\p{Cc}]/u;

/** Reads an `http` or `https` URL. Its host is judged by itself: names are not looked up. */
export function readWebUrl(text: string): WebUrl {
  if (text.length > lengthMax) return { fault: `is longer than ${lengthMax} characters` };
  if (ambiguous.test(text)) {
    return { fault: 'is written with a blank, a backslash or a control character' };
  }
  if (!URL.canParse(text)) return { fault: 'is not a URL' };
  const { href, username, password, hostname } = new URL(text);
  if (username !== '' || password !== '') return { fault: 'must be without a user' };
  if (isInternalHost(hostname)) return { fault: 'is of a private network, not of the web' };
  return { href };
}

// The name of a page: its URL without what does not choose the page. Nobody wins twice with one
// page by writing its URL in another way.

const tracking =
  /^(?:utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|igsh|ref|ref_src|si|share)$/;

/** Null: it is no URL of the web. */
export function pageUrlOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port, pathname, searchParams } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return null;
  const host = hostname.replace(/^www\./, '').replace(/\.$/, '');
  const path = plainPath(pathname);
  const kept = [...searchParams].filter(([name]) => !tracking.test(name.toLowerCase()));
  kept.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  const query = new URLSearchParams(kept).toString();
  // The scheme is none of the page: both lead to it.
  return `${host}${port === '' ? '' : `:${port}`}${path}${query === '' ? '' : `?${query}`}`;
}

function plainPath(path: string): string {
  const decoded = path.replace(/%([0-7][0-9a-f])/gi, (whole, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : whole.toUpperCase();
  });
  return decoded.replace(/\/{2,}/g, '/').replace(/\/(?:index\.(?:html?|php))?$/, '');
}

/** Whether a host is one of the patterns; no pattern: any is. */
export function isHostAllowed(url: string, patterns: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const { host, hostname } = new URL(url);
  return (
    patterns.length === 0 ||
    patterns.some((pattern) => {
      const own = /:\d+$/.test(pattern) ? host : hostname;
      return pattern.startsWith('*.') ? own.endsWith(pattern.slice(1)) : own === pattern;
    })
  );
}

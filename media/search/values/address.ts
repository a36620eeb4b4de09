// An address of the web as a provider wrote it, and as it may be passed on: parsed, of http or
// https, without a user. Whatever else a browser would run or show inline is refused.

const lengthMax = 2_048;
/** Parameters that say where a reader came from, and name no other page. */
const tracking = /^(?:utm_\w+|gclid|fbclid|msclkid|srsltid)$/i;

/** Undefined: it is none. */
export function addressOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 2 * lengthMax) return undefined;
  const text = value.trim();
  const whole = text.startsWith('//') ? `https:${text}` : text;
  if (!URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') {
    url.username = '';
    url.password = '';
  }
  return url.href.length > lengthMax ? undefined : url.href;
}

/** The host without `www.`, in small letters. */
export function hostOf(address: string): string {
  return bareHost(new URL(address));
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^www\./, '').replace(/\.$/, '');
}

/** Equal for addresses that lead to one page: scheme, `www.`, place and source say nothing. */
export function pageOf(address: string): string {
  const url = new URL(address);
  if (url.search !== '') {
    for (const name of [...url.searchParams.keys()]) {
      if (tracking.test(name)) url.searchParams.delete(name);
    }
  }
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${bareHost(url)}${port}${url.pathname.replace(/\/$/, '')}${url.search}`;
}

/** Whether the host is one of these, or below one. */
export function isWithin(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => {
    const bare = domain.replace(/^www\./, '');
    return host === bare || host.endsWith(`.${bare}`);
  });
}

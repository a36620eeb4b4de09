// Where a person goes after signing in: a path of ours that is listed here, and never anywhere
// else. Server and pages ask the same function.

const fallback = '/account';
/** Longer than any request that an app may make of us. */
const lengthMax = 12_000;

/** Matched against a path as it was written: no other spelling of it counts. */
const targets = [
  /^\/oauth\/(authorize|device)$/,
  /^\/account(\/(sessions|apps))?$/,
  /^\/(console|voice)(\/.*)?$/,
  /^\/(video|search)$/,
];

/**
 * The path, query and fragment that were asked for, or those of the account. Browsers take `//x`,
 * `/\x` and `/<tab>/x` for another host, and `/a/%2e%2e/b` for `/b`: whatever the parser reads
 * differently from what is written is refused.
 */
export function returnPath(asked: string | null | undefined): string {
  if (asked === null || asked === undefined || asked.length > lengthMax) return fallback;
  const origin = 'https://origin.invalid';
  if (!asked.startsWith('/') || !URL.canParse(asked, origin)) return fallback;
  const url = new URL(asked, origin);
  const [written] = asked.split(/[?#]/, 1);
  if (url.origin !== origin || url.pathname !== written) return fallback;
  if (!targets.some((target) => target.test(written))) return fallback;
  return `${url.pathname}${url.search}${url.hash}`;
}

/** The page for signing in, and what comes after it; `again`: also for who is signed in. */
export function signInPath(target: string, { again = false } = {}): string {
  const asked = `/signin?return_to=${encodeURIComponent(target)}`;
  return again ? `${asked}&reauthenticate=1` : asked;
}

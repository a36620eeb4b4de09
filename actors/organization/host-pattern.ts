// Patterns of hosts, as `allowed_mcp_domains` has them: `mcp.example.com`, or `*.example.com` for
// every host below it. Compared in ASCII (IDNA, RFC 5891) and lower case.
import { domainToASCII } from 'node:url';
import { getPublicSuffix } from 'tldts';

const wildcard = '*.';
/** What the parser of URLs would take for the end of the host, or for other characters. */
const foreign = /[\s/?#@:\\%]/;
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The pattern as it is compared; null: it is none. `*.` before a public suffix of the ICANN part of
 * the list would name everybody's hosts, and is none either.
 */
export function readHostPattern(text: string): string | null {
  const isWild = text.startsWith(wildcard);
  const host = hostOf(isWild ? text.slice(wildcard.length) : text);
  if (host === null) return null;
  if (!isWild) return host;
  const suffix = getPublicSuffix(host, { allowPrivateDomains: false });
  return suffix === host ? null : wildcard + host;
}

function hostOf(text: string): string | null {
  if (foreign.test(text)) return null;
  const host = domainToASCII(text.toLowerCase());
  const labels = host.split('.');
  const isHost = host.length <= 253 && labels.length > 1 && labels.every(isLabel);
  return isHost ? host : null;
}

function isLabel(label: string): boolean {
  return labelPattern.test(label);
}

/** @param patterns as `readHostPattern` gives them. */
export function matchesAny(patterns: readonly string[], host: string): boolean {
  const compared = domainToASCII(host.toLowerCase());
  if (compared === '') return false;
  return patterns.some((pattern) =>
    pattern.startsWith(wildcard) ? compared.endsWith(pattern.slice(1)) : compared === pattern,
  );
}

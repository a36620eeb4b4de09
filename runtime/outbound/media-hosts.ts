// Patterns of the hosts that a provider's files come from: `files.example.com`, or `*.example.com`
// for every name below it, at any depth, but not itself. Pure.
import { isPublicName } from './hosts.ts';

/** Two labels at least: `*.com` would be anybody's. */
const pattern = /^(\*\.)?([a-z\d_-]+(\.[a-z\d_-]+)+)$/i;

/** Whether it may stand in `media_hosts`. Names with other letters are written as `xn--…`. */
export function isHostPattern(text: string): boolean {
  const [, , name = ''] = pattern.exec(text) ?? [];
  return text.length <= 253 && isPublicName(name) && !/\.\d+$/.test(name);
}

/** @param host as `Target` has it */
export function matchesHost(text: string, host: string): boolean {
  if (!isHostPattern(text)) return false;
  const wanted = text.toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

// Where images and files of a message may be. A provider fetches what a stranger names: one that
// runs beside us would read its own disk (file:) or the metadata service of its cloud for him.
import { BlockList, isIP } from 'node:net';
import { fieldProblem } from '../../runtime/http/validate.ts';
import type { Message } from './request.ts';

const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addAddress('fd00:ec2::254', 'ipv6');
refused.addAddress('::', 'ipv6');
refused.addAddress('0.0.0.0', 'ipv4');
/** Names of the same services. */
const refusedNames = /^(metadata|metadata\.google\.internal|instance-data(\.ec2\.internal)?)\.?$/i;

/** Whether the `hostname` of a URL is link-local or a metadata service. Names are not looked up. */
export function isRefusedHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(host);
  if (version === 0) return refusedNames.test(host);
  return refused.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Refuses what no image or file can be. Bare base64 is left to the provider: some take it.
 * @throws Problem invalid_request that names `list`, the member that holds the messages
 */
export function assertMediaUrls(messages: readonly Message[], list: string): void {
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type !== 'image' && part.type !== 'file') continue;
      const fault = urlFault(part.url);
      if (fault !== null) throw fieldProblem(list, `The URL of an image or a file ${fault}.`);
    }
  }
}

const schemePattern = /^\s*([a-z][a-z0-9+.-]*):/i;

function urlFault(url: string): string | null {
  // A scheme is short: a picture of megabytes is not searched for one.
  const scheme = schemePattern.exec(url.slice(0, 64))?.[1]?.toLowerCase();
  if (url.trim() === '') return 'is empty';
  if (scheme === undefined || scheme === 'data') return null;
  if (scheme !== 'http' && scheme !== 'https') return 'must be http, https or data';
  if (!URL.canParse(url)) return 'is not a URL';
  return isRefusedHost(new URL(url).hostname) ? 'is link-local or of a metadata service' : null;
}

// A URL as the guard reads it: parsed before anything of it is looked at, and what is parsed is
// what is connected to. Which hosts may be asked is judged elsewhere. Pure.
import { isIP } from 'node:net';
import { plainAddress } from './addresses.ts';
import type { OutboundUse } from './contract.ts';
import { OutboundFault } from './fault.ts';
import { withoutBrackets } from './hosts.ts';

/** The longest URL as it is given, and as it is parsed. */
const urlLengthMax = 2_048;

export interface Target {
  /** Without a fragment, its host without the dot of the root. */
  url: URL;
  isSecure: boolean;
  /** A name in lower case, or an address as `plainAddress` writes it. */
  host: string;
  /** The host is an address: nothing is resolved. */
  isAddress: boolean;
  port: number;
}

/**
 * Reads what a stranger wrote, or what a redirect says beside the URL that it came from.
 * @throws OutboundFault source_refused
 */
export function readTarget(text: string, base?: URL): Target {
  if (text.length > urlLengthMax) throw refused('the URL is too long');
  if (!URL.canParse(text, base?.href)) throw refused('it is no URL');
  const url = new URL(text, base?.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('the scheme');
  if (url.username !== '' || url.password !== '') throw refused('the URL has a user');
  url.hash = '';
  // One name, one spelling: for certificates, `Host` and whatever hosts are compared with.
  if (/[^.]\.$/.test(url.hostname)) url.hostname = url.hostname.slice(0, -1);
  if (url.href.length > urlLengthMax) throw refused('the URL is too long');
  const bare = withoutBrackets(url.hostname);
  const host = plainAddress(bare) ?? bare;
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  return { url, isSecure, host, isAddress: isIP(host) !== 0, port };
}

/** Whether scheme and port are what the use has without an exception. */
export function isUsual({ isSecure, port }: Target, { schemes, ports }: OutboundUse): boolean {
  if (ports === 'high') return isSecure && (port === 443 || port >= 1_024);
  if (schemes === 'https' && !isSecure) return false;
  return port === 80 || port === 443;
}

export function refused(detail: string): OutboundFault {
  return new OutboundFault('source_refused', detail);
}

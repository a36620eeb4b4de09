// Whether a URL may be asked, and at which addresses: its form first, then its name, then every
// address that the name has now. One that is not fine refuses all of them.
import { AwakeTimer } from '../awake.ts';
import { classOf, plainAddress } from './addresses.ts';
import type { OutboundProvider, OutboundUse } from './contract.ts';
import { type Exception, isAbout } from './exceptions.ts';
import { OutboundFault } from './fault.ts';
import { isInternalHost, isMetadataHost, isPublicName } from './hosts.ts';
import { matchesHost } from './media-hosts.ts';
import { addressesMax, type NameScope, type Resolve } from './names.ts';
import { leadsHome, type OwnPlace } from './own.ts';
import { isUsual, readTarget, refused, type Target } from './target.ts';

/** More are not tried. */
const pinnedMax = 8;

export interface Judge {
  readonly exceptions: readonly Exception[];
  readonly own: readonly OwnPlace[];
  readonly resolve: Resolve;
}

export interface Question {
  readonly use: OutboundUse;
  readonly provider: OutboundProvider | undefined;
  readonly namesMs: number;
  readonly signal: AbortSignal;
}

/**
 * The addresses that a connection to this target may have.
 * @throws OutboundFault
 */
export async function judge(self: Judge, target: Target, question: Question): Promise<string[]> {
  const { host, port } = target;
  if (question.signal.aborted) throw question.signal.reason;
  const open = exceptionsFor(self.exceptions, target, question);
  assertHost(target, question, open);
  const found = target.isAddress ? [host] : await resolveAll(self, target, question, open);
  const addresses = found.map(plainAddress);
  if (addresses.length > addressesMax) throw refused('the name has too many addresses');
  const plain = addresses.filter((address) => address !== null);
  if (plain.length < addresses.length) throw refused('an address is none, or has a zone');
  const isWeb = isUsual(target, question.use) && (target.isAddress || isPublicName(host));
  const isFine = (address: string) => {
    const kind = classOf(address);
    if (kind === 'never') return false;
    return (isWeb && kind === 'public') || open.some((each) => isAbout(each, host, address));
  };
  if (!plain.every(isFine)) throw refused('an address is not public');
  const resolveOwn = (name: string) => inTime(self.resolve, name, 'local', question);
  if (await leadsHome(self.own, { host, port }, plain, resolveOwn)) {
    throw refused('it is a place of this service');
  }
  return [...new Set(plain)].slice(0, pinnedMax);
}

/** Exceptions for scheme and port of the target. A provider's own host is one of them. */
function exceptionsFor(
  exceptions: readonly Exception[],
  target: Target,
  { use, provider }: Question,
): Exception[] {
  const usual = isUsual(target, use);
  const open = exceptions.filter(({ port }) => (port === null ? usual : port === target.port));
  if (provider === undefined) return open;
  const { host, port } = readTarget(provider.baseUrl);
  return port === target.port ? [...open, { host, network: null, port }] : open;
}

/** What the name says by itself: nobody is asked for what is refused anyway. */
function assertHost(target: Target, { use, provider }: Question, open: Exception[]): void {
  const { host, url } = target;
  if (isMetadataHost(url.hostname)) throw refused('a metadata service');
  if (provider !== undefined && !isProviders(host, provider)) {
    throw refused('the host is not one of its provider');
  }
  const mayBeOpen = open.some((each) => each.network !== null || each.host === host);
  if (mayBeOpen) return;
  if (!isUsual(target, use)) throw refused('the port or the scheme');
  if (isInternalHost(url.hostname)) throw refused('the host is none of the web');
}

function isProviders(host: string, { baseUrl, mediaHosts }: OutboundProvider): boolean {
  return host === readTarget(baseUrl).host || mediaHosts.some((each) => matchesHost(each, host));
}

async function resolveAll(
  { resolve }: Judge,
  { host }: Target,
  question: Question,
  open: Exception[],
): Promise<readonly string[]> {
  const isLocal = !isPublicName(host) || open.some((each) => each.host === host);
  const found = await inTime(resolve, host, isLocal ? 'local' : 'web', question);
  if (found.length === 0) throw new OutboundFault('source_unreachable', 'the name has no address');
  return found;
}

/** A resolver may not end when it is told to: then nobody waits for it. */
async function inTime(
  resolve: Resolve,
  name: string,
  scope: NameScope,
  { namesMs, signal }: Question,
): Promise<readonly string[]> {
  const ending = new AbortController();
  return await new Promise<readonly string[]>((done, fail) => {
    const end = (fault: OutboundFault) => {
      fail(fault);
      ending.abort();
    };
    const unreachable = (detail: string) => new OutboundFault('source_unreachable', detail);
    const timer = new AwakeTimer(namesMs, () => end(unreachable('the name took too long')));
    const abort = () => end(signal.reason as OutboundFault);
    signal.addEventListener('abort', abort, { once: true });
    resolve(name, scope, ending.signal)
      .then(done, () => fail(unreachable('the name has no address')))
      .finally(() => {
        timer.cancel();
        signal.removeEventListener('abort', abort);
      });
  });
}

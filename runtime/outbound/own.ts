// What belongs to this service itself: its listeners, database, Redis and blob store. Nobody is let
// to them by way of a URL, whatever is open.
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { classOf, plainAddress } from './addresses.ts';
import { withoutBrackets } from './hosts.ts';

export interface OwnPlace {
  /** A name or an address; `0.0.0.0` and `::` are all of this machine. */
  readonly host: string;
  readonly port: number;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether one of these addresses leads to a place of ours. Names of ours are looked up then. */
export async function leadsHome(
  own: readonly OwnPlace[],
  { host, port }: OwnPlace,
  addresses: readonly string[],
  resolve: (name: string) => Promise<readonly string[]>,
): Promise<boolean> {
  const places = own.filter((place) => place.port === port).map((place) => hostOf(place.host));
  if (places.includes(host)) return true;
  // A public address may be that of many names: of ours only the name is refused.
  const reachable = addresses.filter((address) => classOf(address) !== 'public' || isHere(address));
  if (places.length === 0 || reachable.length === 0) return false;
  const known = await Promise.all(
    places.map(async (place) => (isIP(place) === 0 ? await resolve(place) : [place])),
  );
  const ours = known.flat().map((address) => plainAddress(address) ?? address);
  // On this machine the port alone decides: who listens on one of its addresses may do on all.
  if (ours.some(isHere) && reachable.some(isHere)) return true;
  return reachable.some((address) => ours.includes(address));
}

function hostOf(host: string): string {
  const bare = withoutBrackets(host).toLowerCase().replace(/\.$/, '');
  return plainAddress(bare) ?? bare;
}

function isHere(address: string): boolean {
  if (address === '0.0.0.0' || address === '::') return true;
  if (loopback.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')) return true;
  return Object.values(networkInterfaces()).some((each) =>
    each?.some((one) => plainAddress(one.address) === address),
  );
}

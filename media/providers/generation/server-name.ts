// A short name of a server and one of its models. What a server wants back is marked with it: no
// other server, and no other model, is told. It says nothing of the address.
import { createHash } from 'node:crypto';
import type { UpstreamTarget } from './contract.ts';

const nameLength = 16;
const names = new WeakMap<UpstreamTarget, string>();

/** Providers with one address are one server, whatever they are called. */
export function serverName(target: UpstreamTarget): string {
  const known = names.get(target);
  if (known !== undefined) return known;
  const { baseUrl, upstreamModel } = target;
  const address = `${baseUrl.replace(/\/+$/, '')} ${upstreamModel}`;
  const name = createHash('sha256').update(address).digest('base64url').slice(0, nameLength);
  names.set(target, name);
  return name;
}

// The address and the credential that a route leads to, as a digest. What is known of the route
// holds for these alone, and no key stands in what is sent or kept.
import { createHash } from 'node:crypto';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';

export type RouteIdentity = Pick<UpstreamTarget, 'family' | 'baseUrl' | 'apiKey'>;

export function identityOf({ family, baseUrl, apiKey }: RouteIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([family, baseUrl, apiKey]))
    .digest('hex');
}

// What is wrong with an OAuth client or the settings of identity beyond their schema.
import { redirectFault } from '../oauth/redirect.ts';
import type { IdentityRecord, OAuthClientRecord } from './document.ts';
import type { PathFault } from './path-fault.ts';

/** An authorization begins by one of these; the others go on with it. */
const firstGrants: readonly string[] = [
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:device_code',
];

export function clientFaults(client: OAuthClientRecord): PathFault[] {
  const { redirect_uris: uris, grants } = client;
  const faults = uris.flatMap((uri, index): PathFault[] => {
    const message = redirectFault(uri);
    return message === null ? [] : [{ path: `redirect_uris[${index}]`, message }];
  });
  faults.push(...twice(uris, 'redirect_uris'), ...twice(grants, 'grants'));
  faults.push(...twice(client.scopes, 'scopes'));
  if (!grants.some((grant) => firstGrants.includes(grant))) {
    faults.push({ path: 'grants', message: `one of ${firstGrants.join(' and ')} is needed` });
  }
  if (grants.includes('authorization_code') && uris.length === 0) {
    faults.push({ path: 'redirect_uris', message: 'the grant authorization_code needs one' });
  }
  return faults;
}

/** Whoever accepted terms accepted a version of them. */
export function identityFaults(settings: IdentityRecord): PathFault[] {
  const { terms_url: url, terms_version: version } = settings;
  if (url === null || version !== null) return [];
  return [{ path: 'terms_version', message: 'terms_url needs a version' }];
}

function twice(values: readonly string[], path: string): PathFault[] {
  return values.flatMap((value, index) => {
    if (values.indexOf(value) === index) return [];
    return [{ path: `${path}[${index}]`, message: `"${value}" is there twice` }];
  });
}

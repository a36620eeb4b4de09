// The apps that other people's libraries are asked to be: those that are there from the start, and
// confidential ones, which an administrator makes.
import { oauthScopes } from '../../../actors/oauth/client.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { makeSecretClient } from '../../routes/oauth/secret-client.ts';

export type Authentication = 'none' | 'client_secret_basic' | 'client_secret_post';

export interface App {
  readonly id: string;
  readonly authentication: Authentication;
  /** The port of a loopback redirect is free (RFC 8252, 7.3). */
  readonly redirectUri: string;
}

/** An app as a library knows it. */
export interface KnownApp extends App {
  readonly secret: string | null;
}

export const everyScope = oauthScopes.join(' ');

export const cli: App = {
  id: 'svc-cli',
  authentication: 'none',
  redirectUri: 'http://127.0.0.1:51004/callback',
};
export const desktop: App = {
  id: 'svc-desktop',
  authentication: 'none',
  redirectUri: 'svc-desktop:/callback',
};

const ownServer = 'https://server.example.com/callback';

/** Clients of servers of their own, once with each way to authenticate. */
export const confidentialApps: readonly App[] = [
  { id: 'basic-app', authentication: 'client_secret_basic', redirectUri: ownServer },
  { id: 'post-app', authentication: 'client_secret_post', redirectUri: ownServer },
];

/** Has them made under names of their own; the secrets by name. */
export async function makeSecrets(
  bed: Testbed,
  apps: readonly App[],
): Promise<Map<string, string>> {
  const secrets = new Map<string, string>();
  for (const { id } of apps) secrets.set(id, await makeSecretClient(bed, id));
  return secrets;
}

// Which app asks, at the endpoints where no person is with it.
import type { OAuthClient } from '../../actors/oauth/client.ts';
import { isAuthentic, readClient } from '../../actors/oauth/client-secret.ts';
import { resolveClient } from '../../actors/oauth/resolve.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import type { Services } from '../services.ts';
import { failed, invalidClient } from './problems.ts';

/** What a form says of its client. */
interface ClientFields {
  client_id?: string | undefined;
  client_secret?: string | undefined;
}

/** The header of whoever shows a secret there. */
export const clientHeaders = {
  authorization: {
    description:
      'HTTP Basic of a confidential client: `client_id` and secret, each encoded as in a form ' +
      '(RFC 6749, 2.3.1). It stands here or in the form, not in both.',
  },
};

/** @throws Problem unauthenticated as `invalid_client`, rate_limited */
export async function requireClient(
  form: ClientFields,
  exchange: Pick<Exchange, 'header' | 'clientAddress'>,
  services: Pick<Services, 'access' | 'catalog' | 'limits'>,
): Promise<OAuthClient> {
  // It is empty once the client is gone, and looked up when it is first read.
  const asking = { clientAddress: exchange.clientAddress };
  const shown = readClient(exchange.header('authorization'), form);
  const client = shown === null ? null : await resolveClient(services, shown.clientId);
  const isGood = client !== null && isAuthentic(client, shown?.secret ?? null, Date.now());
  if (!isGood) throw failed(invalidClient(), asking, services);
  return client;
}

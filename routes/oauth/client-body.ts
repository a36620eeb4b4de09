// A client as the person is told of it who is asked.
import * as v from 'valibot';
import type { OAuthClient } from '../../actors/oauth/client.ts';

export const clientSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    display_name: v.string(),
    host: v.nullable(v.string()),
    first_party: v.boolean(),
    verified: v.boolean(),
  }),
  v.title('AskingClient'),
  v.description(
    'Where an administrator describes the client, `verified` is true. Else the client says all ' +
      'of this of itself, in a document at `host`.',
  ),
);

export function clientBody(client: OAuthClient): v.InferOutput<typeof clientSchema> {
  return {
    id: client.id,
    display_name: client.displayName,
    host: client.documentHost,
    first_party: client.firstParty,
    verified: client.documentHost === null,
  };
}

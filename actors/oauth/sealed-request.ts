// A request that was checked, as the approval page carries it to its decision. It is sealed for the
// account and session that it was shown to: nobody else's browser can decide it.
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { Sealer } from '../../runtime/seal.ts';
import { oauthScopes } from './client.ts';
import { approvalLimits } from './limits.ts';
import type { Asked } from './request.ts';

const { requestMs, requestCharactersMax } = approvalLimits;

const contentSchema = v.strictObject({
  id: v.string(),
  until: v.number(),
  client: v.string(),
  redirect: v.string(),
  state: v.nullable(v.string()),
  challenge: v.string(),
  scopes: v.array(v.picklist(oauthScopes)),
});

/** Whom the page is shown to. */
export interface Reader {
  accountId: string;
  /** `ses_…` */
  sessionId: string;
}

export interface OpenedRequest {
  /** It is decided once. */
  id: string;
  expiresAtMs: number;
  asked: Asked;
}

export function sealRequest(
  sealer: Pick<Sealer, 'seal'>,
  asked: Asked,
  reader: Reader,
  nowMs: number,
): string {
  const content: v.InferOutput<typeof contentSchema> = {
    id: randomBytes(16).toString('base64url'),
    until: nowMs + requestMs,
    client: asked.clientId,
    redirect: asked.redirectUri,
    state: asked.state,
    challenge: asked.challenge,
    scopes: [...asked.scopes],
  };
  return sealer.seal(JSON.stringify(content), purposeOf(reader)).toString('base64url');
}

/** Null: it was not sealed here for this reader, or its time is over. */
export function openRequest(
  sealer: Pick<Sealer, 'open'>,
  sealed: string,
  reader: Reader,
  nowMs: number,
): OpenedRequest | null {
  if (sealed.length > requestCharactersMax) return null;
  const text = opened(sealer, sealed, purposeOf(reader));
  if (text === null) return null;
  const { id, until, client, redirect, state, challenge, scopes } = v.parse(
    contentSchema,
    JSON.parse(text),
  );
  if (until <= nowMs) return null;
  const asked = { clientId: client, redirectUri: redirect, state, challenge, scopes };
  return { id, expiresAtMs: until, asked };
}

function purposeOf({ accountId, sessionId }: Reader): string {
  return `oauth request: ${accountId} ${sessionId}`;
}

function opened(sealer: Pick<Sealer, 'open'>, sealed: string, purpose: string): string | null {
  try {
    return sealer.open(Buffer.from(sealed, 'base64url'), purpose);
  } catch {
    return null;
  }
}

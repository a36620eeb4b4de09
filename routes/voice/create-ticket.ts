// POST /v1/voice/tickets: lets a browser, which cannot send headers with a handshake, open one
// session. Nothing is stored before the ticket is used.
import { voiceLimits } from '../../actors/voice/limits.ts';
import { sealTicket } from '../../actors/voice/sealed.ts';
import { newId } from '../../runtime/ids.ts';
import { catalogOf } from '../callers-catalog.ts';
import { defineRoute } from '../define.ts';
import { requireVoices } from './find-voice.ts';
import { ticketSchema } from './schema.ts';

export const createTicket = defineRoute({
  method: 'POST',
  path: '/v1/voice/tickets',
  aliases: ['/api/v1/voice/tickets'],
  operationId: 'createVoiceTicket',
  summary: 'Create a ticket for one voice session',
  description:
    'For browsers: `GET /v1/voice/sessions?ticket=…` within 60 seconds, once; a handshake that ' +
    'is refused with 429 or 503 leaves the ticket good. The session counts against the limits of ' +
    'the key that made the ticket.',
  tag: 'Voice',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'voice:session' },
  cors: 'public',
  replies: { 200: { description: 'The ticket.', schema: ticketSchema } },
  problems: ['policy_blocked'],
  handle({ caller, services }) {
    const { accountId, walletId } = caller;
    requireVoices(catalogOf(caller, services), caller);
    const { ticketMs } = voiceLimits;
    const ticket = sealTicket(services.voice.sealer, {
      id: newId('vs', services.system.node),
      accountId,
      walletId,
      keyId: caller.kind === 'key' ? caller.keyId : null,
      signedInId: caller.kind === 'user' ? caller.signedIn.id : null,
      expiresAtMs: Date.now() + ticketMs,
    });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ticket, expires_in: ticketMs / 1_000 },
    };
  },
});

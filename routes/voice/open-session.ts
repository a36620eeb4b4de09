// GET /v1/voice/sessions: the WebSocket of a voice session. Everything after the handshake is in
// actors/voice.
import { strict as assert } from 'node:assert';
import { webSearchOf } from '../../actors/catalog/surface.ts';
import { voiceProtocol } from '../../actors/voice/events.ts';
import { voiceLimits } from '../../actors/voice/limits.ts';
import { openSession as open } from '../../actors/voice/session.ts';
import type { VoiceSpec } from '../../actors/voice/spec.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { catalogOf } from '../callers-catalog.ts';
import { defineRoute } from '../define.ts';
import { payerOf } from '../payer.ts';
import type { VoiceServices } from '../services.ts';
import { findVoice, requireVoices } from './find-voice.ts';
import { voiceProtocolText } from './words.ts';

export const openSession = defineRoute({
  method: 'GET',
  path: '/v1/voice/sessions',
  aliases: ['/api/v1/voice/sessions'],
  operationId: 'openVoiceSession',
  summary: 'Open a voice session (WebSocket)',
  description:
    'A WebSocket handshake. Credentials: `Authorization` or `X-API-Key`; or the query parameter ' +
    '`ticket`; or the subprotocols `svc.voice.v1, svc.key.<API_KEY>`. Text messages are JSON, ' +
    'binary messages are audio: frames of 1,024 bytes up, whole samples of at most 80 ms down. ' +
    'A session is idle when neither side makes a sound. Audio beyond real time, and a burst of ' +
    '5 seconds, is dropped; more than 4,096 messages, pings or pongs within a second close the ' +
    'connection (1008). When its key is revoked, or its account disabled, a session is ended ' +
    'with the fatal error `unauthenticated`. An API key has as many sessions at once as its ' +
    `limit of concurrency; a user without one has 64, over all shards.\n${voiceProtocolText}`,
  tag: 'Voice',
  documents: ['account', 'model'],
  access: { kind: 'socket', scope: 'voice:session' },
  cors: 'public',
  headers: {
    'sec-websocket-protocol': { description: '`svc.voice.v1`, perhaps `svc.key.<API_KEY>`.' },
  },
  socket: {
    subprotocol: voiceProtocol,
    messageBytesMax: voiceLimits.messageBytesMax,
    framesPerSecondMax: voiceLimits.framesPerSecondMax,
    bufferedBytesMax: voiceLimits.bufferedBytesMax,
    silenceSecondsMax: voiceLimits.silenceSeconds,
    accept({ caller, services, exchange }) {
      const { permit, sessionPermit } = caller;
      const { voice, system } = services;
      requireVoices(catalogOf(caller, services), caller);
      if (sessionPermit !== undefined) sessionPermit.isTaken = true;
      else if (!voice.host.admit()) throw full(services.voice);
      const releasePermit = permit.take();
      assert(releasePermit !== null, 'who is upgraded is still there');
      const spec: VoiceSpec = {
        id: newId('vs', system.node),
        exchangeId: exchange.requestId,
        ...payerOf(caller),
        dependsOn: caller.dependsOn,
        findVoice: (voiceId) => findVoice(catalogOf(caller, services), caller, voiceId),
        webSearch: () => webSearchOf(catalogOf(caller, services).snapshot),
        releasePermit,
        link: { session: null },
      };
      const handlers = open(system, voice.sessionKind, spec);
      if (handlers !== null) return handlers;
      voice.host.leave();
      releasePermit();
      throw full(services.voice);
    },
  },
  replies: { 101: { description: 'The session is open.' } },
  problems: ['invalid_request', 'policy_blocked', 'overloaded'],
  handle() {
    throw new Problem('invalid_request', {
      message: 'This is a WebSocket: send a handshake of version 13 (RFC 6455).',
      headers: { 'sec-websocket-version': '13' },
    });
  },
});

function full(voice: VoiceServices): Problem {
  voice.refused('overloaded');
  return new Problem('overloaded', {
    message: 'No further voice session can be opened at the moment.',
    headers: { 'retry-after': '2' },
  });
}

// GET /v1/voice/voices: the voices that a session may be started with, and the form of its sound.
import { inputAudio, outputAudio, voiceProtocol } from '../../actors/voice/events.ts';
import { voiceLimits } from '../../actors/voice/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { voiceModelOf } from './find-voice.ts';
import { voiceCatalogSchema } from './schema.ts';

export const listVoices = defineRoute({
  method: 'GET',
  path: '/v1/voice/voices',
  aliases: ['/api/v1/voice/voices'],
  operationId: 'listVoices',
  summary: 'List the voices',
  description: 'Voices of `svc-voice-1`, the audio formats of a session, and its longest duration.',
  tag: 'Voice',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'voice:session' },
  cors: 'public',
  replies: { 200: { description: 'The voice catalog.', schema: voiceCatalogSchema } },
  problems: ['no_route_available', 'policy_blocked'],
  handle({ caller, services }) {
    const model = voiceModelOf(services.catalog.current());
    if (model === null) throw new Problem('no_route_available');
    requireAllowed(caller, model.alias);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        object: 'list',
        // The database keeps the members of a document in an order of its own.
        data: Object.keys(model.voices)
          .sort()
          .map((id) => ({ id, object: 'voice' })),
        protocol: voiceProtocol,
        model: model.alias,
        input_audio: { ...inputAudio, frame_bytes: voiceLimits.frameBytes },
        output_audio: outputAudio,
        max_duration_seconds: services.limits.voice.secondsMax,
      },
    };
  },
});

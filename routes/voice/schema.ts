// Replies of the voice routes (specification, 2.1).
import * as v from 'valibot';
import { voiceProtocol } from '../../actors/voice/events.ts';

export const voiceModelAlias = 'svc-voice-1';

const audio = {
  encoding: v.literal('pcm_s16le'),
  sample_rate_hz: v.pipe(v.number(), v.integer()),
  channels: v.pipe(v.number(), v.integer()),
};

export const voiceCatalogSchema = v.object({
  object: v.literal('list'),
  data: v.array(v.object({ id: v.string(), object: v.literal('voice') })),
  protocol: v.literal(voiceProtocol),
  model: v.string(),
  input_audio: v.object({ ...audio, frame_bytes: v.literal(1_024) }),
  output_audio: v.object(audio),
  max_duration_seconds: v.pipe(v.number(), v.integer(), v.minValue(30), v.maxValue(450)),
});

export const ticketSchema = v.object({
  ticket: v.pipe(v.string(), v.description('For the query parameter `ticket`; admits once.')),
  expires_in: v.pipe(v.number(), v.integer(), v.description('Seconds.')),
});

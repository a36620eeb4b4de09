// The client's messages of the OpenAI Realtime wire format, GA names.
import type { LiveSetup, LiveTool } from '../contract.ts';
import { encodeBase64 } from '../pcm.ts';

const pcm = { type: 'audio/pcm', rate: 24_000 };
/** Streams its text while it listens; billed apart, see `usage.ts`. */
const transcriptionModel = 'gpt-4o-mini-transcribe';

export function sessionUpdate({ instructions, voice, tools }: LiveSetup): string {
  return JSON.stringify({
    type: 'session.update',
    session: {
      type: 'realtime',
      instructions,
      output_modalities: ['audio'],
      audio: {
        input: {
          format: pcm,
          transcription: { model: transcriptionModel },
          turn_detection: { type: 'server_vad', create_response: true, interrupt_response: true },
        },
        output: { format: pcm, voice },
      },
      tools: tools.map(encodeTool),
      tool_choice: 'auto',
    },
  });
}

function encodeTool({ name, description, parameters }: LiveTool) {
  return { type: 'function', name, description, parameters };
}

/** One item of the history. */
export function messageItem({ role, content }: LiveSetup['context'][number]): string {
  const type = role === 'user' ? 'input_text' : 'output_text';
  return JSON.stringify({
    type: 'conversation.item.create',
    item: { type: 'message', role, content: [{ type, text: content }] },
  });
}

/** The base64 alphabet needs no escapes in JSON: no need to serialize (2.6 µs, against 0.3). */
export function appendAudio(audio: Uint8Array): string {
  return `{"type":"input_audio_buffer.append","audio":"${encodeBase64(audio)}"}`;
}

export function cancelResponse(responseId: string, eventId: string): string {
  return JSON.stringify({ type: 'response.cancel', event_id: eventId, response_id: responseId });
}

/** `audioEndMs` above 0 and at most what there is, else the server reports an error. */
export function truncateItem(itemId: string, audioEndMs: number, eventId: string): string {
  return JSON.stringify({
    type: 'conversation.item.truncate',
    event_id: eventId,
    item_id: itemId,
    content_index: 0,
    audio_end_ms: audioEndMs,
  });
}

export function deleteItem(itemId: string, eventId: string): string {
  return JSON.stringify({
    type: 'conversation.item.delete',
    event_id: eventId,
    item_id: itemId,
  });
}

export function toolOutput(callId: string, output: string): string {
  return JSON.stringify({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: callId, output },
  });
}

export function createResponse(eventId: string): string {
  return JSON.stringify({ type: 'response.create', event_id: eventId });
}

// The client's messages of the Gemini Live wire format (BidiGenerateContent). Each has one member.
import { isMembers, type Members } from '../../../transport/members.ts';
import { generationOf, resourceName } from '../../generation/gemini/model.ts';
import type { LiveSetup, LiveTool } from '../contract.ts';
import { encodeBase64 } from '../pcm.ts';

/**
 * Newer models take history at the begin only, announced, and wait until it is said to be complete;
 * older ones take it without, and would answer a complete turn.
 */
function announcesHistory({ context }: LiveSetup, model: string): boolean {
  return context.length > 0 && (generationOf(model) ?? 3) >= 3;
}

export function setupMessage(setup: LiveSetup, model: string): string {
  const { instructions, voice, tools } = setup;
  const encoded: Members = {
    model: resourceName(model),
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
    },
    realtimeInputConfig: {
      automaticActivityDetection: { disabled: false },
      activityHandling: 'START_OF_ACTIVITY_INTERRUPTS',
    },
    inputAudioTranscription: {},
    outputAudioTranscription: {},
  };
  if (instructions !== '') encoded.systemInstruction = { parts: [{ text: instructions }] };
  if (tools.length > 0) encoded.tools = [{ functionDeclarations: tools.map(encodeTool) }];
  if (announcesHistory(setup, model)) {
    encoded.historyConfig = { initialHistoryInClientContent: true };
  }
  return JSON.stringify({ setup: encoded });
}

function encodeTool({ name, description, parameters }: LiveTool): Members {
  return { name, description, parametersJsonSchema: parameters };
}

/** Null: there is none. */
export function historyMessage(setup: LiveSetup, model: string): string | null {
  if (setup.context.length === 0) return null;
  const turns = setup.context.map(({ role, content }) => ({
    role: role === 'user' ? 'user' : 'model',
    parts: [{ text: content }],
  }));
  const turnComplete = announcesHistory(setup, model);
  return JSON.stringify({ clientContent: { turns, turnComplete } });
}

const audioStart = '{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"';

/** The base64 alphabet needs no escapes in JSON: no need to serialize. */
export function audioMessage(pcm: Uint8Array): string {
  return `${audioStart}${encodeBase64(pcm)}"}}}`;
}

/** `id` null: the model gave the call none. A result that is no object becomes one. */
export function toolResponse(id: string | null, name: string, outputJson: string): string {
  const output = parsed(outputJson);
  const response = isMembers(output) ? output : { output };
  const named = id === null ? { name, response } : { id, name, response };
  return JSON.stringify({ toolResponse: { functionResponses: [named] } });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

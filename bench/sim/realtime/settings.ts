// The session object of Realtime: its defaults, what an update may change, and what is refused.
// Known members are those of the vendor's published types.
import { isMembers, type Members } from '../members.ts';
import { invalidValue, missingParameter, type RealtimeError, unknownParameter } from './failure.ts';

export interface TurnDetection {
  type: 'server_vad' | 'semantic_vad';
  create_response: boolean;
  interrupt_response: boolean;
  [key: string]: unknown;
}

/** As it goes out in `session.created`; only what the simulator reads is typed. */
export interface Settings {
  type: 'realtime';
  object: 'realtime.session';
  id: string;
  model: string;
  output_modalities: ('audio' | 'text')[];
  instructions: string;
  tools: Members[];
  tool_choice: unknown;
  max_output_tokens: number | 'inf';
  truncation: unknown;
  tracing: null;
  prompt: null;
  expires_at: number;
  audio: {
    input: {
      format: Members;
      transcription: Members | null;
      noise_reduction: Members | null;
      turn_detection: TurnDetection | null;
    };
    output: { format: Members; voice: unknown; speed: number };
  };
  [key: string]: unknown;
}

const sessionKeys = [
  'type',
  'audio',
  'include',
  'instructions',
  'max_output_tokens',
  'model',
  'output_modalities',
  'parallel_tool_calls',
  'prompt',
  'reasoning',
  'tool_choice',
  'tools',
  'tracing',
  'truncation',
];
const inputKeys = ['format', 'noise_reduction', 'transcription', 'turn_detection'];
const outputKeys = ['format', 'speed', 'voice'];
const serverVadKeys = [
  'type',
  'create_response',
  'idle_timeout_ms',
  'interrupt_response',
  'prefix_padding_ms',
  'silence_duration_ms',
  'threshold',
];
const semanticVadKeys = ['type', 'create_response', 'eagerness', 'interrupt_response'];

const serverVad: TurnDetection = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 600,
  idle_timeout_ms: null,
  create_response: true,
  interrupt_response: true,
};
const semanticVad: TurnDetection = {
  type: 'semantic_vad',
  eagerness: 'auto',
  create_response: true,
  interrupt_response: true,
};
const pcm = { type: 'audio/pcm', rate: 24_000 };
const sessionSeconds = 3600;
/** A turn needs this much silence, also when less is asked for (decisions.md, section 9). */
const silenceMsMin = 600;

export function defaultSettings(id: string, model: string): Settings {
  return {
    type: 'realtime',
    object: 'realtime.session',
    id,
    model,
    output_modalities: ['audio'],
    instructions: '',
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf',
    truncation: 'auto',
    tracing: null,
    prompt: null,
    expires_at: Math.floor(Date.now() / 1000) + sessionSeconds,
    audio: {
      input: { format: pcm, transcription: null, noise_reduction: null, turn_detection: serverVad },
      output: { format: pcm, voice: 'alloy', speed: 1 },
    },
  };
}

/** Silence that ends a turn; null when turns are the client's business. */
export function silenceMsOf(settings: Settings): number | null {
  const detection = settings.audio.input.turn_detection;
  if (detection === null) return null;
  const asked = detection.silence_duration_ms;
  return Math.max(silenceMsMin, typeof asked === 'number' ? asked : 0);
}

export function paddingMsOf(settings: Settings): number {
  const asked = settings.audio.input.turn_detection?.prefix_padding_ms;
  return typeof asked === 'number' ? asked : 300;
}

/** Merges an update, or says what is wrong with it and changes nothing. `spoke`: voice is fixed. */
export function updateSettings(
  settings: Settings,
  update: unknown,
  spoke: boolean,
): RealtimeError | null {
  if (!isMembers(update)) return missingParameter('session');
  const refusal = checkSession(update, settings) ?? checkAudio(update.audio, settings, spoke);
  if (refusal !== null) return refusal;
  const { audio, ...plain } = update;
  Object.assign(settings, plain);
  if (!isMembers(audio)) return null;
  const { input, output } = audio;
  if (isMembers(input)) mergeInput(settings, input);
  if (isMembers(output)) {
    settings.audio.output = { ...settings.audio.output, ...output } as Settings['audio']['output'];
  }
  return null;
}

function mergeInput(settings: Settings, input: Members): void {
  const { turn_detection: detection, ...rest } = input;
  const merged = { ...settings.audio.input, ...rest } as Settings['audio']['input'];
  if (detection === null) merged.turn_detection = null;
  else if (isMembers(detection)) {
    const base = detection.type === 'semantic_vad' ? semanticVad : serverVad;
    merged.turn_detection = { ...base, ...detection } as TurnDetection;
  }
  settings.audio.input = merged;
}

function checkSession(update: Members, settings: Settings): RealtimeError | null {
  if (update.type === undefined) return missingParameter('session.type');
  if (update.type !== 'realtime') return invalidValue('session.type', "'realtime'");
  const strange = strangeKey(update, sessionKeys);
  if (strange !== null) return unknownParameter(`session.${strange}`);
  if (update.model !== undefined && update.model !== settings.model) {
    return invalidValue('session.model', 'the model of the connection');
  }
  const { output_modalities: modalities, instructions, tools, max_output_tokens: max } = update;
  if (modalities !== undefined && !isModalities(modalities)) {
    return invalidValue('session.output_modalities', "['audio'] or ['text']");
  }
  if (instructions !== undefined && typeof instructions !== 'string') {
    return invalidValue('session.instructions', 'a string');
  }
  if (max !== undefined && max !== 'inf' && !(typeof max === 'number' && max >= 1 && max <= 4096)) {
    return invalidValue('session.max_output_tokens', "an integer of 1 to 4096, or 'inf'");
  }
  if (tools === undefined) return null;
  if (!Array.isArray(tools)) return invalidValue('session.tools', 'an array');
  const at = tools.findIndex((tool) => !isFunction(tool));
  return at < 0 ? null : invalidValue(`session.tools[${at}]`, 'a flat function with a name');
}

function isModalities(value: unknown): boolean {
  return Array.isArray(value) && value.length === 1 && ['audio', 'text'].includes(value[0]);
}

function isFunction(tool: unknown): boolean {
  if (!isMembers(tool) || tool.type !== 'function') return false;
  const keys = ['type', 'name', 'description', 'parameters'];
  return typeof tool.name === 'string' && tool.name !== '' && strangeKey(tool, keys) === null;
}

function checkAudio(audio: unknown, settings: Settings, spoke: boolean): RealtimeError | null {
  if (audio === undefined) return null;
  if (!isMembers(audio)) return invalidValue('session.audio', 'an object');
  const strange = strangeKey(audio, ['input', 'output']);
  if (strange !== null) return unknownParameter(`session.audio.${strange}`);
  for (const [side, keys] of [['input', inputKeys] as const, ['output', outputKeys] as const]) {
    const config = audio[side];
    if (config === undefined) continue;
    const at = `session.audio.${side}`;
    if (!isMembers(config)) return invalidValue(at, 'an object');
    const other = strangeKey(config, keys);
    if (other !== null) return unknownParameter(`${at}.${other}`);
    if (config.format !== undefined && !isPcm(config.format)) {
      return invalidValue(`${at}.format`, "{type: 'audio/pcm', rate: 24000}");
    }
    if (side === 'input') {
      const refusal = checkDetection(config.turn_detection);
      if (refusal !== null) return refusal;
    } else if (config.voice !== undefined && spoke && config.voice !== voiceOf(settings)) {
      return {
        ...invalidValue(`${at}.voice`, 'the voice of the session'),
        message: "Cannot update a conversation's voice if assistant audio is present.",
        code: 'cannot_update_voice',
      };
    }
  }
  return null;
}

function voiceOf(settings: Settings): unknown {
  return settings.audio.output.voice;
}

function isPcm(format: unknown): boolean {
  return isMembers(format) && format.type === 'audio/pcm' && format.rate === 24_000;
}

function checkDetection(detection: unknown): RealtimeError | null {
  const at = 'session.audio.input.turn_detection';
  if (detection === undefined || detection === null) return null;
  if (!isMembers(detection)) return invalidValue(at, 'an object or null');
  if (detection.type !== 'server_vad' && detection.type !== 'semantic_vad') {
    return invalidValue(`${at}.type`, "'server_vad' or 'semantic_vad'");
  }
  const keys = detection.type === 'server_vad' ? serverVadKeys : semanticVadKeys;
  const strange = strangeKey(detection, keys);
  return strange === null ? null : unknownParameter(`${at}.${strange}`);
}

function strangeKey(value: Members, known: readonly string[]): string | null {
  return Object.keys(value).find((key) => !known.includes(key)) ?? null;
}

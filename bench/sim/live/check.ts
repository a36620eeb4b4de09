// What BidiGenerateContent refuses: each refusal is a close with a code and a reason. Known members
// are those of the vendor's published types.
import { isMembers, type Members, membersOf } from '../members.ts';

export interface LiveRefusal {
  code: number;
  reason: string;
}

/** Ids with another name and length than any public alias. */
export const liveModels: readonly string[] = [
  'sim-live-2026-native-audio',
  'sim-live-mini-2026-native-audio',
];

const setupKeys = [
  'model',
  'generationConfig',
  'systemInstruction',
  'tools',
  'realtimeInputConfig',
  'sessionResumption',
  'contextWindowCompression',
  'inputAudioTranscription',
  'outputAudioTranscription',
  'proactivity',
  'historyConfig',
  'explicitVadSignal',
  'avatarConfig',
  'safetySettings',
  'labels',
];
const inputKeys = [
  'mediaChunks',
  'audio',
  'audioStreamEnd',
  'video',
  'text',
  'activityStart',
  'activityEnd',
];
const inputConfigKeys = ['automaticActivityDetection', 'activityHandling', 'turnCoverage'];
const detectionKeys = [
  'disabled',
  'startOfSpeechSensitivity',
  'endOfSpeechSensitivity',
  'prefixPaddingMs',
  'silenceDurationMs',
];

export function invalid(reason: string): LiveRefusal {
  return { code: 1007, reason };
}

export const wrongKey = invalid('API key not valid. Please pass a valid API key.');
export const invalidJson = invalid('Invalid JSON payload received. Unexpected token.');
export const setupFirst = invalid('setup must be the first message and only the first');
export const badHandle = invalid('Invalid session resumption handle.');
export const explicitActivity = invalid(
  'Explicit activity control is not supported when automatic activity detection is enabled.',
);
export const deadlineExpired: LiveRefusal = {
  code: 1011,
  reason: 'Deadline expired before operation could complete.',
};

/** Exactly one of the four client messages: its name, or a refusal. */
export function kindOf(message: Members): string | LiveRefusal {
  const keys = Object.keys(message);
  const known = ['setup', 'clientContent', 'realtimeInput', 'toolResponse'];
  const strange = keys.find((key) => !known.includes(key));
  if (strange !== undefined) return unknownName(strange, '');
  const [kind] = keys;
  return keys.length === 1 && kind !== undefined
    ? kind
    : invalid('Request contains an invalid argument.');
}

export function checkSetup(setup: unknown): LiveRefusal | null {
  if (!isMembers(setup)) return invalid("Invalid value at 'setup'");
  const { model, generationConfig, realtimeInputConfig: config } = setup;
  const strange = strangeName(setup, setupKeys, 'setup');
  if (strange !== null) return strange;
  const name = typeof model === 'string' ? model : '';
  if (!name.startsWith('models/') || !liveModels.includes(name.slice('models/'.length))) {
    const rest = 'is not found for API version v1beta, or is not supported for';
    return { code: 1008, reason: `${name} ${rest} bidiGenerateContent.` };
  }
  const modalities = isMembers(generationConfig) ? generationConfig.responseModalities : undefined;
  if (modalities !== undefined && !(Array.isArray(modalities) && modalities.includes('AUDIO'))) {
    return invalid('Cannot extract voices from a non-audio request.');
  }
  if (config === undefined) return null;
  if (!isMembers(config)) return invalid("Invalid value at 'setup.realtime_input_config'");
  const at = 'setup.realtime_input_config';
  const detection = config.automaticActivityDetection;
  return (
    strangeName(config, inputConfigKeys, at) ??
    (isMembers(detection)
      ? strangeName(detection, detectionKeys, `${at}.automatic_activity_detection`)
      : null)
  );
}

export function checkInput(input: Members): LiveRefusal | null {
  return strangeName(input, inputKeys, 'realtime_input');
}

/** Names of the functions that a set-up declares. */
export function declaredNames(setup: Members): ReadonlySet<string> {
  const tools = membersOf(setup.tools);
  const functions = tools.flatMap(({ functionDeclarations }) => membersOf(functionDeclarations));
  return new Set(functions.map(({ name }) => String(name)));
}

export function textsOf(content: unknown): string {
  if (!isMembers(content)) return '';
  const texts = membersOf(content.parts).map(({ text }) => text);
  return texts.filter((text) => typeof text === 'string').join(' ');
}

function strangeName(value: Members, known: readonly string[], at: string): LiveRefusal | null {
  const strange = Object.keys(value).find((key) => !known.includes(key));
  return strange === undefined ? null : unknownName(strange, at);
}

function unknownName(name: string, at: string): LiveRefusal {
  const where = at === '' ? '' : ` at '${at}'`;
  return invalid(
    `Invalid JSON payload received. Unknown name "${name}"${where}: Cannot find field.`,
  );
}

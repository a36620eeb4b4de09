// The start message, checked: a closed object of at most 32 KiB (specification, 2.1). Lengths are
// counted in Unicode characters, not in UTF-16 units. What is said goes on to a provider: half a
// surrogate pair in it becomes U+FFFD, which a strict parser of JSON takes.
import { voiceLimits } from './limits.ts';

export interface ContextMessage {
  role: 'user' | 'assistant';
  content: string;
}

export interface ClientContext {
  timezone: string;
  utcOffsetMinutes: number;
  locale: string;
  temperatureUnit: '' | 'celsius' | 'fahrenheit';
}

export interface StartMessage {
  voiceId: string;
  context: ContextMessage[];
  toolsEnabled: boolean;
  clientContext: ClientContext;
  continuationToken: string | null;
}

export type StartReading = { ok: true; start: StartMessage } | { ok: false; message: string };

type Members = Record<string, unknown>;

const startMembers = new Set([
  'type',
  'mode',
  'voice_id',
  'context',
  'tools_enabled',
  'client_context',
  'continuation_token',
]);
const contextMembers = new Set(['timezone', 'utc_offset_minutes', 'locale', 'temperature_unit']);

const contextItemsMax = 40;
const contentCharactersMax = 4_000;
const timezoneCharactersMax = 100;
const localeCharactersMax = 40;
const utcOffsetMinutesMax = 840;
const tokenCharactersMax = 2_048;

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are not allowed
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

/** Thrown inside this file only: what is wrong, safe to show. */
class Fault extends Error {}

/** Reads the first message. `bytesLength` is its length as it was sent. */
export function readStart(
  text: string,
  bytesLength: number,
  contextCharactersMax: number,
): StartReading {
  try {
    if (bytesLength > voiceLimits.startBytesMax) {
      throw new Fault('The start message is larger than 32 KiB.');
    }
    return { ok: true, start: startOf(parse(text), contextCharactersMax) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ok: false, message: error.message };
  }
}

function parse(text: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Fault('The start message is not JSON.');
  }
  return objectOf(value, 'The start message');
}

function startOf(members: Members, contextCharactersMax: number): StartMessage {
  closed(members, startMembers, '');
  if (members.type !== 'start') throw new Fault('type: the first message must be "start".');
  if (members.mode !== 'full') throw new Fault('mode: must be "full".');
  const { voice_id: voiceId, tools_enabled: toolsEnabled = false } = members;
  if (typeof voiceId !== 'string' || voiceId === '') {
    throw new Fault('voice_id: a non-empty string is needed.');
  }
  if (typeof toolsEnabled !== 'boolean') throw new Fault('tools_enabled: must be a boolean.');
  return {
    voiceId,
    context: contextOf(members.context, contextCharactersMax),
    toolsEnabled,
    clientContext: clientContextOf(members.client_context),
    continuationToken: tokenOf(members.continuation_token),
  };
}

function contextOf(value: unknown, charactersMax: number): ContextMessage[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Fault('context: must be an array.');
  if (value.length > contextItemsMax) throw new Fault('context: at most 40 messages.');
  let characters = 0;
  return value.map((item: unknown, index): ContextMessage => {
    const path = `context[${index}]`;
    const members = objectOf(item, path);
    closed(members, new Set(['role', 'content']), `${path}.`);
    const { role, content } = members;
    if (role !== 'user' && role !== 'assistant') {
      throw new Fault(`${path}.role: must be "user" or "assistant".`);
    }
    if (typeof content !== 'string' || content.trim() === '') {
      throw new Fault(`${path}.content: must be a string that is not blank.`);
    }
    const length = charactersOf(content);
    if (length > contentCharactersMax) throw new Fault(`${path}.content: at most 4000 characters.`);
    characters += length;
    if (characters > charactersMax) {
      throw new Fault(`context: at most ${charactersMax} characters in total.`);
    }
    return { role, content: content.toWellFormed() };
  });
}

function clientContextOf(value: unknown): ClientContext {
  const members = value === undefined ? {} : objectOf(value, 'client_context');
  closed(members, contextMembers, 'client_context.');
  const { utc_offset_minutes: offset = 0, temperature_unit: unit = '' } = members;
  if (typeof offset !== 'number' || !Number.isInteger(offset)) {
    throw new Fault('client_context.utc_offset_minutes: must be an integer.');
  }
  if (Math.abs(offset) > utcOffsetMinutesMax) {
    throw new Fault('client_context.utc_offset_minutes: from -840 to 840.');
  }
  if (unit !== '' && unit !== 'celsius' && unit !== 'fahrenheit') {
    throw new Fault('client_context.temperature_unit: "", "celsius" or "fahrenheit".');
  }
  return {
    timezone: lineOf(members.timezone, 'timezone', timezoneCharactersMax),
    utcOffsetMinutes: offset,
    locale: lineOf(members.locale, 'locale', localeCharactersMax),
    temperatureUnit: unit,
  };
}

function lineOf(value: unknown, name: string, charactersMax: number): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new Fault(`client_context.${name}: must be a string.`);
  if (charactersOf(value) > charactersMax) {
    throw new Fault(`client_context.${name}: at most ${charactersMax} characters.`);
  }
  if (controlCharacters.test(value)) {
    throw new Fault(`client_context.${name}: must not contain control characters.`);
  }
  return value.toWellFormed();
}

/** Null is what `session.ready` gives who has none to come back with. */
function tokenOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new Fault('continuation_token: must be a string.');
  if (charactersOf(value) > tokenCharactersMax) {
    throw new Fault('continuation_token: at most 2048 characters.');
  }
  return value;
}

function objectOf(value: unknown, path: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault(`${path}: must be an object.`);
  }
  return value as Members;
}

function closed(members: Members, known: ReadonlySet<string>, prefix: string): void {
  for (const name of Object.keys(members)) {
    if (!known.has(name)) throw new Fault(`${prefix}${name.slice(0, 100)}: is not a known member.`);
  }
}

/** Unicode characters (code points), without making an array of them. */
function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

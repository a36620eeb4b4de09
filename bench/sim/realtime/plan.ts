// What a Realtime session answers next: the calls that were asked for, else what it heard.
import { countWords } from '../answer.ts';
import type { PlannedCall } from '../directive.ts';
import { type Members, membersOf } from '../members.ts';
import type { VoiceDirective } from '../voice/directive.ts';
import type { TokenPair } from '../voice/tokens.ts';
import type { AnswerPlan } from './answer.ts';
import { type Conversation, textOf } from './items.ts';
import type { Settings } from './settings.ts';

/** Of an answer to what was written, not spoken. */
const writtenPitchHz = 440;

export interface PlanSituation {
  /** `response` of `response.create`. */
  params: Members;
  settings: Settings;
  conversation: Conversation;
  directive: VoiceDirective;
  roundIndex: number;
  /** Of the last turn; 0: nothing was spoken. */
  pitchHz: number;
  before: TokenPair | null;
}

export function planResponse(situation: PlanSituation): AnswerPlan {
  const { params, settings, directive, pitchHz, before } = situation;
  const calls = nextCalls(situation);
  const modalities = Array.isArray(params.output_modalities)
    ? params.output_modalities
    : settings.output_modalities;
  const form = calls.length > 0 ? 'calls' : modalities.includes('text') ? 'text' : 'audio';
  const text = directive.base.text ?? ` heard ${pitchHz}`;
  const pieces = text.split(/(?= )/);
  const { audioMs, limited } = spokenLength(situation, countWords(text));
  return {
    form,
    pieces: form === 'calls' ? [] : pieces,
    pitchHz: (pitchHz === 0 ? writtenPitchHz : pitchHz) / 2,
    audioMs: form === 'audio' ? audioMs : 0,
    calls,
    limited: form === 'audio' && limited,
    metadata: params.metadata,
    joins: params.conversation !== 'none',
    input: inputOf(situation),
    before,
  };
}

function spokenLength(
  { params, settings, directive }: PlanSituation,
  textTokens: number,
): { audioMs: number; limited: boolean } {
  const max = params.max_output_tokens ?? settings.max_output_tokens;
  const audioMsMax = typeof max === 'number' ? Math.max(0, max - textTokens) * 100 : Infinity;
  const { answerMs } = directive;
  return { audioMs: Math.min(answerMs, audioMsMax), limited: answerMs > audioMsMax };
}

function nextCalls({ params, settings, directive, roundIndex }: PlanSituation): PlannedCall[] {
  const choice = params.tool_choice ?? settings.tool_choice;
  if (choice === 'none') return [];
  const tools = params.tools === undefined ? settings.tools : membersOf(params.tools);
  const declared = new Set(tools.map(({ name }) => name));
  const round = directive.base.rounds[roundIndex] ?? [];
  return round.filter(({ name }) => declared.has(name));
}

/** A word is a token of text, a tenth of a second one of audio; earlier turns count again. */
function inputOf({ params, settings, conversation }: PlanSituation): TokenPair {
  const own = params.instructions;
  const instructions = countWords(typeof own === 'string' ? own : settings.instructions);
  if (Array.isArray(params.input)) {
    const texts = membersOf(params.input).map((item) => textOf(membersOf(item.content)));
    return { text: instructions + countWords(texts.join(' ')), audio: 0 };
  }
  return { text: instructions + conversation.textTokens, audio: conversation.audioTokens };
}

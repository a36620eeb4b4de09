// An input that its model has no room for, in the words of each format's vendor: agents know by
// them, and by nothing else, that they have to shorten the conversation and may go on.
import { conversationMember } from './media-path.ts';
import type { GenerationRequest } from './request.ts';

export interface TooLong {
  tokens: number;
  contextWindow: number;
}

type Asked = Pick<GenerationRequest, 'source' | 'outputTokensMax'>;

/**
 * The code by which clients of OpenAI's formats know it, and by that alone; null: the format has
 * none (decisions.md, section 2).
 */
export function tooLongCode({ source }: Pick<Asked, 'source'>): 'context_length_exceeded' | null {
  return source.format === 'chat' || source.format === 'responses'
    ? 'context_length_exceeded'
    : null;
}

/**
 * The public message, and the member of the body that is at fault. `counted` is null where only the
 * provider knows; what fits by itself has no room for its answer.
 */
export function tooLong(
  request: Asked,
  counted: TooLong | null,
): { message: string; param: string } {
  const isMessages = request.source.format === 'messages';
  const message = isMessages ? inMessages(counted, request.outputTokensMax) : elsewhere(counted);
  return { message, param: conversationMember(request) };
}

/** The numbers stand as agents read them: how much of what has to go. */
function inMessages(counted: TooLong | null, outputTokensMax: number | null): string {
  const said = 'prompt is too long';
  if (counted === null) return `${said}: the model has no room for all of it`;
  const { tokens, contextWindow } = counted;
  if (tokens > contextWindow) return `${said}: ${tokens} tokens > ${contextWindow} maximum`;
  if (outputTokensMax === null) return `${said}: no room for an answer is left`;
  const sum = `${tokens} + ${outputTokensMax} > ${contextWindow}`;
  const advice = 'decrease input length or `max_tokens` and try again';
  return `input length and \`max_tokens\` exceed context limit: ${sum}, ${advice}`;
}

function elsewhere(counted: TooLong | null): string {
  const said = 'Your input exceeds the context window of this model';
  const asked = 'Please reduce the length of the messages.';
  if (counted === null) return `${said}. ${asked}`;
  const { tokens, contextWindow } = counted;
  const answer = tokens > contextWindow ? '' : ' and leaves too little room for the answer';
  const length = `the maximum context length is ${contextWindow} tokens`;
  return `${said}: ${length}, and it has about ${tokens}${answer}. ${asked}`;
}

// An input that its model has no room for, in the words of each format's vendor: agents know by
// them, and by nothing else, that they have to shorten the conversation and may go on.
import { conversationMember } from './media-path.ts';
import type { GenerationRequest } from './request.ts';

/** Null where only the provider knows. The room for the answer counts where the model needs it. */
export interface TooLong {
  tokens: number;
  contextWindow: number;
}

type Asked = Pick<GenerationRequest, 'source'>;

/** The public message, and the member of the body that is at fault. */
export function tooLong(
  request: Asked,
  counted: TooLong | null,
): { message: string; param: string } {
  const words = request.source.format === 'messages' ? inMessages : elsewhere;
  return { message: words(counted), param: conversationMember(request) };
}

/** The numbers stand as agents read them: how much of the conversation has to go. */
function inMessages(counted: TooLong | null): string {
  if (counted === null) return 'prompt is too long: the model has no room for all of it';
  const { tokens, contextWindow } = counted;
  const answer = tokens > contextWindow ? '' : ' with room for the answer';
  return `prompt is too long: ${tokens} tokens${answer} > ${contextWindow} maximum`;
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

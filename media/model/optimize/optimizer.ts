// The context optimizer: less of the same conversation, decided so that a longer one begins with
// the same bytes. Pure: no clock, no chance, no memory between two calls.
import { serialize } from 'node:v8';
import type { ContentPart, Message } from '../request.ts';
import { sealedSegments } from './boundary.ts';
import { type OptimizerPlan, planOptimization } from './plan.ts';
import { type OptimizerOptions, sealBytesOf } from './settings.ts';
import { bytesOf, textCharacters, tokensOfBytes } from './size.ts';

export interface OptimizedMessages {
  /** The very same array when nothing changes. */
  messages: Message[];
  /** Estimates: bytes / 4, and 4 a message. */
  tokensBefore: number;
  tokensAfter: number;
  /** What each step has saved, those that have, in the order in which they ran. */
  steps: { name: string; tokensSaved: number }[];
}

/** From here on a thread does it: at 50 µs per 1,000 tokens a shard works 0.4 ms for so many. */
const THREAD_CHARACTERS_MIN = 32 * 1_024;
/** Extraction reads every word, which takes three times as long. */
const THREAD_CHARACTERS_LOSSY_MIN = 12 * 1_024;

/**
 * Optimizes a conversation: lossless steps always, extraction of tool outputs only with
 * `allowLossyContext`. System and developer messages, assistant messages, tool calls, the last user
 * turn and everything behind the boundary (see `sealedSegments`) stay as they are.
 *
 * What it does to a message follows from the messages before its boundary, so the optimized prefix
 * of a growing conversation stays the same. The one exception is extraction: it keeps what any user
 * turn asks for, so a new question may bring lines back, and they stay from then on.
 */
export function optimizeMessages(
  messages: Message[],
  options: OptimizerOptions,
): OptimizedMessages {
  return applyPlan(messages, planOptimization(messages, options));
}

/** Whether a shard should leave it to a thread (`media/tasks/optimize.ts`). */
export function needsThread(messages: readonly Message[], options: OptimizerOptions): boolean {
  const { allowLossyContext } = options;
  const charactersMin = allowLossyContext ? THREAD_CHARACTERS_LOSSY_MIN : THREAD_CHARACTERS_MIN;
  if (textCharacters(messages) < charactersMin) return false;
  return sealedSegments(messages, sealBytesOf(options.mode)).length > 0;
}

/** What the plan is made of, with the same numbering: no images, and no unsealed texts but asks. */
export function threadInput(messages: readonly Message[], options: OptimizerOptions): Message[] {
  const sealed = sealedSegments(messages, sealBytesOf(options.mode)).at(-1)?.to ?? 0;
  const stub: ContentPart = { type: 'image', url: '', detail: null };
  return messages.map((message, index) => {
    const isRead = index < sealed || message.role === 'user';
    if (!isRead) return { ...message, parts: [], toolCalls: [] };
    const parts = message.parts.map((part) => (part.type === 'text' ? part : stub));
    return { ...message, parts };
  });
}

/**
 * The same as bytes: they pass the main thread on their way as one block, and only the thread that
 * plans makes texts of them again.
 */
export function threadBytes(messages: readonly Message[], options: OptimizerOptions): Uint8Array {
  return serialize({ messages: threadInput(messages, options), options });
}

/** The quick half: messages without an edit stay the same objects. */
export function applyPlan(messages: Message[], plan: OptimizerPlan): OptimizedMessages {
  const bytesBefore = bytesOf(messages);
  if (plan.edits.length === 0) {
    const tokens = tokensOfBytes(bytesBefore);
    return { messages, tokensBefore: tokens, tokensAfter: tokens, steps: [] };
  }
  const result = [...messages];
  for (const { message: index, part: at, text } of plan.edits) {
    const message = result[index];
    const part = message?.parts[at];
    if (message === undefined || part?.type !== 'text') continue;
    const parts = message.parts.with(at, { ...part, text });
    result[index] = { ...message, parts };
  }
  return {
    messages: result,
    tokensBefore: tokensOfBytes(bytesBefore),
    tokensAfter: tokensOfBytes(bytesOf(result)),
    steps: plan.steps,
  };
}

// Whether the model is to think, and how much. The provider refuses thinking beside a forced tool,
// without room under the ceiling, and when a running tool turn comes back without its own thinking.
import type { GenerationRequest, Reasoning } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { CallOptions } from '../contract.ts';
import { effortOf } from '../effort.ts';
import { takesEffortAlone, thinksByItself } from './model.ts';

const budgetTokensMin = 1024;
/** Of the ceiling, when the client gave an effort and no budget: the rest is for the answer. */
const budgetShareMax = 0.75;
const budgetTokensByEffort: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 24_576,
  xhigh: 49_152,
};

/** The `thinking` member for a request of another format; null: none. */
function thinkingOf(
  reasoning: Reasoning | null,
  outputTokensMax: number,
  model: string,
): Members | null {
  if (reasoning === null) return null;
  const { effort, budgetTokens } = reasoning;
  if (effort === 'none') return null;
  if (thinksByItself(model)) {
    const isRoom = outputTokensMax * budgetShareMax >= budgetTokensMin;
    // By default some of these models do not show what they think.
    return isRoom ? { type: 'adaptive', display: 'summarized' } : null;
  }
  const wanted = budgetTokens ?? budgetTokensByEffort[effort ?? 'medium'] ?? null;
  if (wanted === null) return null;
  const room = budgetTokens === null ? outputTokensMax * budgetShareMax : outputTokensMax - 1;
  const budget = Math.min(wanted, Math.floor(room));
  return budget < budgetTokensMin ? null : { type: 'enabled', budget_tokens: budget };
}

/**
 * The `thinking` member of a call for a client of another format; null: the model does not think.
 * `messages` and `toolChoice` are in the wire's form.
 */
export function thinkingIn(
  request: Pick<GenerationRequest, 'reasoning'>,
  messages: readonly unknown[],
  toolChoice: unknown,
  { outputTokensMax, reasons = false }: Pick<CallOptions, 'outputTokensMax' | 'reasons'>,
  model: string,
): Members | null {
  // It would be refused by a model that is not known to reason.
  const thinking = reasons ? thinkingOf(request.reasoning, outputTokensMax, model) : null;
  if (thinking === null) return null;
  const isBarred =
    thinking.type === 'adaptive' ? forcesTool(toolChoice) : mustNotThink(messages, toolChoice);
  return isBarred ? null : thinking;
}

/** How hard a model that thinks by itself is to think; null: it was not said. */
export function effortFor(reasoning: Reasoning | null, model: string): string | null {
  const effort = reasoning === null ? null : effortOf(reasoning);
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' && !takesEffortAlone(model) ? 'high' : effort;
}

/** The client's own member, its budget under the ceiling that really holds; null: no thinking. */
export function boundedThinking(thinking: unknown, outputTokensMax: number): Members | null {
  if (!isMembers(thinking)) return null;
  const { type, budget_tokens: budget } = thinking;
  if (type !== 'enabled' || typeof budget !== 'number' || budget < outputTokensMax) return thinking;
  const bounded = outputTokensMax - 1;
  return bounded < budgetTokensMin ? null : { ...thinking, budget_tokens: bounded };
}

/** Whether thinking has to be off for this call: see above. `messages` are in the wire's form. */
export function mustNotThink(messages: readonly unknown[], toolChoice: unknown): boolean {
  if (forcesTool(toolChoice)) return true;
  const asked = messages.findLastIndex((message) => roleOf(message) === 'assistant');
  if (asked < 0 || asked === messages.length - 1) return false;
  const answered = messages.slice(asked + 1).some((message) => has(message, isToolResult));
  if (!answered) return false;
  let first = asked;
  while (first > 0 && roleOf(messages[first - 1]) === 'assistant') first -= 1;
  return !has(messages[first], isThinking, 1);
}

function forcesTool(toolChoice: unknown): boolean {
  return isMembers(toolChoice) && (toolChoice.type === 'any' || toolChoice.type === 'tool');
}

function isToolResult(block: Members): boolean {
  return block.type === 'tool_result';
}

export function isThinking(block: Members): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

/** Whether one of the message's first blocks is such a block. */
function has(message: unknown, test: (block: Members) => boolean, among?: number): boolean {
  if (!isMembers(message) || !Array.isArray(message.content)) return false;
  return message.content.slice(0, among).some((block) => isMembers(block) && test(block));
}

function roleOf(message: unknown): unknown {
  return isMembers(message) ? message.role : null;
}

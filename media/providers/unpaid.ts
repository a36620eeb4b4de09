// Which refusals say that nobody has paid the provider: its credit or a limit is used up. Asking
// again helps only once somebody has paid. Most vendors name it by a code. Where they have words
// alone, those must begin the message: a client's own words may be repeated further on.
import type { UpstreamFailure } from '../model/events.ts';
import { isMembers } from '../transport/members.ts';

const codes: ReadonlySet<unknown> = new Set([
  // OpenAI, and most that speak its formats
  'insufficient_quota',
  'credit_balance_exhausted',
  'organization_spend_limit_exceeded',
  'organization_usage_limit_exceeded',
  'project_spend_limit_exceeded',
  'billing_not_active',
  'billing_hard_limit_reached',
  // Anthropic
  'billing_error',
  'enforced_spend_limit_reached',
  // Google
  'BILLING_DISABLED',
  // OpenRouter
  'openrouter_credits',
  'openrouter_key_limit',
  'openrouter_guardrail_budget',
  'openrouter_workspace_budget',
  // Moonshot, Zhipu, Alibaba, Volcengine, Groq
  'exceeded_current_quota_error',
  '1113',
  'Arrearage',
  'AccountOverdueError',
  'blocked_api_access',
]);

const beginnings = [
  /^your credit balance is too low/i, // Anthropic
  /^you have reached your specified (?:workspace )?api usage limits/i, // Anthropic
  /^your prepayment credits are depleted/i, // Google
  /^your (?:newly created )?teams? .{0,80}(?:available credits|any credits)/i, // xAI
  /^you have run out of credits/i, // xAI
  /^insufficient balance/i, // DeepSeek, Zhipu
  /^sorry, your account balance is insufficient/i, // SiliconFlow
  /^not enough credits/i, // Serper
];

/** This request alone is too dear for what is left, others may not be. */
const isTooDear = /^this request requires more credits|^weight_exceeds_budget$/i;

/**
 * The failure of a refused call, as `unpaid` where its error says so. A 402 without a word is one
 * too, but for those that ask to wait: what they wait for is not the bill.
 * @param error the error of the body, or the text that stands there instead
 */
export function withUnpaid(failure: UpstreamFailure, error: unknown): UpstreamFailure {
  const { status, retryAfterMs } = failure;
  if (status !== null && status >= 500) return failure;
  const words = wordsOf(error);
  if (words.some((word) => isTooDear.test(word))) return failure;
  if (isUnpaid(error)) return { ...failure, kind: 'unpaid' };
  if (status !== 402) return failure;
  return { ...failure, kind: retryAfterMs === null ? 'unpaid' : 'busy' };
}

/** Whether an error, or a text that stands for one, says so by itself. */
export function isUnpaid(error: unknown): boolean {
  return wordsOf(error).some(
    (word) => codes.has(word) || beginnings.some((beginning) => beginning.test(word)),
  );
}

/** Every member that vendors name a fault by. */
function wordsOf(error: unknown): string[] {
  if (!isMembers(error)) return typeof error === 'string' ? [error] : [];
  const { code, type, message, details, metadata } = error;
  const told: unknown[] = [code, type, message];
  for (const detail of Array.isArray(details) ? details : [details]) {
    if (isMembers(detail)) told.push(detail.error_code, detail.reason);
  }
  if (isMembers(metadata)) told.push(metadata.limit_source, metadata.error_type);
  return told.filter((word) => typeof word === 'string');
}

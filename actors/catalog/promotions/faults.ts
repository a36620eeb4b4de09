// What is wrong with codes, rewarded tasks and the settings of billing beyond their schema.
import type { BillingRecord, PromotionRecord, RewardTaskRecord } from '../document.ts';
import type { PathFault } from '../path-fault.ts';

/** As it is compared: people type it in any case of letters. */
export function codeOf({ name, code }: Pick<PromotionRecord, 'name' | 'code'>): string {
  return (code ?? name).toLowerCase();
}

/** Codes that two records have. */
export function repeatedCodes(promotions: readonly PromotionRecord[]): Set<string> {
  const seen = new Set<string>();
  const repeated = promotions.map(codeOf).filter((code) => seen.has(code) || !seen.add(code));
  return new Set(repeated);
}

export function promotionFaults(
  promotion: PromotionRecord,
  repeated: ReadonlySet<string>,
): PathFault[] {
  const { starts_at: from, ends_at: to } = promotion;
  const faults: PathFault[] = [];
  for (const [path, text] of [['starts_at', from] as const, ['ends_at', to] as const]) {
    if (text === undefined || !Number.isNaN(Date.parse(text))) continue;
    faults.push({ path, message: 'it is no moment of the calendar' });
  }
  if (from !== undefined && to !== undefined && Date.parse(to) <= Date.parse(from)) {
    faults.push({ path: 'ends_at', message: 'it is not behind starts_at' });
  }
  const code = codeOf(promotion);
  if (repeated.has(code)) {
    const path = promotion.code === undefined ? 'name' : 'code';
    faults.push({ path, message: `"${code}" is the code of another one, too` });
  }
  return faults;
}

/** What a model looks at needs questions, and each of them words that tell a quote. */
export function rewardTaskFaults(task: RewardTaskRecord): PathFault[] {
  const { verification_method: method, questions, terms } = task;
  if (method !== 'public_content_ai') return [];
  if (questions.length === 0) return [{ path: 'questions', message: 'it needs at least one' }];
  return questions.flatMap((question, index) => {
    if ((question.terms ?? terms).length > 0) return [];
    return [{ path: `questions[${index}].terms`, message: 'neither it nor the task has terms' }];
  });
}

/** `aliases`: what can be asked for a text. */
export function billingFaults(
  { rewards }: BillingRecord,
  aliases: ReadonlySet<string>,
): PathFault[] {
  if (rewards === null || aliases.has(rewards.model)) return [];
  const message = `there is no generation model "${rewards.model}"`;
  return [{ path: 'rewards.model', message }];
}

// How hard a model is to think, where a format knows efforts and a client gave a budget of tokens,
// and whether it is to be told so at all.
import type { Reasoning } from '../../model/request.ts';

const lowBudgetTokens = 2_048;
const mediumBudgetTokens = 8_192;

/** The client's own effort, or the one that its budget comes near to; null: it gave neither. */
export function effortOf({ effort, budgetTokens }: Reasoning): string | null {
  if (effort !== null || budgetTokens === null) return effort;
  if (budgetTokens <= lowBudgetTokens) return 'low';
  return budgetTokens <= mediumBudgetTokens ? 'medium' : 'high';
}

/**
 * What a model is told of it. Agents give every model a budget, or ask for summaries, and models
 * that do not reason refuse to be told either: `reasons` says whether this one is known to.
 */
export function toldReasoning(wanted: Reasoning | null, reasons: boolean): Reasoning | null {
  return reasons || (wanted?.effort ?? null) !== null ? wanted : null;
}

// How much a generation holds, pure: the first hold, the slices that extend it, and how many tokens
// a partly granted slice buys. Amounts are microcredits, tokens are output tokens.
import type { CacheLife } from '../../media/model/cache-marks.ts';
import { addCalls, noUsage, type TokenUsage, type ToolCalls } from '../../media/model/usage.ts';
import { type CompiledCard, charge, hasSoundPrice } from '../wallet/price.ts';
import type { GenerationSpec } from './spec.ts';

/** What a generation may use at the most, as estimated before it runs. */
export interface Need {
  inputTokens: number;
  /** Those of them that are sound. */
  soundTokens: number;
  /** The most output tokens this request may have. */
  ceilingTokens: number;
  searchCalls: number;
  /** Calls of other hosted tools, by type; undefined: none are offered. */
  toolCalls: ToolCalls | undefined;
  /** The input may be written to a cache, at a price of its own. */
  cacheLife: CacheLife;
}

export interface Funds {
  /** The estimate that the hold was made with; a repair adds its own. */
  need: Need;
  heldTokens: number;
  heldMicros: bigint;
  /** Counts the extensions of the hold. */
  step: number;
  /** An extension is under way. */
  extending: boolean;
  /** The wallet refused the last slice or gave less. */
  dry: boolean;
  /** The held tokens were used up when it was asked: an answer ends where it is dry then. */
  usedUp: boolean;
}

/** The cards of all candidates, each once: any of them may be the one that answers. */
export function cardsOf(spec: Pick<GenerationSpec, 'candidates'>): readonly CompiledCard[] {
  const [first] = spec.candidates;
  if (first !== undefined && spec.candidates.every(({ model }) => model === first.model)) {
    return [first.model.card];
  }
  return [...new Set(spec.candidates.map(({ model }) => model.card))];
}

/**
 * What these tokens may cost at the most: with the dearest card, as input or, where that was asked
 * for, as what is written to a cache, and as the dearer output.
 */
export function ceilingMicros(
  cards: readonly CompiledCard[],
  need: Need,
  outputTokens: number,
): bigint {
  let most = 0n;
  for (const card of cards) {
    const mayReason = card.tiers.some((tier) => tier.reasoning > tier.output);
    for (const usage of inputsOf(card, need)) {
      usage.outputTokens = outputTokens;
      most = greater(most, charge(card, usage).chargeMicros);
      if (!mayReason) continue;
      usage.outputTokens = 0;
      usage.reasoningTokens = outputTokens;
      most = greater(most, charge(card, usage).chargeMicros);
    }
  }
  return most;
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** The buckets that may make the input dearest: its sound stands apart from the rest, or not. */
function inputsOf(card: CompiledCard, need: Need): TokenUsage[] {
  const { inputTokens } = need;
  const inputs = textInputsOf(card, need, inputTokens);
  const sound = hasSoundPrice(card) ? Math.min(need.soundTokens, inputTokens) : 0;
  if (sound === 0) return inputs;
  for (const usage of textInputsOf(card, need, inputTokens - sound)) {
    const uncached = usage.inputTokens + sound;
    inputs.push({ ...usage, inputTokens: uncached, audioInputTokens: sound });
  }
  return inputs;
}

/** Plain, and as what is written to a cache, of a request that marks what one is to keep. */
function textInputsOf(
  card: CompiledCard,
  { searchCalls, toolCalls, cacheLife }: Need,
  inputTokens: number,
): TokenUsage[] {
  const plain: TokenUsage = { ...noUsage(), inputTokens, searchCalls };
  if (toolCalls !== undefined) plain.toolCalls = toolCalls;
  const inputs = [plain];
  if (cacheLife === 'none') return inputs;
  const written = { ...plain, inputTokens: 0, cacheWriteTokens: inputTokens };
  if (card.tiers.some((tier) => tier.cacheWrite > tier.input)) inputs.push(written);
  if (cacheLife === '1h' && card.tiers.some((tier) => tier.cacheWrite1h > tier.input)) {
    inputs.push({ ...written, cacheWrite1hTokens: inputTokens });
  }
  return inputs;
}

export function firstHold(cards: readonly CompiledCard[], need: Need, sliceTokens: number): Funds {
  const sliced = Math.min(need.ceilingTokens, sliceTokens);
  const heldMicros = ceilingMicros(cards, need, sliced);
  // Where output costs nothing there is nothing to slice.
  const isCovered = ceilingMicros(cards, need, need.ceilingTokens) === heldMicros;
  return {
    need,
    heldTokens: isCovered ? need.ceilingTokens : sliced,
    heldMicros,
    step: 0,
    extending: false,
    dry: false,
    usedUp: false,
  };
}

/** Whether the hold covers one more token. The provider keeps to the ceiling, not we. */
export function covers(funds: Funds, deliveredTokens: number): boolean {
  return deliveredTokens < funds.heldTokens || funds.heldTokens >= funds.need.ceilingTokens;
}

/** Whether there is nothing more to be had than what is held, which is used up. */
export function isOver({ dry, usedUp }: Funds): boolean {
  return dry && usedUp;
}

/**
 * Whether the next slice is due: half a slice before the held tokens are used up. A wallet that had
 * none then is asked again when they are: others may have given back what they held.
 */
export function sliceDue(funds: Funds, deliveredTokens: number, sliceTokens: number): boolean {
  const aheadTokens = funds.dry ? 0 : sliceTokens / 2;
  return (
    !funds.extending &&
    !isOver(funds) &&
    funds.heldTokens < funds.need.ceilingTokens &&
    deliveredTokens >= funds.heldTokens - aheadTokens
  );
}

/**
 * The next slice: what it costs, and the least that is worth having (one token). Nothing, where the
 * hold covers it already: asking for that renews the hold.
 */
export function nextSlice(
  cards: readonly CompiledCard[],
  funds: Funds,
  sliceTokens: number,
): { amountMicros: bigint; minimumMicros: bigint } {
  const wanted = Math.min(funds.need.ceilingTokens, funds.heldTokens + sliceTokens);
  const cost = (tokens: number) => {
    const micros = ceilingMicros(cards, funds.need, tokens) - funds.heldMicros;
    return micros > 0n ? micros : 0n;
  };
  return { amountMicros: cost(wanted), minimumMicros: cost(funds.heldTokens + 1) };
}

/** One more call is needed beside what the first has used: tokens and calls of tools of both. */
export function needAgain(
  funds: Funds,
  used: Pick<TokenUsage, 'inputTokens' | 'outputTokens' | 'searchCalls' | 'toolCalls'>,
): void {
  const { need } = funds;
  const searchCalls = need.searchCalls + used.searchCalls;
  const toolCalls = addCalls(need.toolCalls, used.toolCalls);
  const ceilingTokens = used.outputTokens + need.ceilingTokens;
  const soundTokens = Math.min(2 * need.soundTokens, used.inputTokens);
  const { inputTokens } = used;
  funds.need = { ...need, inputTokens, soundTokens, ceilingTokens, searchCalls, toolCalls };
  funds.heldTokens = used.outputTokens;
  funds.dry = false;
}

/** Whether the hold covers the first slice beyond `usedTokens`; books it when it does. */
export function holdsAgain(
  cards: readonly CompiledCard[],
  funds: Funds,
  usedTokens: number,
  sliceTokens: number,
): boolean {
  const { need, heldMicros } = funds;
  const wanted = Math.min(need.ceilingTokens, usedTokens + sliceTokens);
  if (ceilingMicros(cards, need, wanted) > heldMicros) return false;
  const isCovered = ceilingMicros(cards, need, need.ceilingTokens) <= heldMicros;
  funds.heldTokens = isCovered ? need.ceilingTokens : wanted;
  return true;
}

/** Books what the wallet added: the tokens that the whole hold now buys. */
export function addSlice(
  cards: readonly CompiledCard[],
  funds: Funds,
  addedMicros: bigint,
  sliceTokens: number,
): void {
  funds.heldMicros += addedMicros;
  funds.dry = false;
  funds.usedUp = false;
  let low = funds.heldTokens;
  let high = Math.min(funds.need.ceilingTokens, funds.heldTokens + sliceTokens);
  const wanted = high;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (ceilingMicros(cards, funds.need, middle) <= funds.heldMicros) low = middle;
    else high = middle - 1;
  }
  funds.heldTokens = low;
  if (low < wanted) funds.dry = true;
}

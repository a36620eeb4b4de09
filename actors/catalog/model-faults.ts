// What is wrong with a model or a price card beyond its schema: a provider that cannot run the kind
// of model, a price that is missing for what the kind uses, members of another kind.
import { fitsKind, type ModelKind } from '../../media/providers/model-kinds.ts';
import type { ModelRecord, PriceMembers } from './document.ts';
import type { PathFault } from './path-fault.ts';
import { hostedToolFaults, toolPriceFaults } from './tool-faults.ts';
import {
  loneVideoRateFaults,
  ownVideoRateFaults,
  videoMemberFaults,
  videoRateFaults,
} from './video/faults.ts';

/** The prices without which a model of the kind would be given away. */
const neededPrices: Readonly<Record<ModelKind, readonly (keyof PriceMembers)[]>> = {
  generation: ['input_per_million', 'output_per_million'],
  voice: ['audio_input', 'text_input', 'audio_output', 'text_output'],
  speech: ['per_1k_characters'],
  transcription: ['per_audio_minute'],
  video: ['per_second_of_video'],
};

/** `families` by the name of their provider; `cards` by theirs. */
export function modelFaults(
  model: ModelRecord,
  known: { families: ReadonlyMap<string, string>; cards: ReadonlyMap<string, PriceMembers> },
): PathFault[] {
  const { kind, price } = model;
  const faults = model.routes.flatMap(({ provider }, index): PathFault[] => {
    const family = known.families.get(provider);
    if (family !== undefined && fitsKind(family, kind)) return [];
    const purpose = kind === 'generation' ? 'runs models' : `runs ${kind} models`;
    const message = `there is no provider "${provider}" that ${purpose}`;
    return [{ path: `routes[${index}].provider`, message }];
  });
  faults.push(...memberFaults(model), ...videoMemberFaults(model));
  if (typeof price !== 'string') {
    faults.push(...missingPrices(price, kind, 'price.'), ...tierFaults(price, 'price.'));
    faults.push(...videoRateFaults(price, 'price.'), ...ownVideoRateFaults(model, price, 'price.'));
    return [...faults, ...toolPriceFaults(price, 'price.'), ...hostedToolFaults(model, price)];
  }
  const card = known.cards.get(price);
  const message = `there is no price card "${price}"`;
  if (card === undefined) return [...faults, { path: 'price', message }];
  faults.push(...hostedToolFaults(model, card));
  const [missing] = missingPrices(card, kind, '');
  if (missing === undefined) return faults;
  return [...faults, { path: 'price', message: `card "${price}": ${missing.message}` }];
}

/** Faults of a card that models refer to: what it must have is up to the models. */
export function namedCardFaults(card: PriceMembers): PathFault[] {
  const kinds = Object.keys(neededPrices) as ModelKind[];
  const isComplete = kinds.some((kind) => missingPrices(card, kind, '').length === 0);
  const missing = isComplete ? [] : missingPrices(card, kindOf(card), '');
  const lone = missing.length === 0 ? loneVideoRateFaults(card) : [];
  const faults = [...missing, ...lone, ...tierFaults(card, ''), ...videoRateFaults(card, '')];
  return [...faults, ...toolPriceFaults(card, '')];
}

/** The kind of model that an incomplete card was probably meant for. */
function kindOf(card: PriceMembers): ModelKind {
  if (card.video_rates !== undefined) return 'video';
  return neededPrices.voice.some((member) => card[member] !== undefined) ? 'voice' : 'generation';
}

/** Members that the kind needs, or that mean nothing to it. */
function memberFaults(model: ModelRecord): PathFault[] {
  const { kind, voices, tokens_per_second_max: rates } = model;
  const faults: PathFault[] = [];
  const hasVoices = kind === 'voice' || kind === 'speech';
  if (hasVoices && Object.keys(voices ?? {}).length === 0) {
    faults.push({ path: 'voices', message: `a ${kind} model needs voices` });
  }
  if (!hasVoices && voices !== undefined) {
    faults.push({ path: 'voices', message: `a ${kind} model has no voices` });
  }
  if (kind === 'voice' && rates === undefined) {
    faults.push({ path: 'tokens_per_second_max', message: 'a voice model needs it' });
  }
  if (kind !== 'voice' && rates !== undefined) {
    faults.push({ path: 'tokens_per_second_max', message: 'only voice models have it' });
  }
  return faults;
}

function missingPrices(card: PriceMembers, kind: ModelKind, prefix: string): PathFault[] {
  const needed = neededPrices[kind];
  const missing = needed.find((member) => card[member] === undefined);
  if (missing === undefined) return [];
  const names = [needed.slice(0, -1).join(', '), ...needed.slice(-1)].filter((name) => name !== '');
  const message = `${names.join(' and ')} ${needed.length > 1 ? 'are' : 'is'} needed`;
  return [{ path: `${prefix}${missing}`, message }];
}

function tierFaults(card: PriceMembers, prefix: string): PathFault[] {
  const tiers = card.pricing_tiers ?? [];
  return tiers.flatMap((tier, index): PathFault[] => {
    const path = `${prefix}pricing_tiers[${index}]`;
    if (Object.keys(tier).length === 1) {
      return [{ path, message: 'a tier needs a price beside min_input_tokens' }];
    }
    const before = tiers[index - 1]?.min_input_tokens ?? 0;
    if (index === 0 || tier.min_input_tokens > before) return [];
    return [{ path: `${path}.min_input_tokens`, message: 'min_input_tokens must increase' }];
  });
}

// The input tokens of a request before it is generated: the provider's own count where its family
// has one, else the tokenizer's, else an estimate by length. Nothing is held or charged.
import type { GenerationRequest } from '../../media/model/request.ts';
import { estimateInputTokens, inputText } from '../../media/model/tokens.ts';
import { countAtProvider } from '../../media/providers/count.ts';
import type { CatalogModel } from '../catalog/snapshot.ts';
import type { GenerationDeps } from './spec.ts';

export interface InputCount {
  inputTokens: number;
  /** Not the provider's own count. */
  estimated: boolean;
}

export type CountInput = (model: CatalogModel, request: GenerationRequest) => Promise<InputCount>;

/** One for each shard: it asks the route that a generation would be tried on first. */
export function createInputCounter(
  deps: Pick<GenerationDeps, 'health' | 'family' | 'countTokens'>,
): CountInput {
  return async (model, request) => {
    const [target] = deps.health.order(model.targets, Date.now());
    const counted =
      target === undefined
        ? null
        : await countAtProvider(deps.family(target.family), target, request);
    if (counted !== null) return { inputTokens: counted, estimated: false };
    const tokens = await deps.countTokens({ input: inputText(request), output: '' });
    return { inputTokens: tokens?.input ?? estimateInputTokens(request), estimated: true };
  };
}

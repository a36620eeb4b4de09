// The input tokens of a request beforehand, with what a generation would add to it: the provider's
// own count where its family has one, else the tokenizer's, else an estimate by length.
import { attachmentTokens } from '../../media/model/attachments.ts';
import { withClientContext } from '../../media/model/client-context.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { estimateInputTokens, inputText } from '../../media/model/tokens.ts';
import { countAtProvider } from '../../media/providers/generation/count.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { GenerationDeps } from './spec.ts';
import { instructed, isConstrained } from './structure.ts';

export interface InputCount {
  inputTokens: number;
  /** Not the provider's own count. */
  estimated: boolean;
}

export type CountInput = (
  accountId: string,
  model: CatalogModel,
  request: GenerationRequest,
) => Promise<InputCount>;

/** One for each shard, for free: it asks the route that a generation would be tried on first. */
export function createInputCounter(
  deps: Pick<GenerationDeps, 'health' | 'family' | 'countTokens'>,
): CountInput {
  return async (accountId, model, request) => {
    let asked = withClientContext(request, Date.now());
    const [target] = deps.health.order(model.targets, Date.now());
    if (target !== undefined) {
      const family = deps.family(target.family);
      if (!isConstrained(family, asked, { model, target })) asked = instructed(asked);
      const counted = await countAtProvider(family, target, asked);
      if (counted !== null) return { inputTokens: counted, estimated: false };
    }
    const texts = { input: inputText(asked), output: '', reasoning: '' };
    const tokens = await deps.countTokens(accountId, texts);
    const inputTokens =
      tokens === null ? estimateInputTokens(asked) : tokens.input + attachmentTokens(asked);
    return { inputTokens, estimated: true };
  };
}

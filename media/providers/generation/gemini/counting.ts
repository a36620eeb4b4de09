// :countTokens with the whole request in it: contents alone would leave instructions and tools out.
import { isMembers } from '../../../transport/members.ts';
import type { TokenCounting } from '../contract.ts';
import { resourceName } from './model.ts';
import { callOf, encodeInput } from './request.ts';

export const counting: TokenCounting = {
  encode(request, target) {
    const model = target.upstreamModel;
    const input = encodeInput(request, model, false);
    const generateContentRequest = { model: resourceName(model), ...input };
    return callOf(target, 'countTokens', { generateContentRequest }, 'application/json');
  },
  read(body) {
    const counted = parse(body);
    if (!isMembers(counted)) return null;
    // A count of zero is left out of the JSON.
    const tokens = counted.totalTokens ?? (Object.keys(counted).length === 0 ? 0 : null);
    return Number.isSafeInteger(tokens) && (tokens as number) >= 0 ? (tokens as number) : null;
  },
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

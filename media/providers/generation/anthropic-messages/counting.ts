// The family's own endpoint that counts input tokens, for free.
import { isMembers } from '../../../transport/members.ts';
import type { TokenCounting } from '../contract.ts';
import { encodeCount } from './request.ts';

export const counting: TokenCounting = {
  encode: encodeCount,
  read(body) {
    const count = parse(body);
    const tokens = isMembers(count) ? count.input_tokens : null;
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
      ? tokens
      : null;
  },
};

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

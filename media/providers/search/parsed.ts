// The JSON of a reply. A long one is read in turns of the loop of its own. Our key is taken out,
// should a provider have repeated it.
import { parseJson } from '../../../runtime/http/json.ts';
import { parseLongJson } from '../../../runtime/http/long-json.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { ownTurn } from '../../../runtime/turns.ts';
import type { UpstreamTarget } from '../generation/contract.ts';

export interface ParsedReply {
  value: unknown;
  /** Each step that reads all of it has a turn of its own. */
  isLong: boolean;
  /** The provider's host, where the reply names it; customers are not told of it. */
  host: string | null;
}

/** A shorter one may be a word. */
const keyCharactersMin = 12;

/** Null: it is no JSON, or none that is safe to hand on. */
export async function parsedReply(
  body: Buffer,
  { baseUrl, apiKey }: UpstreamTarget,
): Promise<ParsedReply | null> {
  const isLong = body.length >= fixedLimits.body.longBytesMin;
  let value: unknown;
  try {
    value = isLong ? await parseLongJson(body) : parseJson(body);
  } catch {
    return null;
  }
  if (apiKey !== null && apiKey.length >= keyCharactersMin && body.includes(apiKey)) {
    if (isLong) await ownTurn();
    withoutTexts(value, apiKey);
  }
  const { host } = new URL(baseUrl);
  return { value, isLong, host: body.includes(host) ? host : null };
}

/** Undefined: it is no JSON. Null: it was longer than we take. */
export function parsedRefusal(body: Buffer | null): unknown {
  if (body === null) return undefined;
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

/** Puts null in the place of every text that has these words, at every depth. */
export function withoutTexts(root: unknown, words: string): void {
  const waiting: object[] = typeof root === 'object' && root !== null ? [root] : [];
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    const members = each as Record<string, unknown>;
    for (const [name, value] of Object.entries(members)) {
      if (typeof value === 'string' && value.includes(words)) members[name] = null;
      else if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
}

// The official OpenAI client as the conformance tests make it, and what they all need of it. What
// it is told of responses is held to the schema of Open Responses.
import OpenAI from 'openai';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';
import { checkedFetch } from './open-responses/check.ts';

export const model = 'svc-sim-chat';

export interface ClientSettings {
  maxRetries?: number;
  /** Sees the headers of every request before it leaves. */
  seen?: (headers: Headers) => void;
}

export function openAi(
  account: { baseUrl: string; apiKey: string },
  { maxRetries = 0, seen }: ClientSettings = {},
): OpenAI {
  return new OpenAI({
    baseURL: `${account.baseUrl}/v1`,
    apiKey: account.apiKey,
    maxRetries,
    fetch: (input, init) => {
      seen?.(new Headers(init?.headers as Record<string, string>));
      return checkedFetch(input as string, init);
    },
  });
}

export function user(content: string): OpenAI.Chat.ChatCompletionMessageParam[] {
  return [{ role: 'user', content }];
}

/** The member that the client's types do not know; it hands it through. */
export function svcUsage(value: unknown): SvcUsage | undefined {
  return (value as { svc_usage?: SvcUsage } | undefined)?.svc_usage;
}

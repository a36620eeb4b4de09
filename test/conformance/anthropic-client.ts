// The official Anthropic client as the conformance tests make it, and what they all need of it.
import Anthropic from '@anthropic-ai/sdk';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';

export const messagesModel = 'svc-sim-messages';

export interface ClientSettings {
  maxRetries?: number;
  /** As `Authorization: Bearer` instead of `x-api-key`. */
  bearer?: boolean;
  /** Sees the headers of every request before it leaves. */
  seen?: (headers: Headers) => void;
}

export function anthropic(
  account: { baseUrl: string; apiKey: string },
  { maxRetries = 0, bearer = false, seen }: ClientSettings = {},
): Anthropic {
  return new Anthropic({
    baseURL: account.baseUrl,
    apiKey: bearer ? null : account.apiKey,
    authToken: bearer ? account.apiKey : null,
    maxRetries,
    fetch: (input, init) => {
      seen?.(new Headers(init?.headers as Record<string, string>));
      return fetch(input as string, init as RequestInit);
    },
  });
}

export function user(content: string): Anthropic.MessageParam[] {
  return [{ role: 'user', content }];
}

/** The text of all blocks. */
export function textOf(message: { content: Anthropic.ContentBlock[] }): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The member that the client's types do not know; it hands it through. */
export function svcUsage(value: unknown): SvcUsage | undefined {
  return (value as { svc_usage?: SvcUsage } | undefined)?.svc_usage;
}

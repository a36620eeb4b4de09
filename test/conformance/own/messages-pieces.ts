// Messages as a provider of that format has them: written from the vendor's published types, which
// the compiler holds them to (not recorded from a provider).
import type Anthropic from '@anthropic-ai/sdk';

export type Block = Anthropic.Beta.BetaContentBlock;
export type Message = Anthropic.Beta.BetaMessage;

export interface MessagesFixture {
  name: string;
  message: Message;
}

const usage: Message['usage'] = {
  input_tokens: 11,
  cache_creation_input_tokens: 3,
  cache_read_input_tokens: 5,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
  fallback_credit: null,
  inference_geo: null,
  iterations: null,
  output_tokens: 9,
  output_tokens_details: { thinking_tokens: 0 },
  server_tool_use: null,
  service_tier: null,
  speed: null,
};

type Members = Partial<Omit<Message, 'usage'>> & { usage?: Partial<Message['usage']> };

export function fixture(name: string, content: Block[], members: Members = {}): MessagesFixture {
  const message: Message = {
    id: 'msg_upstream',
    type: 'message',
    role: 'assistant',
    model: 'own-upstream',
    container: null,
    context_management: null,
    diagnostics: null,
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    content,
    ...members,
    usage: { ...usage, ...members.usage },
  };
  return { name, message };
}

/** As the vendor sends it: without the member that its client's types insist on. */
export function text(words: string, citations?: Anthropic.Beta.BetaTextCitation[]): Block {
  const block = { type: 'text', text: words };
  return (citations === undefined ? block : { ...block, citations }) as Block;
}

export const webLocation: Anthropic.Beta.BetaTextCitation = {
  type: 'web_search_result_location',
  cited_text: 'the sky',
  encrypted_index: 'ZQ==',
  title: 'Sky',
  url: 'https://sky.test/',
};

export const direct = { type: 'direct' } as const;

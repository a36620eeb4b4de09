// Which refusals say that the input is longer than the model's context, of whatever provider: the
// statuses are those of every other fault in a request, so only code and words tell.
import type { UpstreamFailure } from '../../model/events.ts';

const words = [
  /context_length_exceeded/, // OpenAI, and most that speak its formats
  /exceeds? (?:the |this )?(?:model'?s )?(?:maximum )?context (?:window|length|limit|size)/i,
  /maximum context length (?:is|of) \d/i, // OpenAI's Chat, vLLM
  /model'?s context length is only \d/i, // vLLM since 0.12
  /longer than the (?:model'?s context|maximum model) length/i, // SGLang, vLLM
  /too large for model with \d+ maximum context length/i, // Mistral
  /prompt is too long/i, // Anthropic
  /input is too long for requested model/i, // Bedrock
  /input token count.{0,40} exceeds the maximum/i, // Gemini
  /maximum prompt length is \d/i, // xAI
  /exceed_context_size|exceeds the available context size/i, // llama.cpp
  /prompt too long; exceeded/i, // Ollama
];

export function isContextRefusal({ kind, detail }: UpstreamFailure): boolean {
  return kind === 'rejected' && words.some((pattern) => pattern.test(detail));
}

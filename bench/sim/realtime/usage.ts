// Usage of one Realtime response, as that provider counts: the whole conversation again as input,
// what an earlier response already had as input being cached, and never cumulative.
import type { Members } from '../members.ts';
import type { TokenPair } from '../voice/tokens.ts';

/** `before`: input of the response before; null: there was none. */
export function usageOf(input: TokenPair, before: TokenPair | null, output: TokenPair): Members {
  const cachedText = Math.min(input.text, before?.text ?? 0);
  const cachedAudio = Math.min(input.audio, before?.audio ?? 0);
  return {
    total_tokens: input.text + input.audio + output.text + output.audio,
    input_tokens: input.text + input.audio,
    output_tokens: output.text + output.audio,
    input_token_details: {
      text_tokens: input.text,
      audio_tokens: input.audio,
      image_tokens: 0,
      cached_tokens: cachedText + cachedAudio,
      cached_tokens_details: {
        text_tokens: cachedText,
        audio_tokens: cachedAudio,
        image_tokens: 0,
      },
    },
    output_token_details: { text_tokens: output.text, audio_tokens: output.audio },
  };
}

export const zeroUsage: Members = usageOf({ text: 0, audio: 0 }, null, { text: 0, audio: 0 });

// How live speech is counted: words of text, tenths of a second of audio (decisions.md, section 9).

export interface TokenPair {
  text: number;
  audio: number;
}

/** 10 audio tokens a second, begun ones whole. */
export function audioTokensOf(ms: number): number {
  return Math.ceil(ms / 100);
}

// A text whose marks `[n]` name what it was given: what is checked, and what is told of it.

/** One quoted source, as the model was given it. Marks count from 1. */
export interface GroundingSource {
  title: string;
  url: string;
  text: string;
}

export interface GroundedCitation {
  /** Code points of `text`: the mark. */
  start: number;
  end: number;
  /** The source, from 1. */
  position: number;
  url: string;
  title: string;
  /** The sentence of the source that shares most with the sentence that cites it. */
  quote: string;
}

/** As clients see it (`shared/spec/query.md`, section 5). */
export interface GroundedAnswer {
  text: string;
  citations: GroundedCitation[];
  grounded: boolean;
  /** The public alias of the model. */
  model: string;
  /** Marks and addresses that were taken out. */
  removed: number;
}

/** What the check made of a text. */
export interface GroundingVerdict {
  text: string;
  citations: GroundedCitation[];
  removed: number;
  /** No supported mark, or fewer than half of the sentences that state a fact have one. */
  isWanting: boolean;
  /** Sentences that state a fact and have no supported mark, for the text of the repair. */
  unsupported: readonly string[];
}

// Every number of the optimizer, by profile and mode. Each is part of what a provider has cached:
// changing one rewrites the prefix of every running conversation once.

export type OptimizerProfile = 'general' | 'code' | 'research';
export type OptimizerMode = 'balanced' | 'aggressive';

export interface OptimizerOptions {
  profile: OptimizerProfile;
  mode: OptimizerMode;
  /** Without it nothing is left out that a reader could quote. */
  allowLossyContext: boolean;
  /** A wish: above it extraction keeps less around what is asked for, never less of that. */
  budgetTokens?: number;
}

export interface OptimizerSettings {
  /** The boundary moves at the first user turn that has this many new bytes before it. */
  sealBytes: number;
  /** How long a conversation is taken to go on, in its own length so far (see `rewriteFrom`). */
  horizon: number;
  /** Runs of lines that stood earlier become a reference from these sizes on. */
  runLinesMin: number;
  runCharactersMin: number;
  /** Runs may begin and end within a block, and within source text. */
  partialRuns: boolean;
  blobCharactersMin: number;
  /** Progress lines that only count up keep their last; scripts and styles of markup go. */
  collapsesProgress: boolean;
  stripsMarkup: boolean;
  /** Files that a tool has read keep every byte: an edit quotes them exactly. */
  verbatimFiles: boolean;
  extraction: ExtractionSettings | null;
}

export interface ExtractionSettings {
  /** Shorter tool outputs stay whole. */
  charactersMin: number;
  headUnits: number;
  tailUnits: number;
  /** Units with a word of failure that are kept, half from the front, half from the back. */
  errorsMax: number;
  /** Units kept on either side of one that was asked for. */
  neighbours: number;
  /** A term asks for a unit when at most this share of a text's units holds it. */
  askShare: number;
  /** Sentences with a figure stay: research quotes them. */
  keepsFigures: boolean;
}

const BYTES_PER_TOKEN = 4;

const EXTRACTION: Readonly<Record<OptimizerMode, ExtractionSettings>> = {
  balanced: {
    charactersMin: 3_000,
    headUnits: 10,
    tailUnits: 10,
    errorsMax: 40,
    neighbours: 2,
    askShare: 0.2,
    keepsFigures: false,
  },
  aggressive: {
    charactersMin: 1_600,
    headUnits: 5,
    tailUnits: 5,
    errorsMax: 16,
    neighbours: 1,
    askShare: 0.1,
    keepsFigures: false,
  },
};

/**
 * The numbers for one request. `sealedBytes` is what the conversation has behind its boundary: it
 * only grows, so a budget tightens extraction at most twice in the life of a conversation.
 */
export function settingsOf(options: OptimizerOptions, sealedBytes: number): OptimizerSettings {
  const aggressive = options.mode === 'aggressive';
  return {
    sealBytes: sealBytesOf(options.mode),
    horizon: aggressive ? 4 : 2,
    runLinesMin: aggressive ? 4 : 6,
    runCharactersMin: aggressive ? 240 : 400,
    partialRuns: aggressive,
    blobCharactersMin: aggressive ? 512 : 1_024,
    collapsesProgress: aggressive,
    stripsMarkup: aggressive,
    verbatimFiles: options.profile === 'code',
    extraction: options.allowLossyContext ? extractionOf(options, sealedBytes) : null,
  };
}

export function sealBytesOf(mode: OptimizerMode): number {
  return (mode === 'aggressive' ? 2_048 : 4_096) * BYTES_PER_TOKEN;
}

function extractionOf(options: OptimizerOptions, sealedBytes: number): ExtractionSettings {
  const base = EXTRACTION[options.mode];
  const pressure = pressureOf(options.budgetTokens, sealedBytes);
  const isResearch = options.profile === 'research';
  return {
    ...base,
    headUnits: base.headUnits >> pressure,
    tailUnits: Math.max(1, base.tailUnits >> pressure),
    errorsMax: base.errorsMax >> pressure,
    neighbours: base.neighbours + (isResearch ? 1 : 0),
    keepsFigures: isResearch,
  };
}

/** 0 within the budget, 1 up to twice of it, 2 beyond. */
function pressureOf(budgetTokens: number | undefined, sealedBytes: number): number {
  if (budgetTokens === undefined) return 0;
  const budgetBytes = budgetTokens * BYTES_PER_TOKEN;
  if (sealedBytes <= budgetBytes) return 0;
  return sealedBytes <= 2 * budgetBytes ? 1 : 2;
}

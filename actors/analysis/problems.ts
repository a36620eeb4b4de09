// Why an analysis failed, in our words, and what the failures of others mean for it.
import { type VideoFault, videoFaults } from '../../media/video/faults.ts';
import type { OutboundReason } from '../../runtime/outbound/contract.ts';
import type { ProblemCode } from '../../runtime/problem.ts';

export const analysisErrors = {
  source_refused: 'This URL may not be fetched.',
  source_unreachable: 'The source could not be fetched.',
  source_too_large: 'The source is larger than 256 MiB.',
  source_too_long: 'The video is longer than 600 seconds.',
  source_not_video: 'The source is no video that can be read.',
  insufficient_credits: 'The wallet does not cover the analysis.',
  generation_failed: 'The model gave no description that fits the video.',
  queue_timeout: 'The analysis waited too long for its turn.',
  timeout: 'The analysis was not finished in time.',
  account_disabled: 'The account was disabled before the analysis began.',
  policy_blocked: 'A policy does not allow this model any more.',
  internal: 'The analysis was ended by an internal error.',
} as const;

export type AnalysisError = keyof typeof analysisErrors;

/** The sentence of a code; an unknown one is of a newer build. */
export function messageOf(code: string): string {
  const known = Object.hasOwn(analysisErrors, code);
  return known ? analysisErrors[code as AnalysisError] : analysisErrors.internal;
}

/** Ends an analysis. `message`: more than its code says, without anything of the source. */
export class AnalysisFault extends Error {
  readonly code: AnalysisError;

  constructor(code: AnalysisError, message: string = analysisErrors[code]) {
    super(message);
    this.code = code;
  }
}

/** What the guard says of a URL. `aborted` is our own doing. */
export const faultOfReason: Readonly<Record<OutboundReason, AnalysisError>> = {
  source_refused: 'source_refused',
  source_unreachable: 'source_unreachable',
  source_too_large: 'source_too_large',
  timeout: 'source_unreachable',
  aborted: 'internal',
};

const faultsOfTheirOwn: Partial<Record<VideoFault, AnalysisError>> = {
  too_long: 'source_too_long',
  picture_too_large: 'source_too_large',
  unwritten: 'internal',
};

/** What was found out about the file. The sentence of the fault says more than the code. */
export function videoFault(fault: VideoFault): AnalysisFault {
  return new AnalysisFault(faultsOfTheirOwn[fault] ?? 'source_not_video', videoFaults[fault]);
}

/**
 * What a refusal of a generation that cost nothing means. `again`: it may be otherwise soon.
 * `attached`: another process has it under way. `failed`: once more, then never.
 */
export type RefusalMeaning = AnalysisError | 'again' | 'attached' | 'failed';

const meanings: Partial<Record<ProblemCode, RefusalMeaning>> = {
  insufficient_credits: 'insufficient_credits',
  spend_limit_exceeded: 'insufficient_credits',
  policy_blocked: 'policy_blocked',
  forbidden: 'account_disabled',
  invalid_request: 'generation_failed',
  context_length_exceeded: 'generation_failed',
  input_too_long: 'generation_failed',
  model_not_found: 'generation_failed',
  conflict: 'attached',
  rate_limited: 'again',
  concurrency_limited: 'again',
  overloaded: 'again',
  no_route_available: 'again',
  dependency_unavailable: 'again',
  upstream_busy: 'again',
};

export function meaningOf(code: ProblemCode): RefusalMeaning {
  return meanings[code] ?? 'failed';
}

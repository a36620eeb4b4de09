// What the model has to answer, and whether it did: a strict schema, then what no schema can say.
// Segments are in the order of time, inside the part, and each holds a frame that was shown.
import * as v from 'valibot';

export interface AnalysisSegment {
  start_seconds: number;
  end_seconds: number;
  description: string;
}

export interface AnalysisResult {
  summary: string;
  /** To the prompt. */
  answer: string | null;
  segments: AnalysisSegment[];
}

/** What was looked at. */
export interface Looked {
  startSeconds: number;
  endSeconds: number;
  frames: readonly number[];
}

/** `complaint`: what is wrong, for whoever answers again. */
export type Judgement = { ok: true; result: AnalysisResult } | { ok: false; complaint: string };

/** Bounds that the schema has no words for with every provider. */
const textCharactersMax = 16_000;
const segmentsMax = 256;
/** People round to whole seconds: so much outside of the part is moved to its edge. */
const slackSeconds = 1;

const seconds = {
  type: 'number',
  description: 'Seconds from the beginning of the video, of a frame that was shown.',
};

/** As providers that keep to a schema want it: closed, with all members required. */
export const answerSchema: Record<string, unknown> = {
  type: 'object',
  additionalProperties: false,
  required: ['summary', 'answer', 'segments'],
  properties: {
    summary: { type: 'string', description: 'What happens in the video.' },
    answer: {
      type: ['string', 'null'],
      description: 'The answer to the question of the user; null if none was asked.',
    },
    segments: {
      type: 'array',
      description: 'Parts of the video in the order of time.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['start_seconds', 'end_seconds', 'description'],
        properties: {
          start_seconds: seconds,
          end_seconds: seconds,
          description: { type: 'string', description: 'What is seen in this part.' },
        },
      },
    },
  },
};

const said = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(textCharactersMax));
const resultSchema = v.strictObject({
  summary: said,
  answer: v.nullable(said),
  segments: v.pipe(
    v.array(
      v.strictObject({
        start_seconds: v.pipe(v.number(), v.finite()),
        end_seconds: v.pipe(v.number(), v.finite()),
        description: said,
      }),
    ),
    v.maxLength(segmentsMax),
  ),
});

/** The answer's text as the result of an analysis. `asked`: there was a prompt. */
export function judgeAnswer(text: string, looked: Looked, asked: boolean): Judgement {
  const parsed = v.safeParse(resultSchema, parsedJson(text), { abortPipeEarly: true });
  if (!parsed.success) return { ok: false, complaint: 'It does not satisfy the JSON Schema.' };
  const { summary, answer, segments } = parsed.output;
  const placed: AnalysisSegment[] = [];
  for (const [index, segment] of segments.entries()) {
    const fitted = fittedTo(segment, looked);
    const complaint = complaintOf(fitted, placed.at(-1), looked);
    if (complaint !== null) return { ok: false, complaint: `Segment ${index + 1} ${complaint}` };
    placed.push(fitted);
  }
  return { ok: true, result: { summary, answer: asked ? answer : null, segments: placed } };
}

function complaintOf(
  { start_seconds: start, end_seconds: end }: AnalysisSegment,
  before: AnalysisSegment | undefined,
  { startSeconds, endSeconds, frames }: Looked,
): string | null {
  if (start > end) return 'ends before it begins.';
  if (start < startSeconds || end > endSeconds) return 'is not inside the part that was shown.';
  if (before !== undefined && start < before.start_seconds) {
    return 'begins before the one in front of it.';
  }
  const holds = frames.some((frame) => frame >= start && frame <= end);
  return holds ? null : 'holds no frame that was shown.';
}

function fittedTo(segment: AnalysisSegment, looked: Looked): AnalysisSegment {
  return {
    start_seconds: atEdge(segment.start_seconds, looked),
    end_seconds: atEdge(segment.end_seconds, looked),
    description: segment.description,
  };
}

function atEdge(moment: number, { startSeconds, endSeconds }: Looked): number {
  if (moment < startSeconds && moment >= startSeconds - slackSeconds) return startSeconds;
  if (moment > endSeconds && moment <= endSeconds + slackSeconds) return endSeconds;
  return moment;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// Analyses as clients ask for them and see them (the specification of video, section 7).
import * as v from 'valibot';
import { analysisLimits } from '../../actors/analysis/limits.ts';
import { lineOfText, maxCharacters } from '../../runtime/http/text.ts';
import { svcUsageSchema } from '../generations/schema.ts';
import { requestIdPattern, requestIdWords } from './schema.ts';

const { promptCharactersMax, urlCharactersMax, framesMax, framesUsual } = analysisLimits;
const time = v.pipe(v.string(), v.isoTimestamp());
/** A day: no source is so long. */
const secondsMax = 86_400;
const seconds = v.pipe(v.number(), v.minValue(0), v.maxValue(secondsMax));

/** A closed object. */
export const analysisRequestSchema = v.strictObject({
  source_url: v.pipe(
    lineOfText(urlCharactersMax),
    v.description('An http or https URL, or the `url` of a generated video of the account.'),
  ),
  model: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      maxCharacters(200),
      v.description('A model with the capability `vision`.'),
    ),
    'svc-video-analysis',
  ),
  prompt: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      maxCharacters(promptCharactersMax),
      v.description('A question about the video: `answer` of the result answers it.'),
    ),
  ),
  start_seconds: v.optional(v.pipe(seconds, v.description('The part to look at; from 0.'))),
  end_seconds: v.optional(v.pipe(seconds, v.description('To the end of the video, if absent.'))),
  max_frames: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(framesMax)),
    framesUsual,
  ),
  request_id: v.optional(v.pipe(v.string(), v.regex(requestIdPattern, requestIdWords))),
});

const segmentSchema = v.strictObject({
  start_seconds: v.number(),
  end_seconds: v.number(),
  description: v.string(),
});

export const analysisSchema = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^va_[a-f0-9]{24}$/)),
  object: v.literal('video.analysis'),
  request_id: v.string(),
  model: v.string(),
  status: v.picklist(['queued', 'running', 'completed', 'failed']),
  progress: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  source: v.optional(
    v.strictObject({
      kind: v.picklist(['url', 'generated_video']),
      duration_seconds: v.number(),
      width: v.pipe(v.number(), v.integer()),
      height: v.pipe(v.number(), v.integer()),
      has_audio: v.boolean(),
      sha256: v.pipe(v.string(), v.regex(/^[a-f0-9]{64}$/)),
      frames: v.pipe(v.array(v.number()), v.description('Seconds of those that were looked at.')),
    }),
  ),
  result: v.optional(
    v.strictObject({
      summary: v.string(),
      answer: v.nullable(v.string()),
      segments: v.array(segmentSchema),
    }),
  ),
  svc_usage: v.optional(svcUsageSchema),
  error_code: v.optional(v.string()),
  error_message: v.optional(v.string()),
  created_at: time,
  updated_at: time,
  completed_at: v.optional(time),
});

export const analysisReplySchema = v.strictObject({
  ok: v.literal(true),
  analysis: analysisSchema,
});

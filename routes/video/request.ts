// What is asked of a video: the body of a creation (specification 2.4).
import * as v from 'valibot';
import { videoLimits } from '../../actors/video/limits.ts';
import { videoRatios, videoResolutions } from '../../media/model/video.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { requestIdPattern, requestIdWords, settingsEntries } from './schema.ts';

const { seconds, seed } = settingsEntries;

/** A closed object. */
export const requestSchema = v.strictObject({
  model: v.optional(v.literal('svc-video'), 'svc-video'),
  video_model: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      maxCharacters(200),
      v.description('An exact model; omitted: one that can make the video is chosen.'),
    ),
  ),
  prompt: v.pipe(v.string(), v.minLength(1), maxCharacters(videoLimits.promptCharactersMax)),
  duration_seconds: v.optional(
    v.pipe(
      seconds,
      v.description(
        'Omitted: 8 where `video_model` names a vendorB model, else 5; where no model makes ' +
          '5, as long as the best one makes it by itself.',
      ),
    ),
  ),
  aspect_ratio: v.optional(v.picklist(videoRatios), '16:9'),
  resolution: v.optional(v.picklist(videoResolutions), '720p'),
  generate_audio: v.optional(v.boolean(), true),
  seed: v.optional(v.pipe(seed, v.description('Best effort: sent to models that take one.'))),
  conversation_id: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9_-]{1,160}$/, 'expected 1 to 160 letters, digits, _ and -'),
    ),
  ),
  request_id: v.optional(v.pipe(v.string(), v.regex(requestIdPattern, requestIdWords))),
});

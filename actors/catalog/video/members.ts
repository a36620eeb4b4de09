// The members that only records of video have: what a model can make, and the hosts that a
// provider's files come from. Whole seconds are those that a request may ask for.
import * as v from 'valibot';
import { videoRatios, videoResolutions } from '../../../media/model/video.ts';

/** A request asks for 4 to 30 seconds (specification 2.4). */
export const videoSecondsMin = 4;
export const videoSecondsMax = 30;
const lengthsMax = videoSecondsMax - videoSecondsMin + 1;

const seconds = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(videoSecondsMin),
  v.maxValue(videoSecondsMax),
);

/** Each that is listed, or all of a range. */
const durations = v.union(
  [
    v.pipe(v.array(seconds), v.minLength(1), v.maxLength(lengthsMax)),
    v.strictObject({ min: seconds, max: seconds }),
  ],
  'expected a list of seconds such as [4, 6, 8], or {"min", "max"}',
);

/** `adaptive` leaves the choice to a model: no model has to name it. */
const namedRatios = videoRatios.filter((ratio) => ratio !== 'adaptive');

/** `durations` narrows the model's own. */
const resolution = v.optional(v.strictObject({ durations: v.optional(durations) }));
const resolutionEntries = Object.fromEntries(
  videoResolutions.map((name) => [name, resolution]),
) as Record<(typeof videoResolutions)[number], typeof resolution>;

export const videoSchema = v.strictObject({
  durations,
  /** What is missing is not made. */
  resolutions: v.strictObject(resolutionEntries),
  aspect_ratios: v.pipe(
    v.array(v.picklist(namedRatios)),
    v.minLength(1),
    v.maxLength(namedRatios.length),
  ),
  /** Whether there is sound: a request may refuse it always, and want it unless it is `never`. */
  audio: v.picklist(['always', 'optional', 'never']),
  /** A seed is sent to it. */
  seed: v.optional(v.boolean(), false),
  /** Minutes that its provider may take for one video. */
  minutes_max: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(240)), 30),
});

/** With sound, without and both, for each resolution. */
export const videoRatesMax = 3 * videoResolutions.length;

/** Letters, digits and hyphens between them. */
const label = '(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)';
/**
 * A host, or all below one. Two names at least stand behind the star, as all of `*.com` is
 * anybody's. The last name begins with a letter: with a digit it would be an address.
 */
export const mediaHost = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(
    new RegExp(`^(?:\\*\\.${label}\\.)?(?:${label}\\.)*(?=[a-z])${label}$`),
    'expected a host such as files.example.com, or all below one: *.example.com',
  ),
);
export const mediaHostsMax = 32;

export type VideoMembers = v.InferOutput<typeof videoSchema>;

// The public form of exact models and managed routes (specification 2.9; decisions.md, section 8).
import * as v from 'valibot';
import type { ManagedRoute } from '../../actors/catalog/managed.ts';
import type { CatalogModel } from '../../actors/catalog/model.ts';
import { type CatalogSnapshot, publicEntries } from '../../actors/catalog/snapshot.ts';
import { videoRatios, videoResolutions } from '../../media/model/video.ts';
import { messagesEntries, messagesMembers } from './messages.ts';

/** A model in OpenAI's form; for clients of Messages it has both, as all read one path. */
export const modelSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    object: v.literal('model'),
    created: v.pipe(v.number(), v.integer()),
    owned_by: v.literal('svc'),
    ...messagesEntries,
  }),
  v.title('Model'),
);

export function modelBody(entry: CatalogModel | ManagedRoute, forMessages: boolean) {
  const { alias: id, createdAt: created } = entry;
  const body = { id, object: 'model' as const, created, owned_by: 'svc' as const };
  return forMessages ? { ...body, ...messagesMembers(entry) } : body;
}

const rate = v.nullable(v.number());

const videoRateSchema = v.strictObject({
  resolution: v.picklist(videoResolutions),
  audio: v.optional(v.boolean()),
  credits_per_second_of_video: v.number(),
});

const wholeSeconds = v.pipe(v.number(), v.integer());
const durationsSchema = v.pipe(
  v.union([v.array(wholeSeconds), v.strictObject({ min: wholeSeconds, max: wholeSeconds })]),
  v.title('VideoDurations'),
  v.description('Whole seconds: each that is listed, or all of a range.'),
);
const videoResolutionSchema = v.optional(
  v.strictObject({ durations: v.optional(durationsSchema) }),
);
const videoSchema = v.pipe(
  v.strictObject({
    durations: durationsSchema,
    resolutions: v.strictObject(
      Object.fromEntries(videoResolutions.map((name) => [name, videoResolutionSchema])) as Record<
        (typeof videoResolutions)[number],
        typeof videoResolutionSchema
      >,
    ),
    aspect_ratios: v.array(v.picklist(videoRatios)),
    audio: v.picklist(['always', 'optional', 'never']),
    seed: v.boolean(),
    minutes_max: v.pipe(v.number(), v.integer()),
  }),
  v.title('VideoAbilities'),
  v.description(
    'What a video model can make. `durations` of a resolution narrow those of the model. ' +
      '`seed`: one is sent to it. `minutes_max`: what one video may take. A managed route has ' +
      'what its models have between them: not every combination is made.',
  ),
);

/** Rates of what is no token of text: present where the model has such a price. */
export const unitRateEntries = {
  credits_per_million_audio_input: v.optional(v.number()),
  credits_per_million_text_input: v.optional(v.number()),
  credits_per_million_audio_output: v.optional(v.number()),
  credits_per_million_text_output: v.optional(v.number()),
  credits_per_1k_characters: v.optional(v.number()),
  credits_per_audio_minute: v.optional(v.number()),
  credits_per_second_of_video: v.optional(v.number()),
  video_rates: v.optional(v.array(videoRateSchema)),
  credits_per_tool_call: v.optional(v.record(v.string(), v.number())),
};

export const catalogEntrySchema = v.object({
  alias: v.string(),
  display_name: v.string(),
  provider: v.string(),
  available: v.boolean(),
  supports_streaming: v.boolean(),
  status_reason: v.string(),
  credits_per_million_input: rate,
  credits_per_million_cached_input: rate,
  credits_per_million_output: rate,
  pricing_tiers: v.array(
    v.strictObject({
      min_input_tokens: v.pipe(v.number(), v.integer(), v.minValue(1)),
      credits_per_million_input: rate,
      credits_per_million_cached_input: rate,
      credits_per_million_output: rate,
    }),
  ),
  ...unitRateEntries,
  capabilities: v.array(v.string()),
  context_window: v.pipe(v.number(), v.integer()),
  video: v.optional(videoSchema),
});

/** Every enabled alias, and whether it can be called. */
export function catalogEntries(
  snapshot: CatalogSnapshot,
): v.InferOutput<typeof catalogEntrySchema>[] {
  return publicEntries(snapshot).map((entry) => ({
    ...entry,
    status_reason: entry.available ? 'The model can be called.' : 'No route of it is enabled.',
  }));
}

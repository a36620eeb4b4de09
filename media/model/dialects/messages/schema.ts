// The body of POST /v1/messages: the fields of 2.9 and the official client's superset. Open for
// members, content blocks and tools that nobody here knows: upstreams of the same format get them.
import * as v from 'valibot';
import { maxCharacters } from '../../../../runtime/http/text.ts';
import { sharedFields } from '../fields.ts';

const cacheControl = v.nullish(v.record(v.string(), v.unknown()));

const textBlock = v.looseObject({
  type: v.literal('text'),
  text: v.string(),
  cache_control: cacheControl,
});
const source = v.variant('type', [
  v.looseObject({ type: v.literal('base64'), media_type: v.string(), data: v.string() }),
  v.looseObject({ type: v.literal('url'), url: v.string() }),
  v.looseObject({ type: v.literal('text'), data: v.string() }),
  v.looseObject({ type: v.picklist(['content', 'file']) }),
]);
const imageBlock = v.looseObject({ type: v.literal('image'), source });
const documentBlock = v.looseObject({
  type: v.literal('document'),
  source,
  title: v.nullish(v.string()),
});
/** Blocks that only an upstream of this format understands: thinking, results of its own tools. */
const otherBlock = v.looseObject({
  type: v.pipe(
    v.string(),
    v.regex(
      /^(?!(?:text|image|document|tool_use|tool_result)$)[a-z][a-z0-9_]{0,79}$/,
      'expected the type of a content block',
    ),
  ),
});
const toolResultBlock = v.looseObject({
  type: v.literal('tool_result'),
  tool_use_id: v.string(),
  content: v.nullish(
    v.union([
      v.string(),
      v.array(v.variant('type', [textBlock, imageBlock, documentBlock, otherBlock])),
    ]),
  ),
  is_error: v.nullish(v.boolean()),
});
const toolUseBlock = v.looseObject({
  type: v.literal('tool_use'),
  id: v.string(),
  name: v.string(),
  input: v.record(v.string(), v.unknown()),
});
const content = v.union([
  v.string(),
  v.array(
    v.variant('type', [
      textBlock,
      imageBlock,
      documentBlock,
      toolUseBlock,
      toolResultBlock,
      otherBlock,
    ]),
  ),
]);

const message = v.variant('role', [
  v.looseObject({ role: v.picklist(['user', 'assistant']), content }),
  v.looseObject({
    role: v.literal('system'),
    content: v.pipe(
      v.nullish(content),
      v.description('Left out where the message has `output_config`, of the next turns, alone'),
    ),
    clear_at: v.pipe(
      v.nullish(v.string()),
      v.description('`next_user_message`: no model is told it once a later message is the user’s'),
    ),
  }),
]);

const tool = v.looseObject({
  type: v.pipe(
    v.nullish(v.string()),
    v.description(
      '`custom` or left out; other types are tools of the provider itself. With `defer_loading` ' +
        'a tool is declared to models of other formats at once: they have no search for tools. A ' +
        '`tool_reference` in a result is told to them in words',
    ),
  ),
  name: v.nullish(v.pipe(v.string(), v.minLength(1), maxCharacters(256))),
  description: v.nullish(v.string()),
  input_schema: v.nullish(v.record(v.string(), v.unknown())),
  strict: v.nullish(v.boolean()),
});

const toolChoice = v.looseObject({
  type: v.picklist(['auto', 'any', 'tool', 'none']),
  name: v.nullish(v.string()),
  disable_parallel_tool_use: v.nullish(v.boolean()),
});

const effort = v.nullish(v.pipe(v.string(), maxCharacters(40)));
const outputFormat = v.nullish(
  v.looseObject({
    type: v.literal('json_schema'),
    schema: v.nullish(v.record(v.string(), v.unknown())),
  }),
);

const countedFields = {
  ...sharedFields,
  messages: v.pipe(v.array(message), v.minLength(1), v.maxLength(10_000)),
  system: v.nullish(v.union([v.string(), v.array(textBlock)])),
  tools: v.nullish(v.pipe(v.array(tool), v.maxLength(512))),
  tool_choice: v.nullish(toolChoice),
  thinking: v.nullish(
    v.looseObject({
      type: v.pipe(v.string(), maxCharacters(40)),
      budget_tokens: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
      display: v.nullish(v.string()),
    }),
  ),
  output_config: v.nullish(v.looseObject({ effort, format: outputFormat })),
  output_format: outputFormat,
  thread: v.nullish(v.looseObject({ type: v.string() })),
};

/** What is counted: a request without its ceiling. */
export const countRequestSchema = v.looseObject(countedFields);

export const messagesRequestSchema = v.looseObject({
  ...countedFields,
  max_tokens: v.pipe(v.number(), v.integer(), v.minValue(1)),
  stop_sequences: v.nullish(v.pipe(v.array(v.string()), v.maxLength(64))),
  temperature: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  top_p: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  top_k: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0))),
});

export type CountRequestBody = v.InferOutput<typeof countRequestSchema>;
export type MessagesRequestBody = v.InferOutput<typeof messagesRequestSchema>;
export type BodyMessage = CountRequestBody['messages'][number];
export type BodyTool = NonNullable<CountRequestBody['tools']>[number];

/** The blocks that have a neutral form, by type. */
export interface KnownBlocks {
  text: v.InferOutput<typeof textBlock>;
  image: v.InferOutput<typeof imageBlock>;
  document: v.InferOutput<typeof documentBlock>;
  tool_use: v.InferOutput<typeof toolUseBlock>;
  tool_result: v.InferOutput<typeof toolResultBlock>;
}
export type BlockSource = v.InferOutput<typeof source>;

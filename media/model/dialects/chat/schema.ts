// The body of POST /v1/chat/completions: the fields of 2.9 and the official client's superset. Open
// for members that nobody here knows (they are forwarded), closed where the specification says so.
import * as v from 'valibot';
import { maxCharacters } from '../../../../runtime/http/text.ts';
import { sharedFields } from '../fields.ts';

const textPart = v.looseObject({ type: v.literal('text'), text: v.string() });
const imagePart = v.looseObject({
  type: v.literal('image_url'),
  image_url: v.looseObject({ url: v.string(), detail: v.nullish(v.string()) }),
});
const filePart = v.looseObject({
  type: v.literal('file'),
  file: v.looseObject({
    file_data: v.nullish(v.string()),
    filename: v.nullish(v.string()),
    file_id: v.nullish(v.string()),
  }),
});
const refusalPart = v.looseObject({ type: v.literal('refusal'), refusal: v.string() });
/** Understood by same-format upstreams alone. */
const audioPart = v.looseObject({ type: v.literal('input_audio') });
/** What servers of this format know beyond the vendor's own. */
const otherPart = v.looseObject({
  type: v.picklist(['video_url', 'audio_url', 'document_url', 'thinking', 'reference']),
});
const part = v.variant('type', [textPart, imagePart, filePart, refusalPart, audioPart, otherPart]);
const content = v.union([v.string(), v.array(part)]);

const functionCall = v.looseObject({ name: v.string(), arguments: v.string() });
const toolCall = v.variant('type', [
  v.looseObject({ id: v.string(), type: v.literal('function'), function: functionCall }),
  v.looseObject({
    id: v.string(),
    type: v.literal('custom'),
    custom: v.looseObject({ name: v.string(), input: v.string() }),
  }),
]);

const message = v.variant('role', [
  v.looseObject({ role: v.picklist(['system', 'developer', 'user']), content }),
  v.looseObject({
    role: v.literal('assistant'),
    content: v.nullish(content),
    refusal: v.nullish(v.string()),
    tool_calls: v.nullish(v.array(toolCall)),
    function_call: v.nullish(functionCall),
  }),
  v.looseObject({ role: v.literal('tool'), content, tool_call_id: v.string() }),
  v.looseObject({ role: v.literal('function'), content: v.nullish(v.string()), name: v.string() }),
]);

const declaration = v.looseObject({
  name: v.pipe(v.string(), v.minLength(1), maxCharacters(256)),
  description: v.nullish(v.string()),
  parameters: v.nullish(v.record(v.string(), v.unknown())),
  strict: v.nullish(v.boolean()),
});

const customDeclaration = v.looseObject({
  ...declaration.entries,
  format: v.nullish(v.looseObject({})),
});

const named = v.nullish(v.looseObject({ name: v.string() }));

const tool = v.looseObject({
  type: v.pipe(
    v.string(),
    v.description(
      '`function` or `custom`; other types are tools that only providers of this format know. A ' +
        'custom tool is a function of one text, `input`, to models of providers that have no ' +
        'custom tools; its calls come back with the bare text',
    ),
  ),
  function: v.nullish(declaration),
  custom: v.nullish(customDeclaration),
});

const toolChoice = v.union([
  v.picklist(['auto', 'none', 'required']),
  v.looseObject({
    type: v.picklist(['function', 'custom', 'allowed_tools']),
    function: named,
    custom: named,
    allowed_tools: v.nullish(
      v.looseObject({
        mode: v.nullish(v.string()),
        tools: v.array(v.looseObject({ function: named, custom: named })),
      }),
    ),
  }),
]);

const penalty = v.nullish(v.pipe(v.number(), v.minValue(-2), v.maxValue(2)));
export const chatRequestSchema = v.looseObject({
  ...sharedFields,
  messages: v.pipe(v.array(message), v.minLength(1), v.maxLength(10_000)),
  stream_options: v.nullish(
    v.looseObject({
      include_usage: v.nullish(v.boolean()),
      include_obfuscation: v.nullish(v.boolean()),
    }),
  ),
  temperature: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
  top_p: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  presence_penalty: penalty,
  frequency_penalty: penalty,
  stop: v.nullish(v.union([v.string(), v.pipe(v.array(v.string()), v.maxLength(64))])),
  seed: v.nullish(v.pipe(v.number(), v.integer())),
  logprobs: v.nullish(v.boolean()),
  top_logprobs: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20))),
  modalities: v.nullish(v.array(v.string())),
  tools: v.nullish(v.pipe(v.array(tool), v.maxLength(512))),
  tool_choice: v.nullish(toolChoice),
  functions: v.nullish(
    v.pipe(
      v.array(declaration),
      v.maxLength(512),
      v.description(
        'The deprecated form of `tools`, read where `tools` is not given. The answer then has at ' +
          'most one call, as `function_call`.',
      ),
    ),
  ),
  function_call: v.nullish(
    v.union([v.picklist(['auto', 'none']), v.looseObject({ name: v.string() })]),
  ),
  parallel_tool_calls: v.nullish(v.boolean()),
  reasoning_effort: v.nullish(v.pipe(v.string(), maxCharacters(40))),
});

/** The parts that have a neutral form, by type. */
export interface KnownParts {
  text: v.InferOutput<typeof textPart>;
  image_url: v.InferOutput<typeof imagePart>;
  file: v.InferOutput<typeof filePart>;
  refusal: v.InferOutput<typeof refusalPart>;
}
export type ChatRequestBody = v.InferOutput<typeof chatRequestSchema>;

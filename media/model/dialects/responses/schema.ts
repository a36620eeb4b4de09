// The body of POST /v1/responses: the fields of 2.9 and the official client's superset. Open at the
// top (unknown members are forwarded); items and tools are read by `input.ts` and `request.ts`,
// which can name what is wrong with one.
import * as v from 'valibot';
import { maxCharacters } from '../../../../runtime/http/text.ts';
import { sharedFields } from '../fields.ts';

const item = v.looseObject({
  type: v.optional(
    v.nullable(
      v.pipe(
        v.string(),
        v.description(
          'message (also when left out), function_call, custom_tool_call, their outputs, ' +
            'reasoning or a native item. The tools of additional_tools are declared to any model ' +
            'like those of `tools`. Other native items reach models of the same format alone: ' +
            'for others the traces of tools that the provider ran itself, such as ' +
            'web_search_call, are left out, and any other is refused by its path',
        ),
      ),
    ),
  ),
});

export const inputSchema = v.union([v.string(), v.pipe(v.array(item), v.maxLength(10_000))]);

/** Of the shared fields of 2.9, for callers that have no `input`. */
export const insteadOfInput = 'In place of `input`: one of both is needed.';

const tool = v.looseObject({
  type: v.pipe(
    v.string(),
    v.description(
      '`function`, `custom`, or a native tool of models that have it, such as `web_search`. A ' +
        'custom tool is a function of one text, `input`, to models of providers that have no ' +
        'custom tools; its calls come back as custom_tool_call with the bare text',
    ),
  ),
  name: v.nullish(v.pipe(v.string(), v.minLength(1), maxCharacters(256))),
  description: v.nullish(v.string()),
  parameters: v.nullish(v.record(v.string(), v.unknown())),
  strict: v.nullish(v.boolean()),
});
export const toolsSchema = v.nullish(v.pipe(v.array(tool), v.maxLength(512)));

export const toolChoiceSchema = v.nullish(
  v.union([
    v.picklist(['auto', 'none', 'required']),
    v.looseObject({
      type: v.string(),
      name: v.nullish(v.string()),
      namespace: v.nullish(v.string()),
      mode: v.nullish(v.string()),
      tools: v.nullish(v.array(v.looseObject({}))),
    }),
  ]),
);

const penalty = v.nullish(v.pipe(v.number(), v.minValue(-2), v.maxValue(2)));
const shortText = v.nullish(v.pipe(v.string(), maxCharacters(512)));

export const responsesRequestSchema = v.looseObject({
  ...sharedFields,
  input: v.nullish(inputSchema),
  messages: v.nullish(v.pipe(v.array(item), v.maxLength(10_000), v.description(insteadOfInput))),
  tools: toolsSchema,
  tool_choice: toolChoiceSchema,
  parallel_tool_calls: v.nullish(v.boolean()),
  temperature: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
  top_p: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  presence_penalty: penalty,
  frequency_penalty: penalty,
  top_logprobs: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20))),
  max_tool_calls: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
  reasoning: v.nullish(
    v.looseObject({
      effort: v.nullish(v.pipe(v.string(), maxCharacters(40))),
      summary: v.nullish(v.pipe(v.string(), maxCharacters(40))),
    }),
  ),
  include: v.nullish(v.array(v.string())),
  previous_response_id: v.nullish(v.string()),
  background: v.nullish(v.boolean()),
  store: v.nullish(v.boolean()),
  truncation: v.nullish(v.picklist(['auto', 'disabled'])),
  stream_options: v.nullish(v.looseObject({ include_obfuscation: v.nullish(v.boolean()) })),
  user: shortText,
  prompt_cache_key: shortText,
  safety_identifier: shortText,
});

export type ResponsesRequestBody = v.InferOutput<typeof responsesRequestSchema>;

/** The `tool_choice` of a request. */
export type DeclaredChoice = NonNullable<ResponsesRequestBody['tool_choice']> | null;
/** One of its `tools`. */
export type DeclaredTool = NonNullable<ResponsesRequestBody['tools']>[number];

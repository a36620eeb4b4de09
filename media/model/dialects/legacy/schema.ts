// The body of POST /api/v1/llm/responses: the shared fields of 2.9, with input or messages.
import * as v from 'valibot';
import { maxCharacters } from '../../../../runtime/http/text.ts';
import { sharedFields } from '../fields.ts';
import { inputSchema, insteadOfInput, toolChoiceSchema } from '../responses/schema.ts';

const name = v.pipe(v.string(), v.minLength(1), maxCharacters(256));
const declaration = {
  description: v.nullish(v.string()),
  parameters: v.nullish(v.record(v.string(), v.unknown())),
  strict: v.nullish(v.boolean()),
};
const tool = v.looseObject({
  type: v.string(),
  name: v.nullish(name),
  ...declaration,
  function: v.nullish(v.looseObject({ name, ...declaration })),
});
const message = v.looseObject({
  role: v.picklist(['system', 'user', 'assistant']),
  content: v.string(),
});

export const legacyRequestSchema = v.looseObject({
  ...sharedFields,
  input: v.nullish(inputSchema),
  messages: v.nullish(
    v.pipe(v.array(message), v.minLength(1), v.maxLength(10_000), v.description(insteadOfInput)),
  ),
  tools: v.nullish(v.pipe(v.array(tool), v.maxLength(512))),
  tool_choice: toolChoiceSchema,
  temperature: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
  top_p: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
});

export type LegacyRequestBody = v.InferOutput<typeof legacyRequestSchema>;

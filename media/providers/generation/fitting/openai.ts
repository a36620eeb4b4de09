// What both formats of OpenAI take alike: schemas that its own check of functions compiles, or the
// grammars of the servers that speak its formats.
import type { GenerationRequest } from '../../../model/request.ts';
import { drawsByItself } from '../openai-chat/model.ts';
import type { SchemaRules } from './rules.ts';
import { type Drawn, type SamplingMember, withoutSampling } from './sampling.ts';
import { loosened } from './strict.ts';
import { withSchemas } from './tools.ts';

const rules = {
  vendor: { patterns: 'python', needsItems: true, isSubset: false },
  strict: { patterns: 'strict', needsItems: true, isSubset: false },
  other: { patterns: 'grammar', needsItems: true, isSubset: false },
} as const satisfies Record<string, SchemaRules>;

/** The request of a client of another format. */
export function withOpenaiSchemas(
  request: GenerationRequest,
  isVendor: boolean,
): GenerationRequest {
  const fitted = withSchemas(request, (isStrict) =>
    isVendor ? rules[isStrict ? 'strict' : 'vendor'] : rules.other,
  );
  return fitted !== request || request.source.format === 'messages' ? loosened(fitted) : fitted;
}

const sampling: readonly SamplingMember[] = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
];

/** Without what a model that reasons does not take. */
export function drawnByModel(request: GenerationRequest, model: string): Drawn {
  const isItsOwn = drawsByItself(model, request.reasoning?.effort ?? null);
  return withoutSampling(request, isItsOwn ? sampling : []);
}

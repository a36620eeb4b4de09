// The tools and the format of a request with schemas as a provider takes them.
import type { FunctionTool, GenerationRequest, OutputFormat } from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import { Allowance } from './allowance.ts';
import type { SchemaRules } from './rules.ts';
import { fitParameters, fitSchema } from './schemas.ts';

export type FitParameters = (schema: Members, isStrict: boolean, allowance: Allowance) => Members;

/** The request with other parameters, where any of them has to be another. */
export function withParameters(request: GenerationRequest, fit: FitParameters): GenerationRequest {
  const { tools } = request;
  let copy: FunctionTool[] | null = null;
  const allowance = new Allowance(tools);
  for (const [index, tool] of tools.entries()) {
    const { parameters, strict } = tool;
    if (parameters === null) continue;
    const fitted = fit(parameters, strict === true, allowance);
    if (fitted === parameters) continue;
    copy ??= [...tools];
    copy[index] = { ...tool, parameters: fitted };
  }
  return copy === null ? request : { ...request, tools: copy };
}

/** The request with the schema of its answer as the rules want it. */
export function withFormat(
  request: GenerationRequest,
  rulesOf: (isStrict: boolean) => SchemaRules,
): GenerationRequest {
  const { outputFormat: format } = request;
  if (format.type !== 'json_schema') return request;
  const schema = fitSchema(format.schema, rulesOf(format.strict));
  if (schema === format.schema) return request;
  const outputFormat: OutputFormat = { ...format, schema };
  return { ...request, outputFormat };
}

/** Both, by the same rules. */
export function withSchemas(
  request: GenerationRequest,
  rulesOf: (isStrict: boolean) => SchemaRules,
): GenerationRequest {
  const told = withParameters(request, (schema, isStrict, allowance) =>
    fitParameters(schema, rulesOf(isStrict), allowance),
  );
  return withFormat(told, rulesOf);
}

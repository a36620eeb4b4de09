// The format of an answer whose JSON Schema is too heavy to be compiled where the request is read.
import type { GenerationRequest } from '../../../media/model/request.ts';
import { isHeavyFormat, uncompiled } from '../../../media/model/structured.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import { Problem } from '../../../runtime/problem.ts';
import { checkSchema } from '../../tasks/format.ts';
import type { Candidate } from '../spec.ts';
import { isConstrained } from '../structure.ts';
import type { PlanServices, PoolClient } from './services.ts';

/**
 * Compiles it on the pool. Where every provider that may answer keeps to the schema itself, it may
 * have patterns that are not known here.
 * @throws Problem invalid_request, insufficient_credits, overloaded
 */
export async function assertCompiles(
  request: GenerationRequest,
  candidates: readonly Candidate[],
  { accountId, requireFunds }: PoolClient,
  services: Pick<PlanServices, 'tasks' | 'limits'>,
): Promise<void> {
  const { outputFormat, source } = request;
  if (!isHeavyFormat(outputFormat)) return;
  await requireFunds();
  const { taskTimeoutMs } = services.limits.work;
  const verdict = await checkSchema(services.tasks(), accountId, outputFormat, taskTimeoutMs);
  if (verdict === null) throw new Problem('overloaded', { headers: { 'retry-after': '1' } });
  if (verdict === 'pattern' && candidates.every((each) => keepsItself(request, each))) return;
  if (verdict !== true) throw uncompiled(verdict, formatPath(source.body));
}

function keepsItself(request: GenerationRequest, candidate: Candidate): boolean {
  return isConstrained(requireFamily(candidate.target.family), request, candidate);
}

/** The member that the schema was read from, in the order in which formats read theirs. */
function formatPath(body: Record<string, unknown>): string {
  if (body.response_format != null) return 'response_format.json_schema.schema';
  const { format } = (body.text ?? {}) as { format?: unknown };
  if (format != null) return 'text.format.schema';
  const { format: current } = (body.output_config ?? {}) as { format?: unknown };
  return current != null ? 'output_config.format.schema' : 'output_format.schema';
}

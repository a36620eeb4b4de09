// Hosted tools pass only at a price: what a provider runs and bills must be somebody's to pay.
import { type HostedTool, searchType } from '../../../media/model/hosted-tools.ts';
import type { RequestControls, WireFormat } from '../../../media/model/request.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import type { Problem } from '../../../runtime/problem.ts';
import type { CatalogModel } from '../../catalog/model.ts';

/**
 * The first tool that a provider of this format would be told of and the model has no price for;
 * null: there is none. Providers of another format are not told of it.
 */
export function unpricedFor(
  hosted: readonly HostedTool[],
  { hostedTools }: Pick<CatalogModel, 'hostedTools'>,
  format: WireFormat | null,
): HostedTool | null {
  return hosted.find((tool) => tool.format === format && !hostedTools.includes(tool.type)) ?? null;
}

/**
 * Searches that a request forbids were taken out where its tools stand. Those in its input, or in a
 * group of tools, would be charged all the same.
 * @throws Problem invalid_request at the first of them
 */
export function refuseForbiddenSearch(
  hosted: readonly HostedTool[],
  { webSearch }: Pick<RequestControls, 'webSearch'>,
): void {
  if (webSearch !== false) return;
  const search = hosted.find(({ type }) => type === searchType);
  if (search === undefined) return;
  throw fieldProblem(search.path, 'A web search cannot be both declared and forbidden.');
}

/** 400 at the place where the tool is declared. */
export function unpricedProblem({ type, path }: HostedTool): Problem {
  return fieldProblem(path, `The tool '${type}' is not available with this model.`);
}

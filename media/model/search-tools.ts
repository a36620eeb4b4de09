// `web_search: false` forbids every search, also those that a client declares for a provider:
// agents declare them with every request, so they are taken out rather than refused.
import { fieldProblem } from '../../runtime/http/validate.ts';
import type { GenerationRequest } from './request.ts';

type Members = Record<string, unknown>;

/** Whether a declaration is of a provider's own web search, of whatever version. */
export function isSearchTool({ type }: Members): boolean {
  return typeof type === 'string' && /^web_search(_|$)/.test(type);
}

/**
 * The request without the searches that it forbids.
 * @throws Problem invalid_request when one is forbidden and chosen
 */
export function withoutForbiddenSearch(request: GenerationRequest): GenerationRequest {
  if (request.controls.webSearch !== false) return request;
  const { web_search_options: _options, ...body } = request.source.body;
  const declared = Array.isArray(body.tools) ? (body.tools as Members[]) : [];
  const searches = declared.filter(isSearchTool);
  if (searches.length > 0) {
    const isLast = searches.length === declared.length;
    refuseChosen(body.tool_choice, searches, isLast && request.toolChoice === 'required');
    body.tools = declared.filter((tool) => !isSearchTool(tool));
    if (isLast) {
      delete body.tools;
      delete body.tool_choice;
    }
  }
  return {
    ...request,
    nativeTools: request.nativeTools.filter(({ value }) => !isSearchTool(value)),
    source: { ...request.source, body },
  };
}

/** A choice names a tool by its type or its name, or lists several. */
function refuseChosen(choice: unknown, searches: readonly Members[], isForced: boolean): void {
  const { tools } = Object(choice) as Members;
  const named: Members[] = [choice, ...(Array.isArray(tools) ? tools : [])].map(Object);
  const isChosen = searches.some(({ type, name }) =>
    named.some((one) => one.type === type || (typeof name === 'string' && one.name === name)),
  );
  if (!isForced && !isChosen) return;
  throw fieldProblem('tool_choice', 'A web search cannot be both chosen and forbidden.');
}

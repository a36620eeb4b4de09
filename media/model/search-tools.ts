// `web_search: false` forbids every search, also those that a client declares for a provider:
// agents declare them with every request, so they are taken out rather than refused.
import { fieldProblem } from '../../runtime/http/validate.ts';
import type { Answer } from './answer.ts';
import type { GenerationRequest } from './request.ts';

type Members = Record<string, unknown>;

/** Whether a declaration is of a provider's own web search, of whatever version. */
export function isSearchTool({ type }: Members): boolean {
  return typeof type === 'string' && /^web_search(_|$)/.test(type);
}

/**
 * The searches that a provider made for an answer, as far as it was told: what is charged where
 * the provider's own count did not come. Opening a found page is none, nor is one that failed.
 */
export function searchesIn({ items }: Answer): number {
  return items.filter((item) => item.type === 'native' && isSearchMade(item.value)).length;
}

function isSearchMade({ type, action, content, status }: Members): boolean {
  if (type === 'web_search_tool_result') return Array.isArray(content);
  if (type !== 'web_search_call' || status === 'in_progress' || status === 'searching')
    return false;
  const done = Object(action) as Members;
  return done.type === undefined || done.type === 'search';
}

/**
 * Whether the Chat format's own members ask for a search: its vendor's usage does not count what
 * it charges for, one search an answer.
 */
export function asksChatSearch({ source }: Pick<GenerationRequest, 'source'>): boolean {
  const { web_search_options: options } = source.body;
  return source.format === 'chat' && typeof options === 'object' && options !== null;
}

/** Whether the answer shows that it was searched for. */
export function isCited({ items, extra }: Answer): boolean {
  const { annotations } = extra.delta;
  // Of Chat, what came behind a call stands beside the text.
  const beside: unknown[] = Array.isArray(annotations) ? annotations : [];
  return (
    beside.some((annotation) => Object(annotation).type === 'url_citation') ||
    items.some((item) => item.type === 'text' && item.citations.length > 0)
  );
}

/** Of one that is offered without a bound: what the service itself allows a provider. */
export const searchesMax = 5;

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

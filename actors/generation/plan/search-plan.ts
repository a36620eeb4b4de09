// Whether a request is answered with a web search, and what is searched for.
import { asksForNews } from '../../../media/model/choose/news.ts';
import { searchType } from '../../../media/model/hosted-tools.ts';
import type { GenerationRequest, Message } from '../../../media/model/request.ts';
import type {
  ProviderFamily,
  UpstreamTarget,
} from '../../../media/providers/generation/contract.ts';
import { endOfText } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import type { CatalogModel } from '../../catalog/model.ts';
import type { CatalogSurface } from '../../catalog/surface.ts';
import type { SearchPlan } from '../spec.ts';

const queryCharactersMax = 300;

/**
 * Null: no search. An exact model searches when it is asked to. With `mayDecide` (managed routes,
 * and where the service stands in for a provider's search) also where a search provider is
 * configured and the last turn asks for what changes by the day.
 * @throws Problem invalid_request when it is required and forbidden
 */
export function planSearch(
  request: GenerationRequest,
  web: { search: CatalogSurface | null },
  mayDecide: boolean,
): SearchPlan | null {
  const { webSearch, requireWebSearch } = request.controls;
  if (webSearch === false) {
    if (requireWebSearch) {
      const message = 'A web search cannot be both required and forbidden.';
      throw fieldProblem('metadata.require_web_search', message);
    }
    return null;
  }
  const { messages } = request;
  const isTurn = messages.at(-1)?.role === 'user';
  const text = textOf(messages.findLast((message) => message.role === 'user'));
  const decides = mayDecide && web.search !== null && isTurn && asksForNews(text);
  if (webSearch !== true && !requireWebSearch && !decides) return null;
  // A tool's result comes last: the question was searched for when it was asked, unless an answer
  // without a search is not wanted. A model with a search of its own may always go on.
  const query = isTurn || requireWebSearch ? queryOf(text) : null;
  return { required: requireWebSearch, query, target: query === null ? null : web.search };
}

/** Whether one of the candidates must have a search of its own. */
export function mustSearchNatively(search: SearchPlan | null): boolean {
  if (search === null || search.target !== null) return false;
  return search.required || search.query !== null;
}

type SearchMember = 'capabilities' | 'hostedTools' | 'targets';

/**
 * Whether this route of the model has a search of its own. A Chat server refuses to be asked where
 * it does not search, and that the model does may be said of its other routes: where there are
 * any, it is not asked, nor where ours is made.
 */
export function hasOwnSearch(
  request: GenerationRequest,
  search: SearchPlan | null,
  { capabilities, hostedTools, targets }: Pick<CatalogModel, SearchMember>,
  target: UpstreamTarget,
  familyOf: (name: string) => ProviderFamily,
): boolean {
  const family = familyOf(target.family);
  if (!capabilities.includes('web_search') || !family.searches(request)) return false;
  // Without a price nobody would pay for it.
  if (!hostedTools.includes(searchType)) return false;
  if (family.format !== 'chat') return true;
  return mustSearchNatively(search) && targets.every((one) => familyOf(one.family) === family);
}

/**
 * The Chat format's own way to ask for a search, read as the shared member: no other format has it,
 * and servers of this one refuse it where a model does not search.
 */
export function withSharedSearch(request: GenerationRequest): GenerationRequest {
  const { controls, source } = request;
  const { web_search_options: _options, ...body } = source.body;
  return {
    ...request,
    controls: { ...controls, webSearch: controls.webSearch ?? true },
    source: { ...source, body },
  };
}

function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}

/** The question, which stands at the end of what was pasted before it. */
function queryOf(text: string): string | null {
  // Bounded before it is searched for spaces: what is pasted may be megabytes.
  const line = endOfText(text, 4 * queryCharactersMax)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= queryCharactersMax) return line === '' ? null : line;
  const end = endOfText(line, queryCharactersMax);
  return end.slice(end.indexOf(' ') + 1);
}

// `item_reference`: an item of a stored response, named by its id instead of sent again. Clients
// that count on the server's memory send the model's turns so.
import { withDeadline } from '../../db/driver/sql.ts';
import { findResponseTexts } from '../../db/responses.ts';
import type { Answer } from '../../media/model/answer.ts';
import { itemPlace } from '../../media/model/dialects/responses/ids.ts';
import { type InputItem, typeOf } from '../../media/model/dialects/responses/input.ts';
import { declaredTools } from '../../media/model/dialects/responses/late-tools.ts';
import { namespacesOf } from '../../media/model/dialects/responses/namespaces.ts';
import { outputItems } from '../../media/model/dialects/responses/output.ts';
import type { ResponsesRequestBody } from '../../media/model/dialects/responses/schema.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { isRetry } from '../generations/funds.ts';
import type { Asker } from './conversation.ts';
import { firstInputPlace } from './items.ts';

const tooOften = 'Items are referred to again and again: each is needed once.';
const nothing: InputItem = { type: 'message', role: 'user', content: [] };

/** Whether megabytes of earlier responses may have to be read for it. */
export function readsStored({ input, previous_response_id }: ResponsesRequestBody): boolean {
  return previous_response_id != null || (Array.isArray(input) && input.some(isReference));
}

/**
 * The body with the items that it refers to; those that are not there stay as they are, but for a
 * retry: it gets the answer that it is a retry of, whatever became of them.
 * @throws Problem invalid_request when they are told too often
 */
export async function withReferences(
  body: ResponsesRequestBody,
  asker: Asker,
): Promise<ResponsesRequestBody> {
  const { services, caller } = asker;
  const { input } = body;
  if (!Array.isArray(input)) return body;
  const places = input.map(placeOf);
  const ids = [...new Set(places.flatMap((place) => (place === null ? [] : [place.requestId])))];
  const { chainTurnsMax, chainBytesMax } = services.limits.generation;
  if (ids.length === 0 || ids.length > chainTurnsMax) return body;
  const texts = await withDeadline(
    findResponseTexts(services.sql, caller.accountId, ids, chainBytesMax),
  );
  const stored = [...texts].map(([requestId, { inputJson, answerJson }]) => {
    return { requestId, answerJson, input: JSON.parse(inputJson) as InputItem[] };
  });
  const said = [...stored.flatMap((response) => response.input), ...input];
  const namespaces = namespacesOf(declaredTools({ body, input: said }));
  const seals = services.seals(caller.accountId);
  const itemsOf = new Map(
    stored.map(({ requestId, answerJson, input: items }) => {
      const answer = answerJson === null ? null : (JSON.parse(answerJson) as Answer);
      const options = { requestId, seals, lastStatus: 'completed', namespaces } as const;
      const output = answer === null ? [] : outputItems(answer, options);
      return [requestId, { input: items, output }] as const;
    }),
  );
  const told = new Set<unknown>();
  // Of what is told again: a megabyte could be ten thousand times.
  const lengths = new Map<unknown, number>();
  let againCharacters = 0;
  const resolved = input.map((item, index) => {
    const place = places[index] ?? null;
    const items = place === null ? undefined : itemsOf.get(place.requestId);
    if (place === null || items === undefined) return item;
    const { outputIndex } = place;
    const found =
      outputIndex < firstInputPlace
        ? items.output[outputIndex]
        : items.input[outputIndex - firstInputPlace];
    // An id with another prefix names nothing.
    const isNamed = found !== undefined && (found.id === undefined || found.id === item.id);
    if (!isNamed) return item;
    if (told.has(found)) {
      const length = lengths.get(found) ?? JSON.stringify(found).length;
      lengths.set(found, length);
      againCharacters += length;
    }
    told.add(found);
    if (againCharacters > chainBytesMax) throw fieldProblem(`input[${index}].id`, tooOften);
    return found as InputItem;
  });
  if (!resolved.some(isReference) || !(await isRetry(asker))) return { ...body, input: resolved };
  return { ...body, input: resolved.map((item) => (isReference(item) ? nothing : item)) };
}

function placeOf(item: InputItem): ReturnType<typeof itemPlace> {
  const isNamed = isReference(item) || isBareReasoning(item);
  return isNamed && typeof item.id === 'string' ? itemPlace(item.id) : null;
}

/** Clients that count on the server's memory send reasoning without what its provider wants. */
function isBareReasoning({ type, encrypted_content: sealed }: InputItem): boolean {
  return type === 'reasoning' && (sealed ?? '') === '';
}

function isReference(item: InputItem): boolean {
  return typeOf(item) === 'item_reference';
}

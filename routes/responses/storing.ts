// Keeps what the client sent beside its generation. The row is written while the hold is on its
// way, and is durable before the client can know its id; one of a refused request is taken back.
import type { MakeSink, Opened } from '../../actors/generation/open.ts';
import { errorFields, withDeadline } from '../../db/driver/sql.ts';
import { discardResponse, insertResponse } from '../../db/responses.ts';
import type { ResponsesRequestBody } from '../../media/model/dialects/responses/schema.ts';
import { jsonInTurns } from '../../runtime/http/json-pieces.ts';
import { nodeOfId } from '../../runtime/ids.ts';
import type { KeyCaller, Services } from '../services.ts';
import { inputItems } from './items.ts';

/** What a request is stored with. */
export interface Storing {
  services: Pick<Services, 'sql' | 'limits' | 'log' | 'generations'>;
  caller: KeyCaller;
  body: ResponsesRequestBody;
  /** The generation of the response that it continues. */
  previousId: string | null;
  /** It is written in turns of the loop of its own. */
  isLong: boolean;
}

type Open = (makeSink: MakeSink) => Promise<Opened>;

/** Opens a generation as `open` does, and stores the request; rejects when that fails. */
export function openStored(storing: Storing, open: Open): Open {
  return async (makeSink) => {
    let row: { id: string; inserted: Promise<void> } | null = null;
    const opened = await open((identity) => {
      // Another look at a running generation that has just ended: the row is its own, and stays.
      if (row?.id === identity.requestId) return makeSink(identity);
      // Another round: the generation before was a duplicate, and never came to be.
      if (row !== null) takeBack(storing, row);
      const inserted = insert(storing, identity.requestId);
      // It is awaited below; until then its failure is nobody's.
      inserted.catch(() => {});
      row = { id: identity.requestId, inserted };
      return makeSink(identity);
    });
    if (row === null) return opened;
    if (isVoid(opened)) takeBack(storing, row);
    else await durable(storing, row, opened);
    return opened;
  };
}

async function insert(
  { services, caller, body, previousId, isLong }: Storing,
  generationId: string,
): Promise<void> {
  const { input: _input, messages: _messages, ...request } = body;
  const items = inputItems(body);
  const row = {
    generationId,
    accountId: caller.accountId,
    previousId,
    background: body.background === true,
    requestJson: JSON.stringify(request),
    inputJson: isLong ? await jsonInTurns(items) : JSON.stringify(items),
    keptMs: services.limits.generation.storedMs,
  };
  return withDeadline(insertResponse(services.sql, row));
}

/** Nothing was delivered and nothing charged: the client gets a status, and no response. */
function isVoid({ opening }: Opened): boolean {
  if (opening.kind !== 'end') return false;
  const { end } = opening;
  if (end.status === 'duplicate') return true;
  return end.status === 'failed' && (end.svcUsage === null || end.svcUsage.source === 'none');
}

/** A response that cannot be stored is not generated either. */
async function durable(
  { services, body }: Storing,
  row: { id: string; inserted: Promise<void> },
  opened: Opened,
): Promise<void> {
  try {
    await row.inserted;
  } catch (error) {
    opened.clientGone();
    if (body.background === true) {
      const { system, generationKind } = services.generations;
      const address = { node: nodeOfId(row.id), kind: generationKind.name, id: row.id };
      system.at(generationKind, address).tell('cancel', null);
    }
    throw error;
  }
}

function takeBack(
  { services }: Storing,
  { id, inserted }: { id: string; inserted: Promise<void> },
): void {
  const discard = () => withDeadline(discardResponse(services.sql, id));
  void inserted.then(discard, discard).catch((error: unknown) => {
    // Nobody can see the row, and the sweep removes it.
    services.log.warn({ ...errorFields(error), generation: id }, 'a void response was left');
  });
}

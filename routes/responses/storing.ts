// Keeps what the client sent beside its generation. The row is written beside the hold of a rich
// wallet, else behind it, and is durable before the client can know its id. One of a refused
// request is taken back.
import type { MakeSink, Opened } from '../../actors/generation/open.ts';
import { errorFields, withDeadline } from '../../db/driver/sql.ts';
import { discardResponse, insertResponse } from '../../db/responses.ts';
import { declaringItems } from '../../media/model/dialects/responses/late-tools.ts';
import type { ResponsesRequestBody } from '../../media/model/dialects/responses/schema.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { isLongRequest } from '../../media/model/tokens.ts';
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
  /** What it was read as, with the turns before. */
  request: GenerationRequest;
}

export type StoreRequest = (requestId: string) => void;

/** A row that is stored, or about to be. */
interface Row {
  id: string;
  inserted: Promise<void>;
}

/**
 * Opens a generation as `open` does, and stores the request when that says so; rejects when the row
 * cannot be written. A generation that was there before has its row.
 */
export function openStored(
  storing: Storing,
  open: (makeSink: MakeSink, storeRequest: StoreRequest) => Promise<Opened>,
): (makeSink: MakeSink) => Promise<Opened> {
  return async (makeSink) => {
    const rows: Row[] = [];
    const store = (id: string): Row => {
      const known = rows.find((row) => row.id === id);
      if (known !== undefined) return known;
      const row = { id, inserted: insert(storing, id) };
      // It is awaited below; until then its failure is nobody's.
      row.inserted.catch(() => {});
      rows.push(row);
      return row;
    };
    const opened = await open(makeSink, store);
    const isStored = !isVoid(opened);
    // The others are of rounds before: their generations were duplicates, and never came to be.
    for (const row of rows) if (!isStored || row.id !== opened.requestId) takeBack(storing, row);
    if (isStored) await durable(storing, store(opened.requestId), opened);
    return opened;
  };
}

async function insert(
  { services, caller, body, previousId, request: whole }: Storing,
  generationId: string,
): Promise<void> {
  const { input: _input, messages: _messages, ...request } = body;
  const items = inputItems(body);
  // Replies name calls as these items do.
  const declaring = declaringItems(whole.source);
  const row = {
    generationId,
    accountId: caller.accountId,
    previousId,
    background: body.background === true,
    requestJson: JSON.stringify(
      declaring.length === 0 ? request : { ...request, input: declaring },
    ),
    inputJson: isLongRequest(whole) ? await jsonInTurns(items) : JSON.stringify(items),
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
async function durable({ services, body }: Storing, row: Row, opened: Opened): Promise<void> {
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

function takeBack({ services }: Storing, { id, inserted }: Row): void {
  const discard = () => withDeadline(discardResponse(services.sql, id));
  void inserted.then(discard, discard).catch((error: unknown) => {
    // Nobody can see the row, and the sweep removes it.
    services.log.warn({ ...errorFields(error), generation: id }, 'a void response was left');
  });
}

// A good reply of a search provider as what was found: read by its family, cleaned, bounded. Of a
// long one each step has a turn of the loop of its own.
import { ownTurn } from '../../../runtime/turns.ts';
import type { FoundOutcome, SearchAsk } from '../../search/contract.ts';
import { boundData } from '../../search/data.ts';
import { itemsOf, relatedOf } from '../../search/items.ts';
import { factsOf } from '../../search/surfaces.ts';
import type { SearchEndpoint, SearchFailure } from './family.ts';
import { type ParsedReply, withoutTexts } from './parsed.ts';

/** More is no page of results. */
const readingsMax = 200;

type Found = Omit<FoundOutcome, 'ignored'>;

export async function foundIn(
  endpoint: SearchEndpoint,
  ask: SearchAsk,
  { value, isLong, host }: ParsedReply,
): Promise<Found | SearchFailure> {
  const next = isLong ? ownTurn : () => undefined;
  await next();
  const reading = endpoint.read(value, ask);
  if (reading.state !== 'read') return reading.state;
  const { related, isPartial, data } = reading;
  const readings = reading.readings.slice(0, readingsMax);
  await next();
  const { items, dropped } = itemsOf(ask, factsOf(ask.surface).kind, readings, Date.now());
  if (items.length === 0) {
    // Results without what makes one are a fault; those that the caller excluded are not there.
    const isFaulty = readings.length > 0 && dropped >= readings.length;
    return isPartial || isFaulty ? 'failed' : 'empty';
  }
  await next();
  if (host !== null) withoutTexts(data, `//${host}`);
  await next();
  const { json, isTruncated } = boundData(data);
  return {
    state: isPartial ? 'partial' : 'found',
    items,
    related: relatedOf(related),
    dataJson: json,
    isTruncated: isTruncated || reading.isCut === true,
  };
}

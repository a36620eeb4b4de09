// What servers of Responses are not known to refuse.
import type { GenerationRequest } from '../../../model/request.ts';
import type { CallOptions, Fitted, UpstreamTarget } from '../contract.ts';
import { ownIds, responsesIds, withIds } from '../fitting/ids.ts';
import { withTypesOfBytes } from '../fitting/media-types.ts';
import { namesFor, openaiNames, withNames } from '../fitting/names.ts';
import { drawnByModel, withOpenaiSchemas } from '../fitting/openai.ts';
import { withSystemAt } from '../fitting/roles.ts';
import { foreignTo } from '../foreign.ts';
import { isVendor } from '../members.ts';

/**
 * The path of what this format has no form for. Stop sequences are watched for here, except where a
 * cut would leave hidden reasoning uncounted: there the vendor refuses them as well.
 */
export function lacks(request: GenerationRequest, reasons = false): string | null {
  const foreign = foreignTo(request, 'responses');
  if (foreign !== null || !reasons || request.sampling.stop.length === 0) return foreign;
  return request.source.format === 'messages' ? 'stop_sequences' : 'stop';
}

export function fit(
  asked: GenerationRequest,
  target: UpstreamTarget,
  { reasons }: Pick<CallOptions, 'reasons'>,
): Fitted | { refused: string } {
  const refused = lacks(asked, reasons);
  if (refused !== null) return { refused };
  const isOwn = asked.source.format === 'responses';
  const isVendors = isVendor('responses', target);
  const placed = withSystemAt(asked, target.quirks?.systemMessages ?? 'in_place');
  const told = withIds(withTypesOfBytes(placed), isOwn && !isVendors ? ownIds : responsesIds);
  const { request, dropped } = drawnByModel(told, target.upstreamModel);
  if (isOwn) return { request, names: null, dropped };
  const names = namesFor(request, openaiNames);
  const named = names === null ? request : withNames(request, names);
  return { request: withOpenaiSchemas(named, isVendors), names, dropped };
}

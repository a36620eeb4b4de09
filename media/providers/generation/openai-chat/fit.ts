// Fits a request to servers of Chat Completions. The vendor checks all that it is sent. What runs
// behind another server is told by the name of the model and by the provider's quirks.
import type { GenerationRequest } from '../../../model/request.ts';
import type { Fitted, UpstreamTarget } from '../contract.ts';
import { chatIds, type IdRule, mistralIds, ownIds, withGivenIds, withIds } from '../fitting/ids.ts';
import { withTypesOfBytes } from '../fitting/media-types.ts';
import { namesFor, openaiNames, withNames } from '../fitting/names.ts';
import { drawnByModel, withOpenaiSchemas } from '../fitting/openai.ts';
import { withoutDeveloper, withSystemAt } from '../fitting/roles.ts';
import { foreignTo } from '../foreign.ts';
import { isVendor } from '../members.ts';
import { serverName } from '../server-name.ts';
import { withFunctions } from './custom-tools.ts';
import { isMistral } from './model.ts';

/** The path of what this format has no form for. */
export function lacks(request: GenerationRequest): string | null {
  return foreignTo(request, 'chat');
}

export function fit(
  asked: GenerationRequest,
  target: UpstreamTarget,
): Fitted | { refused: string } {
  const refused = lacks(asked);
  if (refused !== null) return { refused };
  const { upstreamModel, quirks } = target;
  const isOwn = asked.source.format === 'chat';
  const isVendors = isVendor('chat', target);
  const called = (quirks?.customTools ?? isVendors) ? asked : withFunctions(asked);
  const ofMistral = isMistral(upstreamModel);
  // Behind its own words and results it takes no instruction.
  const placed = withSystemAt(
    called,
    quirks?.systemMessages ?? (ofMistral ? 'as_user' : 'in_place'),
  );
  const typed = withTypesOfBytes(placed);
  const rule = ofMistral ? mistralIds : idsAt(isOwn, isVendors);
  const told = withIds(typed, withGivenIds(rule, typed, serverName(target)));
  const { request, dropped } = drawnByModel(told, upstreamModel);
  if (isOwn) {
    return { request: isVendors ? request : withoutDeveloper(request), names: null, dropped };
  }
  const names = namesFor(request, openaiNames);
  const named = names === null ? request : withNames(request, names);
  return { request: withOpenaiSchemas(named, isVendors), names, dropped };
}

/** Other servers than the vendor are given back what they gave. */
function idsAt(isOwn: boolean, isVendors: boolean): IdRule {
  return isOwn && !isVendors ? ownIds : chatIds;
}

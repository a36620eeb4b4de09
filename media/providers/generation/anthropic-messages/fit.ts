// What servers of Messages are not known to refuse.
import type { GenerationRequest } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { Fitted, UpstreamTarget } from '../contract.ts';
import { messagesIds, ownIds, withIds } from '../fitting/ids.ts';
import { withTypesOfBytes } from '../fitting/media-types.ts';
import { messagesNames, namesFor, withNames } from '../fitting/names.ts';
import { withSystemAt } from '../fitting/roles.ts';
import type { SchemaRules } from '../fitting/rules.ts';
import { type SamplingMember, withoutSampling } from '../fitting/sampling.ts';
import { fitParameters } from '../fitting/schemas.ts';
import { withParameters } from '../fitting/tools.ts';
import { foreignTo } from '../foreign.ts';
import { isVendor } from '../members.ts';
import { scoresPath } from '../told.ts';
import { drawsByOneKnob, takesEffortAlone } from './model.ts';

/** The path of what this format has no form for. */
export function lacks(request: GenerationRequest): string | null {
  return scoresPath(request) ?? foreignTo(request, 'messages');
}

export function fit(
  asked: GenerationRequest,
  target: UpstreamTarget,
): Fitted | { refused: string } {
  const refused = lacks(asked);
  if (refused !== null) return { refused };
  const isOwn = asked.source.format === 'messages';
  const isVendors = isVendor('messages', target);
  const placed = withSystemAt(asked, target.quirks?.systemMessages ?? 'in_place');
  const told = withIds(withTypesOfBytes(placed), isOwn && !isVendors ? ownIds : messagesIds);
  const { request, dropped } = withoutSampling(told, refusedBy(target.upstreamModel, told));
  if (isOwn) return { request, names: null, dropped };
  const names = namesFor(request, messagesNames);
  const named = names === null ? request : withNames(request, names);
  const rules = isVendors ? vendorRules : otherRules;
  const fitted = withParameters(named, (schema) => withPlainNames(fitParameters(schema, rules)));
  return { request: fitted, names, dropped };
}

const none: readonly SamplingMember[] = [];

/** What the model does not let itself be told, by its name. */
function refusedBy(model: string, { sampling }: GenerationRequest): readonly SamplingMember[] {
  if (takesEffortAlone(model)) return ['temperature', 'top_p', 'top_k'];
  return drawsByOneKnob(model) && sampling.temperature !== null ? ['top_p'] : none;
}

const vendorRules: SchemaRules = { patterns: 'ecma', needsItems: false, isSubset: false };
const otherRules: SchemaRules = { patterns: 'grammar', needsItems: false, isSubset: false };

const nameLengthMax = 64;

/** Leaves out arguments with names that the provider refuses (`^[a-zA-Z0-9_.-]{1,64}$`). */
function withPlainNames(schema: Members): Members {
  const { properties, required } = schema;
  if (!isMembers(properties)) return schema;
  let isWhole = true;
  for (const name in properties) isWhole &&= isPlainName(name);
  if (isWhole) return schema;
  const kept = Object.entries(properties).filter(([name]) => isPlainName(name));
  const told: Members = { ...schema, properties: Object.fromEntries(kept) };
  if (Array.isArray(required)) told.required = required.filter(isPlainName);
  return told;
}

/** 1 for the code of each that is taken: a pattern takes longer, and names come in thousands. */
const takenCodes = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-zA-Z0-9_.-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

function isPlainName(name: unknown): boolean {
  if (typeof name !== 'string' || name === '' || name.length > nameLengthMax) return false;
  for (let index = 0; index < name.length; index += 1) {
    if (takenCodes[name.charCodeAt(index)] !== 1) return false;
  }
  return true;
}

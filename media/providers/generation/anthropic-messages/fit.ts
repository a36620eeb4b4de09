// What servers of Messages are not known to refuse.
import type { GenerationRequest } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { CallOptions, Fitted, UpstreamTarget } from '../contract.ts';
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
import { choiceOf } from './settings.ts';
import { thinkingIn } from './thinking.ts';
import { encodeConversation } from './translate.ts';

/** The path of what this format has no form for. */
export function lacks(request: GenerationRequest): string | null {
  return scoresPath(request) ?? foreignTo(request, 'messages');
}

export function fit(
  asked: GenerationRequest,
  target: UpstreamTarget,
  options: Partial<CallOptions>,
): Fitted | { refused: string } {
  const refused = lacks(asked);
  if (refused !== null) return { refused };
  const isOwn = asked.source.format === 'messages';
  const isVendors = isVendor('messages', target);
  const placed = withSystemAt(asked, target.quirks?.systemMessages ?? 'in_place');
  const told = withIds(withTypesOfBytes(placed), isOwn && !isVendors ? ownIds : messagesIds);
  const { upstreamModel } = target;
  const isFixed = takesEffortAlone(upstreamModel) || thinks(told, upstreamModel, options);
  const left = isFixed ? chosen : besideTemperature(told, upstreamModel);
  const { request, dropped } = withoutSampling(told, left);
  if (isOwn) return { request, names: null, dropped };
  const names = namesFor(request, messagesNames);
  const named = names === null ? request : withNames(request, names);
  const rules = isVendors ? vendorRules : otherRules;
  const fitted = withParameters(named, (schema, _isStrict, allowance) =>
    withPlainNames(fitParameters(schema, rules, allowance)),
  );
  return { request: fitted, names, dropped };
}

const none: readonly SamplingMember[] = [];

/** What cannot be chosen while a model thinks, nor ever with newer ones. */
const chosen: readonly SamplingMember[] = ['temperature', 'top_p', 'top_k'];

/** Whether the model will think for a client of another format, as far as that matters. */
function thinks(
  request: GenerationRequest,
  model: string,
  { outputTokensMax = 0, reasons = false }: Partial<CallOptions>,
): boolean {
  const { sampling, reasoning, source, messages } = request;
  const isChosen = [sampling.temperature, sampling.topP, sampling.topK].some((one) => one !== null);
  if (!reasons || !isChosen || reasoning === null || source.format === 'messages') return false;
  const turns = encodeConversation(messages).messages;
  const options = { outputTokensMax, reasons };
  const choice = request.tools.length > 0 ? choiceOf(request) : null;
  return thinkingIn(request, turns, choice, options, model) !== null;
}

/** What the model does not let itself be told beside a temperature, by its name. */
function besideTemperature(
  { sampling }: GenerationRequest,
  model: string,
): readonly SamplingMember[] {
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

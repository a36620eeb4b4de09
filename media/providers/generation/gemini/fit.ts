// What the Gemini API is not known to refuse.
import type { GenerationRequest } from '../../../model/request.ts';
import type { Fitted, UpstreamTarget } from '../contract.ts';
import { withTypesOfBytes } from '../fitting/media-types.ts';
import { geminiNames, namesFor, withNames } from '../fitting/names.ts';
import type { SchemaRules } from '../fitting/rules.ts';
import { withoutSampling } from '../fitting/sampling.ts';
import { withSchemas } from '../fitting/tools.ts';
import { asksToCompact, untoldPath } from '../foreign.ts';
import { scoresPath } from '../told.ts';
import { takesNoPenalties, tellsScores } from './model.ts';
import { isExpressible } from './parts.ts';

/** The path of what this format has no form for. */
export function lacks(
  request: GenerationRequest,
  _reasons?: boolean,
  target?: Pick<UpstreamTarget, 'baseUrl' | 'upstreamModel'>,
): string | null {
  const isNeeded = request.nativeTools.some(({ isOptional }) => isOptional !== true);
  if (isNeeded) return 'tools';
  if (asksToCompact(request)) return 'compaction';
  const unscored = target !== undefined && tellsScores(target) ? null : scoresPath(request);
  return unscored ?? untoldPath(request, isExpressible);
}

const rules: SchemaRules = { patterns: 're2', needsItems: true, isSubset: true };

/** Ids are not looked at here: what travels in them is read by the encoder. */
export function fit(
  asked: GenerationRequest,
  target: UpstreamTarget,
): Fitted | { refused: string } {
  const refused = lacks(asked, undefined, target);
  if (refused !== null) return { refused };
  const typed = withTypesOfBytes(asked);
  const hasNone = takesNoPenalties(target.upstreamModel);
  const penalties = hasNone ? (['presence_penalty', 'frequency_penalty'] as const) : [];
  const { request, dropped } = withoutSampling(typed, penalties);
  const names = namesFor(request, geminiNames);
  const named = names === null ? request : withNames(request, names);
  return { request: withSchemas(named, () => rules), names, dropped };
}

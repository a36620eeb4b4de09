// Reads a submission for Veo, and refuses what the developer API would: members of Vertex, lengths
// and ratios that the models do not make.
import { type GeminiError, invalidArgument, unknownModel } from '../gemini/failure.ts';
import { isMembers, type Members, membersOf } from '../members.ts';
import { parseVideoDirective } from '../video/directive.ts';
import type { VideoAsked } from '../video/jobs.ts';
import { shortSideOf, sizeOf } from '../video/size.ts';

/** Ids with another name and length than any public alias. */
export const veoModels: readonly string[] = [
  'sim-veo-2026-preview',
  'sim-veo-2026-fast-preview',
  'sim-veo-2026-lite-preview',
];

const parameterNames = new Set([
  ...['sampleCount', 'durationSeconds', 'aspectRatio', 'resolution', 'personGeneration'],
  ...['negativePrompt', 'enhancePrompt'],
]);
const ratios = ['16:9', '9:16'];
const resolutions = ['720p', '1080p'];

export function readVeoRequest(
  body: unknown,
  model: string,
  idempotencyKey: string,
): VideoAsked | { error: GeminiError } {
  if (!veoModels.includes(model)) return { error: unknownModel(model, 'predictLongRunning') };
  const instance = isMembers(body) ? membersOf(body.instances)[0] : undefined;
  const prompt = instance?.prompt;
  if (typeof prompt !== 'string' || prompt === '') {
    return { error: invalidArgument('The prompt is required.') };
  }
  const parameters = isMembers(body) && isMembers(body.parameters) ? body.parameters : {};
  const fault = parameterFault(parameters);
  if (fault !== null) return { error: invalidArgument(fault) };
  const { durationSeconds = 8, aspectRatio = '16:9', resolution = '720p' } = parameters;
  const size = sizeOf(String(aspectRatio), shortSideOf(String(resolution)) ?? 720);
  if (size === null) return { error: invalidArgument('Unsupported aspect ratio.') };
  const clip = { ...size, seconds: Number(durationSeconds), sound: true };
  const directive = parseVideoDirective(prompt);
  return { family: 'veo', model, prompt, clip, directive, idempotencyKey };
}

function parameterFault(parameters: Members): string | null {
  const foreign = Object.keys(parameters).find((name) => !parameterNames.has(name));
  if (foreign !== undefined) return `\`${foreign}\` isn't supported by this model.`;
  const { durationSeconds = 8, aspectRatio = '16:9', resolution = '720p' } = parameters;
  if (typeof durationSeconds !== 'number') {
    return 'The value type for `durationSeconds` needs to be a number.';
  }
  if (![4, 6, 8].includes(durationSeconds)) return 'durationSeconds must be 4, 6 or 8.';
  if (!ratios.includes(String(aspectRatio))) return 'aspectRatio must be 16:9 or 9:16.';
  if (!resolutions.includes(String(resolution))) return 'resolution must be 720p or 1080p.';
  const isShort = resolution === '1080p' && durationSeconds !== 8;
  return isShort ? '1080p is for durationSeconds 8 only.' : null;
}

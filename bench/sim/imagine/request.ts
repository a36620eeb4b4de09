// Reads a submission for Grok Imagine, and refuses what the provider would.
import { isMembers } from '../members.ts';
import { parseVideoDirective } from '../video/directive.ts';
import type { VideoAsked } from '../video/jobs.ts';
import { shortSideOf, sizeOf } from '../video/size.ts';
import { type ImagineError, invalidArgument, unknownModel } from './failure.ts';

/** Ids with another name and length than any public alias. The second one makes 1080p. */
export const imagineModels: readonly string[] = ['sim-imagine-2026', 'sim-imagine-2026-high'];

const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9'];
const secondsMax = 30;

export function readImagineRequest(
  body: unknown,
  idempotencyKey: string,
): VideoAsked | { error: ImagineError } {
  if (!isMembers(body)) return { error: invalidArgument('The body is no JSON object.') };
  const { model, prompt, duration = 8, aspect_ratio: ratio = '16:9', resolution = '480p' } = body;
  if (typeof model !== 'string') return { error: invalidArgument('Missing field: model.') };
  if (!imagineModels.includes(model)) return { error: unknownModel(model) };
  if (typeof prompt !== 'string' || prompt === '') {
    return { error: invalidArgument('Missing field: prompt.') };
  }
  const seconds = Number(duration);
  if (!Number.isInteger(duration) || seconds < 1 || seconds > secondsMax) {
    return { error: invalidArgument(`duration must be between 1 and ${secondsMax}.`) };
  }
  const isLarge = resolution === '1080p' && model === imagineModels[1];
  if (resolution !== '480p' && resolution !== '720p' && !isLarge) {
    return { error: invalidArgument(`resolution ${String(resolution)} is not supported.`) };
  }
  const size = sizeOf(String(ratio), shortSideOf(resolution) ?? 480);
  if (!ratios.includes(String(ratio)) || size === null) {
    return { error: invalidArgument(`aspect_ratio ${String(ratio)} is not supported.`) };
  }
  const clip = { ...size, seconds, sound: body.generate_audio !== false };
  const directive = parseVideoDirective(prompt);
  return { family: 'imagine', model, prompt, clip, directive, idempotencyKey };
}

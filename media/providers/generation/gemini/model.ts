// What the name of a model tells about it. The API has no other way to ask which of two members for
// the same thing a generation of models understands.
import type { UpstreamTarget } from '../contract.ts';

/** Generation number in a name such as `gemini-2.5-flash`; null: another name, take the newest. */
export function generationOf(model: string): number | null {
  const found = /(?:^|\/)gemini-(\d+)/.exec(model);
  return found === null ? null : Number(found[1]);
}

/** Refuses penalties: since 2.5 models do. */
export function takesNoPenalties(model: string): boolean {
  const [found, major, minor = '0'] = /(?:^|\/)gemini-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  if (found === undefined) return false;
  return Number(major) > 2 || (major === '2' && Number(minor) >= 5);
}

/** The vendor's cloud, where more is switched on than at the API for everybody. */
const cloud = /^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com\//;

/** Whether the model tells logprobs: others refuse to be asked. */
export function tellsScores({
  baseUrl,
  upstreamModel,
}: Pick<UpstreamTarget, 'baseUrl' | 'upstreamModel'>): boolean {
  return (cloud.test(baseUrl) ? inCloud : anywhere).test(upstreamModel);
}

const anywhere = /(?:^|\/)gemini-2\.0/;
const inCloud = /(?:^|\/)gemini-2\.[05]/;

/** The resource name of a model, as in `models/gemini-2.5-flash`. */
export function resourceName(model: string): string {
  return /^(models|tunedModels)\//.test(model) ? model : `models/${model}`;
}

/** Its path below the base URL. */
export function modelPath(model: string): string {
  return resourceName(model).split('/').map(encodeURIComponent).join('/');
}

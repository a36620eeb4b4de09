// What the name of a model tells about it: the API has no other way to ask which of two members for
// the same thing a generation of models understands.

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

/** The resource name of a model, as in `models/gemini-2.5-flash`. */
export function resourceName(model: string): string {
  return /^(models|tunedModels)\//.test(model) ? model : `models/${model}`;
}

/** Its path below the base URL. */
export function modelPath(model: string): string {
  return resourceName(model).split('/').map(encodeURIComponent).join('/');
}

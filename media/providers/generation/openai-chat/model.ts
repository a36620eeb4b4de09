// What the name of a model of the vendor tells about it, at whatever server it is run.

/** As in `gpt-5.1-codex`; names of open models have no number there. */
const version = /^gpt-(\d+)(?:\.(\d+))?/;
/** They reason whatever the effort is. */
const alwaysReasons = /codex|-pro\b/;
/** Versions that do not reason unless they are told to: their others do. */
const quietVersions: ReadonlySet<string> = new Set(['5.1', '5.2', '5.3', '5.4']);

/**
 * Whether it refuses to be told how tokens are drawn, and takes a ceiling by its newer name alone
 * (OpenAI: reasoning guide, parameter compatibility). `effort` null: the client gave none.
 */
export function drawsByItself(model: string, effort: string | null): boolean {
  const name = nameOf(model);
  if (/^(?:o\d|codex)/.test(name)) return true;
  const [found, major = '', minor = '0'] = version.exec(name) ?? [];
  if (found === undefined || Number(major) < 5 || name.includes('-chat')) return false;
  const number = `${major}.${minor}`;
  if (number === '5.0' || alwaysReasons.test(name)) return true;
  return effort === null ? !quietVersions.has(number) : effort !== 'none';
}

/** Whether it takes no `max_tokens`. */
export function needsNewCeiling(model: string): boolean {
  return drawsByItself(model, 'medium');
}

/** Whether ids of its calls are nine letters and digits: its template insists on that. */
export function isMistral(model: string): boolean {
  return /^(?:open-)?(?:mistral|mixtral|ministral|codestral|devstral|magistral|pixtral)/i.test(
    nameOf(model),
  );
}

/** Resellers put the vendor in front. */
function nameOf(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1);
}

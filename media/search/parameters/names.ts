// Names of parameters: what may be one, which never pass, and what all of them come to at most.
import { withoutInvisible } from '../../web/invisible.ts';
import { cutCharacters } from '../values/text.ts';

export const parametersMax = 32;
export const parameterBytesMax = 8 * 1_024;
export const valueCharactersMax = 500;
export const listMax = 20;
export const ignoredCharactersMax = 64;

const pattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** Each reaches another account, another engine or another price. */
const denied = [
  ...['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'x_api_key'],
  ...['engine', 'engines', 'format', 'output', 'async', 'no_cache', 'zero_trace', 'source'],
  ...['callback', 'webhook', 'url', 'json_restrictor', 'search_depth', 'auto_parameters'],
  ...['include_usage', 'include_answer', 'include_raw_content', 'deep_search'],
];
const bareDenied = new Set(denied.map(bare));

/** In any case, and with any mark between the words: providers are not that exact. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** Whether a name may reach a reader of parameters or a provider. */
export function mayPass(name: string): boolean {
  // Names of Object.prototype would find something in every table.
  return pattern.test(name) && !bareDenied.has(bare(name)) && !(name in Object.prototype);
}

/** A name as it is told again. */
export function shownName(name: string): string {
  return cutCharacters(withoutInvisible(name.slice(0, 1_000)).trim(), ignoredCharactersMax);
}

// Resolves `fast-check` to a copy of itself whose properties run many times as often. Loaded by
// `--import`; what tests declare stays as it is, and what ran is counted on standard error.
import { register } from 'node:module';

const wrapper = (address: string, times: number): string => `
import fc from ${JSON.stringify(address)};
let runs = 0;
process.on('exit', () => process.stderr.write('# property runs: ' + runs + '\\n'));
const more = (parameters = {}) => {
  const numRuns = (parameters.numRuns ?? 100) * ${times};
  runs += numRuns;
  return { ...parameters, numRuns };
};
const assert = (property, parameters) => fc.assert(property, more(parameters));
const check = (property, parameters) => fc.check(property, more(parameters));
const patient = { ...fc, assert, check };
export { assert, check, patient as default };
`;

const hooks = (times: number): string => `
const wrap = ${wrapper.toString()};
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const isOurs = specifier !== 'fast-check' || context.parentURL?.startsWith('data:');
  if (isOurs) return found;
  const text = wrap(found.url, ${times});
  return { url: 'data:text/javascript,' + encodeURIComponent(text), shortCircuit: true };
}
`;

const times = Number(new URL(import.meta.url).searchParams.get('times') ?? '1');
register(`data:text/javascript,${encodeURIComponent(hooks(times))}`);

// Valibot's objects and records take an array as one, with its indices as names: `metadata: []`
// would pass. Here they learn not to, in place and once: schemas are shared between routes.
import { _addIssue, type GenericSchema } from 'valibot';

const objectTypes = new Set([
  'object',
  'strict_object',
  'loose_object',
  'object_with_rest',
  'record',
]);

/** What a schema may be made of; each kind of schema has some of it. */
interface Parts {
  type: string;
  entries?: Record<string, GenericSchema>;
  options?: readonly unknown[];
  items?: readonly GenericSchema[];
  pipe?: readonly unknown[];
  item?: GenericSchema;
  wrapped?: GenericSchema;
  rest?: GenericSchema;
  value?: GenericSchema;
}

const taught = new WeakSet<object>();

/** Makes every object in the schema refuse an array, as a value of another type. */
export function refuseArrays(schema: GenericSchema): void {
  if (taught.has(schema)) return;
  taught.add(schema);
  const { type, entries = {}, ...parts }: Parts = schema;
  if (objectTypes.has(type)) teach(schema);
  const lists = [parts.options, parts.items, parts.pipe].flatMap((list) => list ?? []);
  const inner = [parts.item, parts.wrapped, parts.rest, parts.value, ...lists];
  for (const part of [...Object.values(entries), ...inner]) {
    if (isSchema(part)) refuseArrays(part);
  }
}

/** Options of a picklist and steps of a pipe are no schemas. */
function isSchema(part: unknown): part is GenericSchema {
  return typeof part === 'object' && part !== null && 'kind' in part && part.kind === 'schema';
}

function teach(schema: GenericSchema): void {
  const run = schema['~run'];
  const guarded: typeof run = function (this: GenericSchema, dataset, config) {
    if (!Array.isArray(dataset.value)) return run.call(this, dataset, config);
    _addIssue(this, 'type', dataset, config);
    // `_addIssue` has made it a refused one, which its type does not tell.
    return dataset as never;
  };
  Object.defineProperty(schema, '~run', { value: guarded });
}

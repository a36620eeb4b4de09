// What the members of a JSON Schema hold. Who walks one has to know: a property may be named like a
// keyword, and data may look like a schema.

/** Keywords whose members are named by the client: names there are no keywords. */
export const mapKeywords: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** Keywords with data in them. */
export const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

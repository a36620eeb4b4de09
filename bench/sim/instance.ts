// Makes a JSON value that satisfies a JSON Schema: the simulator's structured output. It knows the
// keywords that clients of structured output really send; what it does not know it leaves out.

type Schema = Record<string, unknown>;
const depthMax = 32;

/** A value for the schema; `$ref` is resolved inside the same document. */
export function instanceOf(schema: unknown): unknown {
  return make(schema, schema, 0);
}

function make(schema: unknown, root: unknown, depth: number): unknown {
  if (!isSchema(schema) || depth > depthMax) return null;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (typeof schema.$ref === 'string') {
    return make(resolve(schema.$ref, root), root, depth + 1);
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = schema[keyword];
    if (Array.isArray(branches)) return make(shallowest(branches), root, depth + 1);
  }
  const parts = schema.allOf;
  if (Array.isArray(parts))
    return make(Object.assign({}, schema, ...parts, { allOf: undefined }), root, depth + 1);
  switch (typeOf(schema)) {
    case 'object':
      return makeObject(schema, root, depth);
    case 'array':
      return makeArray(schema, root, depth);
    case 'string':
      return makeString(schema);
    case 'integer':
      return makeNumber(schema, 1);
    case 'number':
      return makeNumber(schema, 0.5);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

function typeOf(schema: Schema): unknown {
  const type = schema.type;
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('pattern' in schema || 'minLength' in schema || 'format' in schema) return 'string';
  if ('minimum' in schema || 'maximum' in schema) return 'number';
  return 'object';
}

/** A branch without a reference ends a recursive schema. */
function shallowest(branches: unknown[]): unknown {
  const isLeaf = (branch: unknown) => isSchema(branch) && !('$ref' in branch);
  return branches.find(isLeaf) ?? branches[0];
}

function makeObject(schema: Schema, root: unknown, depth: number): Schema {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const made: Schema = {};
  for (const name of required) {
    if (typeof name !== 'string') continue;
    made[name] = name in properties ? make(properties[name], root, depth + 1) : null;
  }
  return made;
}

function makeArray(schema: Schema, root: unknown, depth: number): unknown[] {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const made = prefix.map((item) => make(item, root, depth + 1));
  const itemsMin = Math.min(numberOf(schema.minItems, 0), 1000);
  while (made.length < itemsMin) {
    const value = make(schema.items, root, depth + 1);
    made.push(schema.uniqueItems === true ? vary(value, made.length) : value);
  }
  return made;
}

function vary(value: unknown, index: number): unknown {
  if (typeof value === 'number') return value + index;
  if (typeof value === 'string') return `${value}${index}`;
  return value;
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-15T12:00:00Z',
  date: '2026-01-15',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '0b0e7a52-7c43-4f0e-9d43-2b0c5a3e1f10',
};

function makeString(schema: Schema): string {
  const format = schema.format;
  if (typeof format === 'string' && formats[format] !== undefined) return formats[format];
  if (typeof schema.pattern === 'string') return fromPattern(schema.pattern);
  const lengthMin = Math.min(numberOf(schema.minLength, 0), 10_000);
  const lengthMax = numberOf(schema.maxLength, 10_000);
  return 'simulated'.padEnd(lengthMin, 'x').slice(0, lengthMax);
}

function makeNumber(schema: Schema, wanted: number): number {
  const step = numberOf(schema.multipleOf, 0);
  const whole = typeOf(schema) === 'integer';
  let low = numberOf(schema.minimum, Number.NEGATIVE_INFINITY);
  let high = numberOf(schema.maximum, Number.POSITIVE_INFINITY);
  const nudge = step > 0 ? step : whole ? 1 : 1e-6;
  low = Math.max(low, numberOf(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY) + nudge);
  high = Math.min(high, numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY) - nudge);
  const value = Math.min(Math.max(wanted, low), high);
  if (step > 0) return Math.ceil(value / step) * step;
  return whole ? Math.ceil(value) : value;
}

/** Simple patterns only: literals, classes, \d \w \s, and counts; enough for codes and ids. */
function fromPattern(pattern: string): string {
  const body = pattern.replace(/^\^/, '').replace(/\$$/, '');
  const atom = /(\[[^\]]+\]|\\.|[^\\[{+*?])(?:\{(\d+)(?:,\d*)?\}|([+*?]))?/g;
  let made = '';
  for (const [, unit = '', count, sign] of body.matchAll(atom)) {
    const times = count !== undefined ? Number(count) : sign === '*' || sign === '?' ? 0 : 1;
    made += characterOf(unit).repeat(Math.min(times, 1000));
  }
  return made;
}

function characterOf(unit: string): string {
  if (unit === '\\d') return '7';
  if (unit === '\\w') return 'w';
  if (unit === '\\s') return ' ';
  if (unit === '.') return 'x';
  if (unit.startsWith('\\')) return unit.slice(1);
  if (unit.startsWith('['))
    return unit.startsWith('[\\') ? characterOf(unit.slice(1, 3)) : unit.charAt(1);
  return unit;
}

function resolve(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return null;
  let node: unknown = root;
  for (const step of reference
    .slice(1)
    .split('/')
    .filter((part) => part !== '')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    node = isSchema(node) || Array.isArray(node) ? (node as Schema)[name] : null;
  }
  return node;
}

function numberOf(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

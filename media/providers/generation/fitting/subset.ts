// The subset of JSON Schema that Gemini documents for `responseJsonSchema`: no constants, no open
// bounds, one type and null. What is outside of it is said in its words, or left out.
import type { Members } from '../../../transport/members.ts';

/** Whether a member puts its schema outside of it. */
export function isOutside(name: string, member: unknown): boolean {
  switch (name) {
    case 'enum':
      return !Array.isArray(member) || !member.every(isPlain);
    case 'type':
      return Array.isArray(member) && (member.length !== 2 || !member.includes('null'));
    case '$comment':
    case '$schema':
    case 'const':
    case 'exclusiveMaximum':
    case 'exclusiveMinimum':
    case 'nullable':
      return true;
    default:
      return false;
  }
}

/** Strings and numbers alone are listed there: other values are told by their types. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

/** A schema whose inner ones are in the subset already. */
export function inSubset(schema: Members): Members {
  const { $comment: _comment, $schema: _schema, nullable, ...kept } = schema;
  const constant = withoutConstant(kept);
  const bounded = withClosedBounds(constant);
  const typed = nullable === true ? withNull(bounded) : bounded;
  return withOneType(withPlainValues(typed));
}

function withoutConstant(schema: Members): Members {
  if (schema.const === undefined) return schema;
  const { const: value, ...rest } = schema;
  return { ...rest, enum: [value] };
}

function withPlainValues(schema: Members): Members {
  if (!Array.isArray(schema.enum)) return schema;
  const { enum: values, ...rest } = schema as Members & { enum: unknown[] };
  const plain = values.filter(isPlain);
  if (plain.length === values.length) return schema;
  const types = [...new Set(values.map(typeOf))];
  const typed = rest.type === undefined ? { ...rest, type: types } : rest;
  const isListed = values.every((value) => value === null || isPlain(value));
  if (!isListed || plain.length === 0) return typed;
  return withNull({ ...typed, enum: plain });
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** Exact for whole numbers; with others the bound itself is allowed as well. */
function withClosedBounds(schema: Members): Members {
  const { exclusiveMinimum: above, exclusiveMaximum: below, ...rest } = schema;
  if (above === undefined && below === undefined) return schema;
  const closed: Members = { ...rest };
  const step = rest.type === 'integer' ? 1 : 0;
  if (typeof above === 'number') {
    const least = step === 0 ? above : Math.floor(above) + step;
    closed.minimum = typeof rest.minimum === 'number' ? Math.max(rest.minimum, least) : least;
  }
  if (typeof below === 'number') {
    const most = step === 0 ? below : Math.ceil(below) - step;
    closed.maximum = typeof rest.maximum === 'number' ? Math.min(rest.maximum, most) : most;
  }
  return closed;
}

/** As OpenAPI's `nullable` means it. */
function withNull(schema: Members): Members {
  const { type } = schema;
  if (type === undefined) return schema;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return types.includes('null') ? schema : { ...schema, type: [...types, 'null'] };
}

function withOneType(schema: Members): Members {
  const { type } = schema;
  if (!Array.isArray(type)) return schema;
  const types = new Set<unknown>(type);
  const isNullable = types.delete('null');
  if (types.size <= 1) {
    const [only = 'null'] = types;
    return { ...schema, type: isNullable && types.size === 1 ? [only, 'null'] : only };
  }
  const { type: _type, ...rest } = schema;
  // Both lists would have to hold: one of them says enough.
  if (rest.anyOf !== undefined) return rest;
  const each = [...types].map(
    (one): Members => ({ type: one, ...saidOf(rest, (name) => kindOf(name) === one) }),
  );
  const told = saidOf(rest, (name) => kindOf(name) === null);
  return { ...told, anyOf: isNullable ? [...each, { type: 'null' }] : each };
}

/** The type of which a keyword says something; others are said once, beside all types. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  object: [
    'additionalProperties',
    'maxProperties',
    'minProperties',
    'patternProperties',
    'properties',
    'propertyNames',
    'propertyOrdering',
    'required',
  ],
  array: ['contains', 'items', 'maxItems', 'minItems', 'prefixItems', 'uniqueItems'],
  string: ['maxLength', 'minLength', 'pattern'],
};

const kindsOf: ReadonlyMap<string, string> = new Map(
  Object.entries(kinds).flatMap(([kind, names]) => names.map((name) => [name, kind] as const)),
);

function kindOf(name: string): string | null {
  return kindsOf.get(name) ?? null;
}

function saidOf(schema: Members, isSaid: (name: string) => boolean): Members {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => isSaid(name)));
}

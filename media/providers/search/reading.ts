// What readers of search replies share: members of a JSON that nobody vouches for, and the part of
// it that customers see.
import { isMembers, type Members } from '../../transport/members.ts';

/** More than any provider answers at once: what is behind them is nobody's page. */
const entriesMax = 200;

/** The objects of a list; what is no list has none. */
export function entriesOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.slice(0, entriesMax).filter(isMembers) : [];
}

/** The texts of a list that have a letter in them. */
export function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, entriesMax).filter((each) => textOf(each) !== undefined);
}

/** A text that is not blank. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/**
 * What may be shown of a value. `true`: a scalar, or a list or an object of scalars. A list has the
 * shape of each of its objects; scalars in it are kept.
 */
export type Shape = true | readonly [ShapeMembers] | ShapeMembers;

export interface ShapeMembers {
  readonly [name: string]: Shape;
}

export interface Shown {
  data: Members;
  /** Lists have lost their tail. */
  isCut: boolean;
}

/** The members of a reply by the allowlist of its surface: all else is left out, at every depth. */
export function shownOf(body: Members, shape: ShapeMembers): Shown {
  const shown: Shown = { data: {}, isCut: false };
  shown.data = membersOf(body, shape, shown);
  return shown;
}

function partOf(value: unknown, shape: Shape, shown: Shown): unknown {
  if (isScalar(value)) return scalar(value);
  if (shape === true) return flat(value, shown);
  if (!isList(shape)) return isMembers(value) ? membersOf(value, shape, shown) : undefined;
  if (!Array.isArray(value)) return undefined;
  const parts = begin(value, shown).map((each) => partOf(each, shape[0], shown));
  return parts.filter((part) => part !== undefined);
}

function membersOf(value: Members, shape: ShapeMembers, shown: Shown): Members {
  const kept: Members = {};
  for (const [name, inner] of Object.entries(shape)) {
    const part = Object.hasOwn(value, name) ? partOf(value[name], inner, shown) : undefined;
    if (part !== undefined) kept[name] = part;
  }
  return kept;
}

function flat(value: unknown, shown: Shown): unknown {
  if (Array.isArray(value)) return begin(value, shown).filter(isScalar).map(scalar);
  if (!isMembers(value)) return undefined;
  const scalars = begin(Object.entries(value), shown).filter(([, member]) => isScalar(member));
  return Object.fromEntries(scalars.map(([name, member]) => [name.toWellFormed(), scalar(member)]));
}

function begin<T>(list: T[], shown: Shown): T[] {
  if (list.length > entriesMax) shown.isCut = true;
  return list.slice(0, entriesMax);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** Half a surrogate pair would be no text to whoever reads it. */
function scalar(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function isList(shape: Shape): shape is readonly [ShapeMembers] {
  return Array.isArray(shape);
}

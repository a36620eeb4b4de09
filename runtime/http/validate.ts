// The HTTP border's use of valibot: the first issue becomes a 400 that names the field.
// It stops at that issue: a body with a million bad members must not make a million issues.
import { type GenericIssue, type GenericSchema, safeParse } from 'valibot';
import { Problem } from '../problem.ts';
import { refuseArrays } from './objects.ts';
import { countCharacters } from './text.ts';

const config = { abortEarly: true } as const;
const textLengthMax = 200;
const lengthBounds: Readonly<Record<string, string>> = {
  min_length: 'at least',
  max_length: 'at most',
};

/** The value as the schema gives it, or a Problem with `param` like `messages[0].content`. */
export function validate(schema: GenericSchema, input: unknown): unknown {
  const result = safeParse(schema, input, config);
  if (result.success) return result.output;
  throw problemOf(result.issues[0]);
}

/** As `validate`, for a JSON body: an array is no object, at the top and inside. */
export function validateBody(schema: GenericSchema, input: unknown): unknown {
  refuseArrays(schema);
  return validate(schema, input);
}

/** A 400 for one field; `path` like `messages[0].content`. */
export function fieldProblem(path: string, message: string): Problem {
  return new Problem('invalid_request', { message, param: path });
}

function problemOf(issue: GenericIssue): Problem {
  const { deepest, prefix } = deepestOf(issue);
  const path = clip(prefix);
  if (path === '') return new Problem('invalid_request', { message: messageOf(deepest, 'body') });
  return fieldProblem(path, messageOf(deepest, path));
}

/** Of a union's issues the one that got furthest into the value says what is really wrong. */
function deepestOf(issue: GenericIssue): { deepest: GenericIssue; prefix: string } {
  let deepest = issue;
  let prefix = pathText(issue);
  for (const inner of issue.issues ?? []) {
    const candidate = deepestOf(inner);
    const joined = joinPaths(pathText(issue), candidate.prefix);
    if (joined.length > prefix.length) {
      deepest = candidate.deepest;
      prefix = joined;
    }
  }
  return { deepest, prefix };
}

/** The field at fault, like `messages[0].content`; empty when it is the whole value. */
export function pathText(issue: GenericIssue): string {
  let text = '';
  for (const item of issue.path ?? []) {
    const key: unknown = item.key;
    if (typeof key === 'number') text += `[${key}]`;
    else text = joinPaths(text, String(key));
  }
  return text;
}

function joinPaths(left: string, right: string): string {
  if (left === '' || right === '' || right.startsWith('[')) return left + right;
  return `${left}.${right}`;
}

function messageOf(issue: GenericIssue, path: string): string {
  if (issue.kind === 'schema' && issue.expected === 'never') return `Unknown property '${path}'.`;
  if (issue.input === undefined) return `Missing required field '${path}'.`;
  // A schema's own words, where valibot's would be a pattern.
  if (issue.kind === 'validation' && !issue.message.startsWith('Invalid ')) {
    return `Invalid value for '${path}': ${issue.message}.`;
  }
  const expected = clip(
    lengthOf(issue) ?? typesOf(issue) ?? requirementOf(issue) ?? 'another value',
  );
  const received = issue.kind === 'schema' ? typeOf(issue) : measureOf(issue);
  return `Invalid value for '${path}': expected ${expected}, received ${received}.`;
}

/** A bare bound says nothing of a text or a list: `>=1` of what? */
function lengthOf({ type, requirement, input }: GenericIssue): string | undefined {
  const bound = lengthBounds[type];
  if (bound === undefined || typeof requirement !== 'number') return undefined;
  const unit = Array.isArray(input) ? 'item' : 'character';
  return `${bound} ${requirement} ${unit}${requirement === 1 ? '' : 's'}`;
}

/** Types as JSON calls them: valibot names classes, and puts unions in parentheses. */
function typesOf({ kind, expected }: GenericIssue): string | undefined {
  if (kind !== 'schema') return expected ?? undefined;
  const bare = expected?.replace(/[()]/g, '');
  return bare?.replace(/(?<!")\b(?:Object|Array)\b(?!")/g, (name) => name.toLowerCase());
}

function isChoice({ kind, expected }: GenericIssue): boolean {
  return kind === 'schema' && expected?.includes('"') === true;
}

function requirementOf({ type, requirement }: GenericIssue): string | undefined {
  // A predicate of the engine, such as Number.isInteger: what it is called says more.
  return typeof requirement === 'function' ? type : requirement?.toString();
}

/** Of a text among texts that are allowed the type alone says nothing. */
function typeOf(issue: GenericIssue): string {
  const isOther = typeof issue.input === 'string' && isChoice(issue);
  return isOther ? 'another string' : kindOf(issue.input);
}

/** Never the value itself: it may be long or secret. */
function kindOf(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'array' : typeof input;
}

function measureOf(issue: GenericIssue): string {
  if (typeof issue.input === 'number') return String(issue.input);
  const isText = typeof issue.input === 'string' && Object.hasOwn(lengthBounds, issue.type);
  if (isText) return String(countCharacters(issue.input as string));
  const isMeasure = /^-?[\d.]+$/.test(issue.received);
  return isMeasure ? issue.received : kindOf(issue.input);
}

function clip(text: string): string {
  return text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text;
}

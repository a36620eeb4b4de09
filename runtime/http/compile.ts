// A route of the table, made ready to run: its patterns, header table and readers, built once.
import { strict as assert } from 'node:assert';
import type { GenericSchema } from 'valibot';
import type { CorsPolicy } from './cors.ts';
import { createHeaderTable, type HeaderTable } from './exchange.ts';
import { createFieldReader, decodePathSegment, parseQuery } from './fields.ts';
import { fileHeadersOf, servesFile } from './file/declaration.ts';
import { parseForm, parseQueryOnce } from './form.ts';
import { createMultipartReader, type MultipartReader } from './multipart.ts';
import type { Method, ReplyDeclaration, Route } from './route.ts';
import { validate } from './validate.ts';

/** One route at one path: aliases are compiled on their own, for their own parameter order. */
export interface CompiledRoute<Access, Caller, Services> {
  route: Route<Access, Caller, Services>;
  headers: HeaderTable;
  mediaTypes: readonly string[];
  servesFile: boolean;
  paramNames: readonly string[];
  readQuery: ((query: string) => unknown) | null;
  readParams: ((segments: readonly string[]) => unknown) | null;
  readForm: ((bytes: Uint8Array) => unknown) | null;
  readMultipart: MultipartReader | null;
}

/** All routes at one uWS pattern, by method. */
export interface Path<Access, Caller, Services> {
  pattern: string;
  cors: CorsPolicy;
  routePath: string;
  /** As any of its methods has it: who takes the wrong one has no route. */
  refusals: 'page' | undefined;
  methods: Map<Method, CompiledRoute<Access, Caller, Services>>;
}

/** `/v1/generations/{id}` as a uWS pattern, and the names of its parameters in order. */
export function patternOf(path: string): { pattern: string; names: string[] } {
  const names: string[] = [];
  const pattern = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    names.push(name);
    return `:p${names.length - 1}`;
  });
  assert(/^(\/(\{\w+\}|[A-Za-z0-9._-]*))+$/.test(path), `not a path: ${path}`);
  return { pattern, names };
}

/** Groups the table by path. Two routes with the same method and path are a bug. */
export function compileRoutes<Access, Caller, Services>(
  routes: readonly Route<Access, Caller, Services>[],
): Path<Access, Caller, Services>[] {
  const paths = new Map<string, Path<Access, Caller, Services>>();
  for (const route of routes) {
    for (const spelled of [route.path, ...(route.aliases ?? [])]) {
      const { pattern, names } = patternOf(spelled);
      let path = paths.get(pattern);
      if (path === undefined) {
        const { cors, path: routePath } = route;
        path = { pattern, cors, routePath, refusals: undefined, methods: new Map() };
        paths.set(pattern, path);
      }
      path.refusals ??= route.refusals;
      assert(!path.methods.has(route.method), `two routes: ${route.method} ${spelled}`);
      path.methods.set(route.method, compileRoute(route, names));
    }
  }
  return [...paths.values()];
}

function compileRoute<Access, Caller, Services>(
  route: Route<Access, Caller, Services>,
  names: readonly string[],
): CompiledRoute<Access, Caller, Services> {
  assert((route.params !== undefined) === names.length > 0, `params schema of ${route.path}`);
  const servesFiles = servesFile(route.replies);
  assert(!servesFiles || route.method === 'GET', `a file is got: ${route.method} ${route.path}`);
  const fileHeaders = servesFiles ? fileHeadersOf(route.method) : {};
  // Whether a refusal is a page is decided when there is one.
  const asked = route.refusals === 'page' ? ['accept'] : [];
  return {
    route,
    headers: createHeaderTable([...Object.keys({ ...fileHeaders, ...route.headers }), ...asked]),
    servesFile: servesFiles,
    mediaTypes: mediaTypesOf(route),
    paramNames: names,
    readQuery: route.query === undefined ? null : queryReader(route.query, route.repeatedQuery),
    readParams: route.params === undefined ? null : paramsReader(route.params, names),
    readForm: route.body?.kind === 'form' ? formReader(route.body.schema) : null,
    readMultipart: route.body?.kind === 'multipart' ? createMultipartReader(route.body) : null,
  };
}

function queryReader(
  schema: GenericSchema,
  repeated: 'refused' | undefined,
): (query: string) => unknown {
  const readFields = createFieldReader(schema);
  const parse = repeated === 'refused' ? parseQueryOnce : parseQuery;
  return (query) => validate(schema, readFields(parse(query)));
}

function formReader(schema: GenericSchema): (bytes: Uint8Array) => unknown {
  const readFields = createFieldReader(schema);
  return (bytes) => validate(schema, readFields(parseForm(bytes)));
}

function paramsReader(
  schema: GenericSchema,
  names: readonly string[],
): (segments: readonly string[]) => unknown {
  const readFields = createFieldReader(schema);
  return (segments) => {
    const fields: Record<string, string> = Object.create(null);
    for (const [index, name] of names.entries()) {
      fields[name] = decodePathSegment(name, segments[index] ?? '');
    }
    return validate(schema, readFields(fields));
  };
}

/** What a route can send; errors are JSON everywhere, and pages where it says so. */
function mediaTypesOf({
  replies,
  refusals,
}: {
  replies: Record<number, ReplyDeclaration>;
  refusals?: 'page';
}): string[] {
  const types = ['application/json', 'text/event-stream'];
  if (refusals === 'page') types.push('text/html');
  for (const { mediaType, moreMediaTypes = [] } of Object.values(replies)) {
    for (const type of [mediaType ?? '', ...moreMediaTypes]) {
      if (type !== '') types.push(type.split(';')[0]?.trim().toLowerCase() ?? '');
    }
  }
  return types;
}

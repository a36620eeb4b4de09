// The OpenAPI 3.1 document of a route table. Nothing in it is written by hand: schemas, parameters,
// errors and their examples come from the same values that serve the requests.
import { strict as assert } from 'node:assert';
import type { GenericSchema } from 'valibot';
import { type Problem, type ProblemCode, problemCodes } from '../problem.ts';
import { fileHeadersOf, fileRepliesOf, headRepliesOf, servesFile } from './file/declaration.ts';
import type { RenderedProblem } from './kernel.ts';
import type { ReplyDeclaration, Route } from './route.ts';
import { createSchemaBook, type JsonSchema, type SchemaBook } from './schemas.ts';

export interface OpenApiOptions<Access> {
  document: 'model' | 'account';
  title: string;
  description: string;
  /** With an SPDX expression: pages show a name alone as a link to nowhere. */
  license: { name: string; identifier: string };
  serverUrl: string;
  /** Description of each tag that a route may have, in the order of the reference. */
  tags: Record<string, string>;
  /** Security Scheme Objects by name. */
  securitySchemes: Record<string, JsonSchema>;
  /** Alternatives in OpenAPI's form (`[]`: none needed), and the problems that access may give. */
  accessOf(access: Access): { security: Record<string, string[]>[]; problems: ProblemCode[] };
  /** A problem of this code with the headers and details that it usually has. */
  sampleProblem(code: ProblemCode): Problem;
  renderProblem(path: string, problem: Problem, requestId: string): RenderedProblem;
  /** The schema of the error envelope of a route's path. */
  envelopeSchemaOf(path: string): { name: string; schema: JsonSchema };
}

type AnyRoute<Access> = Route<Access, never, never>;

interface Draft<Access> {
  options: OpenApiOptions<Access>;
  book: SchemaBook;
  responses: Record<string, JsonSchema>;
  envelopes: Record<string, JsonSchema>;
}

const requestIdHeader = {
  description: 'Names this HTTP exchange; the caller may choose it.',
  schema: { type: 'string' },
};

/** The document as a plain object; the same table gives the same document. */
export function createOpenApiDocument<Access, Caller, Services>(
  routes: readonly Route<Access, Caller, Services>[],
  options: OpenApiOptions<Access>,
): JsonSchema {
  const listed = routes.filter(({ documents }) => documents.includes(options.document));
  const draft: Draft<Access> = {
    options,
    book: createSchemaBook(listed.flatMap(schemasOf)),
    responses: {},
    envelopes: {},
  };
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of listed) {
    paths[route.path] = { ...paths[route.path], ...operationsOf(route, draft) };
  }
  const used = new Set(listed.map(({ tag }) => tag));
  const tags = Object.keys(options.tags).filter((name) => used.has(name));
  for (const name of used) assert.ok(name in options.tags, `the tag ${name} is not described`);
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: '1.0.0',
      description: options.description,
      license: options.license,
    },
    servers: [{ url: options.serverUrl }],
    tags: tags.map((name) => ({ name, description: options.tags[name] })),
    paths,
    components: {
      securitySchemes: options.securitySchemes,
      headers: { RequestId: requestIdHeader },
      responses: draft.responses,
      schemas: { ...draft.envelopes, ...draft.book.components },
    },
  };
}

function schemasOf<Access, Caller, Services>(
  route: Route<Access, Caller, Services>,
): { name: string; schema: GenericSchema; taken: boolean }[] {
  const { operationId, query, params, body, replies } = route;
  const named: [string, GenericSchema | undefined][] = [
    [`${operationId} query`, query],
    [`${operationId} params`, params],
    [`${operationId} request`, body?.kind === 'bytes' ? undefined : body?.schema],
    ...Object.values(replies).map(({ schema }): [string, GenericSchema | undefined] => [
      `${operationId} reply`,
      schema,
    ]),
  ];
  return named.flatMap(([name, schema]) => {
    if (schema === undefined) return [];
    return [{ name, schema, taken: schema === query || schema === params }];
  });
}

/** HEAD of a file has an entry of its own: it tells the length, and takes no range. */
function operationsOf<Access, Caller, Services>(
  route: Route<Access, Caller, Services>,
  draft: Draft<Access>,
): Record<string, JsonSchema> {
  if (!servesFile(route.replies)) {
    return { [route.method.toLowerCase()]: operationOf(route, draft) };
  }
  const withHeaders = (method: string) => ({ ...fileHeadersOf(method), ...route.headers });
  return {
    get: operationOf(
      { ...route, headers: withHeaders('GET'), replies: fileRepliesOf(route.replies) },
      draft,
    ),
    head: operationOf(
      {
        ...route,
        operationId: `${route.operationId}Head`,
        summary: `${route.summary} (headers alone)`,
        headers: withHeaders('HEAD'),
        replies: headRepliesOf(route.replies),
      },
      draft,
    ),
  };
}

function operationOf<Access, Caller, Services>(
  route: Route<Access, Caller, Services>,
  draft: Draft<Access>,
): JsonSchema {
  const { security } = draft.options.accessOf(route.access);
  const operation: JsonSchema = {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    security,
  };
  const description = descriptionOf(route);
  if (description !== '') operation.description = description;
  const parameters = [
    ...objectParameters(route.params, 'path', draft.book),
    ...objectParameters(route.query, 'query', draft.book),
    ...headerParameters(route.headers),
  ];
  if (parameters.length > 0) operation.parameters = parameters;
  if (route.body !== undefined) operation.requestBody = requestBodyOf(route.body, draft.book);
  operation.responses = { ...repliesOf(route.replies, draft.book), ...refusalsOf(route, draft) };
  return operation;
}

function descriptionOf(route: { description?: string; aliases?: string[] }): string {
  const aliases = (route.aliases ?? []).map((alias) => `\`${alias}\``).join(', ');
  const also = aliases === '' ? '' : `The same route is also at ${aliases}.`;
  return [route.description ?? '', also].filter((text) => text !== '').join('\n\n');
}

function objectParameters(
  schema: GenericSchema | undefined,
  where: 'path' | 'query',
  book: SchemaBook,
): JsonSchema[] {
  if (schema === undefined) return [];
  const { properties, required } = book.schemaOf(schema);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([name, member]) => {
    const { description, ...rest } = member;
    const isRequired = where === 'path' || needed.includes(name);
    const parameter: JsonSchema = { name, in: where, required: isRequired, schema: rest };
    if (description !== undefined) parameter.description = description;
    return parameter;
  });
}

function headerParameters(
  headers: Record<string, { description: string; required?: boolean }> | undefined,
): JsonSchema[] {
  return Object.entries(headers ?? {}).map(([name, { description, required = false }]) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  }));
}

function requestBodyOf(body: NonNullable<AnyRoute<unknown>['body']>, book: SchemaBook): JsonSchema {
  const required = body.schema.type !== 'optional';
  if (body.kind === 'bytes') {
    const description = `At most ${body.bytesMax} bytes.`;
    const schema = { type: 'string', format: 'binary', description };
    return { required, content: { '*/*': { schema } } };
  }
  if (body.kind === 'json') {
    const { example } = body;
    const shown = example === undefined ? {} : { example };
    const content = { 'application/json': { schema: book.schemaOf(body.schema), ...shown } };
    return { required, content };
  }
  const fields = book.schemaOf(body.schema);
  if (body.kind === 'form') {
    const content = { 'application/x-www-form-urlencoded': { schema: fields } };
    return { required, content };
  }
  const files = Object.entries(body.files).map(([name, { bytesMax }]) => [
    name,
    { type: 'string', format: 'binary', description: `At most ${bytesMax} bytes.` },
  ]);
  const neededFiles = Object.entries(body.files).flatMap(([name, { required: needed }]) =>
    needed ? [name] : [],
  );
  const neededFields = Array.isArray(fields.required) ? fields.required : [];
  const schema = {
    ...fields,
    properties: { ...(fields.properties as JsonSchema), ...Object.fromEntries(files) },
    required: [...neededFiles, ...neededFields],
  };
  return { required, content: { 'multipart/form-data': { schema } } };
}

function repliesOf(replies: Record<number, ReplyDeclaration>, book: SchemaBook): JsonSchema {
  const documented: JsonSchema = {};
  for (const [status, declared] of Object.entries(replies)) {
    const { description, schema, mediaType, moreMediaTypes = [], headers } = declared;
    const content: JsonSchema = {};
    if (schema !== undefined) content['application/json'] = { schema: book.schemaOf(schema) };
    if (mediaType !== undefined && content[mediaType] === undefined) {
      content[mediaType] = { schema: unparsed(mediaType) };
    }
    for (const type of moreMediaTypes) content[type] = { schema: unparsed(type) };
    documented[status] = {
      description,
      headers: { 'x-request-id': headerReference, ...describedHeaders(headers) },
      ...(Object.keys(content).length > 0 ? { content } : {}),
    };
  }
  return documented;
}

/** What is no text must not be read as one: generated clients go by this format. */
function unparsed(mediaType: string): JsonSchema {
  return mediaType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

function describedHeaders(headers: Record<string, string> = {}): JsonSchema {
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return Object.fromEntries(described);
}

const headerReference = { $ref: '#/components/headers/RequestId' };

/** Every code that can come out of a route: what it says, and what follows from its shape. */
export function problemsOf<Access, Caller, Services>(
  route: Route<Access, Caller, Services>,
  accessProblems: readonly ProblemCode[],
): ProblemCode[] {
  const codes = new Set<ProblemCode>([...accessProblems, ...route.problems, 'not_acceptable']);
  if (route.body ?? route.query ?? route.params) codes.add('invalid_request');
  if (route.body !== undefined) {
    codes.add('request_too_large');
    codes.add('unsupported_media_type');
  }
  codes.add('internal');
  codes.add('overloaded');
  codes.add('dependency_unavailable');
  return [...codes].sort((a, b) => problemCodes[a].status - problemCodes[b].status);
}

function refusalsOf<Access, Caller, Services>(
  route: Route<Access, Caller, Services>,
  draft: Draft<Access>,
): JsonSchema {
  const byStatus = new Map<number, ProblemCode[]>();
  const accessProblems = draft.options.accessOf(route.access).problems;
  for (const code of problemsOf(route, accessProblems)) {
    const { status } = problemCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const documented: JsonSchema = {};
  for (const [status, codes] of byStatus) {
    // A route that documents the status itself answers it in its own way.
    if (route.replies[status] !== undefined) continue;
    documented[status] = { $ref: `#/components/responses/${refusalName(route, codes, draft)}` };
  }
  return documented;
}

/** The component for these codes in the envelope of this path; made when first needed. */
function refusalName<Access, Caller, Services>(
  route: Route<Access, Caller, Services>,
  codes: readonly ProblemCode[],
  draft: Draft<Access>,
): string {
  const { name: envelope, schema } = draft.options.envelopeSchemaOf(route.path);
  const isOwn = codes.some((code) => route.problems.includes(code));
  const added = isOwn ? describedHeaders(route.problemHeaders) : {};
  const name = [envelope, ...codes, ...Object.keys(added)].join('.');
  if (draft.responses[name] !== undefined) return name;
  draft.envelopes[envelope] = schema;
  const examples: Record<string, JsonSchema> = {};
  const headers: JsonSchema = { 'x-request-id': headerReference };
  for (const code of codes) {
    const problem = draft.options.sampleProblem(code);
    const rendered = draft.options.renderProblem(route.path, problem, 'a1b2c3');
    examples[code] = { summary: problem.message, value: rendered.body };
    for (const header of Object.keys(rendered.headers)) {
      headers[header] = { schema: { type: 'string' } };
    }
  }
  Object.assign(headers, added);
  const schemaReference = { $ref: `#/components/schemas/${envelope}` };
  draft.responses[name] = {
    description: codes.map((code) => problemCodes[code].message).join(' '),
    headers,
    content: { 'application/json': { schema: schemaReference, examples } },
  };
  return name;
}

// A client that believes nothing: every reply is looked up in the OpenAPI documents of the gateway
// itself, and status, our own headers, content type and body must be as documented there.
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Members = Record<string, unknown>;

export interface CallOptions {
  headers?: Record<string, string>;
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** Undefined when the body is not JSON. */
  json: Members;
}

interface Operation {
  document: string;
  /** JSON pointer of the operation. */
  pointer: string;
  members: Members;
  template: string;
}

const firstTries = 3;
const firstPauseMs = 500;

/**
 * The first call to a new gateway was seen to fail on a machine that was many times too busy. Why
 * is told, and it is tried again.
 */
async function firstFetch(url: string): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetch(url);
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      console.log(`# ${url} at try ${tries}: ${String(cause)}`);
      if (tries === firstTries) throw error;
      await new Promise((resolve) => setTimeout(resolve, firstPauseMs));
    }
  }
}

export class Contract {
  readonly url: string;
  readonly documents = new Map<string, Members>();
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  readonly #validators = new Map<string, ValidateFunction>();

  private constructor(url: string) {
    this.url = url;
  }

  static async load(url: string): Promise<Contract> {
    const contract = new Contract(url);
    for (const path of ['/api/openapi.json', '/api/v1/openapi.json']) {
      const response = await firstFetch(url + path);
      assert.equal(response.status, 200, path);
      const document = (await response.json()) as Members;
      contract.documents.set(path, document);
      contract.#ajv.addSchema(document, path, false, false);
    }
    return contract;
  }

  /** Calls a route and checks its reply. Fails on a path or a method that is not documented. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const { headers = {}, body } = options;
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const reply = { status: response.status, headers: response.headers, text, json: parse(text) };
    this.check(method, path, reply);
    return reply;
  }

  /** Fails unless the reply is as documented in every document that has the operation. */
  check(method: string, path: string, reply: Reply): void {
    const pathname = path.replace(/\?.*/, '');
    const found = this.#operations(method, pathname);
    assert.ok(found.length > 0, `${method} ${pathname} is in no document`);
    for (const operation of found) this.#checkAgainst(operation, reply, method === 'HEAD');
  }

  /** Every documented operation: method and path template. */
  operations(): { method: string; template: string; members: Members }[] {
    return [...this.documents.values()].flatMap((document) =>
      Object.entries(document.paths as Members).flatMap(([template, item]) =>
        Object.entries(item as Members).map(([method, members]) => ({
          method: method.toUpperCase(),
          template,
          members: members as Members,
        })),
      ),
    );
  }

  /** Whether the documented schema of a JSON body takes this one. */
  takes(document: string, method: string, template: string, body: unknown): boolean {
    const operation = `/paths/${escapePointer(template)}/${method.toLowerCase()}`;
    const schema = `${operation}/requestBody/content/application~1json/schema`;
    return this.#validator(`${document}#${encodePointer(schema)}`)(body) === true;
  }

  #operations(method: string, path: string): Operation[] {
    const direct = this.#lookUp(method, path);
    if (direct.length > 0 || !path.startsWith('/api/v1/')) return direct;
    return this.#lookUp(method, path.slice('/api'.length));
  }

  #lookUp(method: string, path: string): Operation[] {
    const operations: Operation[] = [];
    for (const [document, { paths }] of this.documents) {
      for (const [template, item] of Object.entries(paths as Record<string, Members>)) {
        const pattern = new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`);
        const members = item[method.toLowerCase()];
        if (!pattern.test(path) || members === undefined) continue;
        const pointer = `/paths/${escapePointer(template)}/${method.toLowerCase()}`;
        operations.push({ document, pointer, members: members as Members, template });
      }
    }
    // A path without a parameter comes before one that has it (OpenAPI 3.1, Paths Object).
    const parameters = ({ template }: Operation) => template.split('{').length;
    const fewest = Math.min(...operations.map(parameters));
    return operations.filter((operation) => parameters(operation) === fewest);
  }

  #checkAgainst(operation: Operation, reply: Reply, isHead: boolean): void {
    const name = `${operation.pointer} ${reply.status}`;
    const responses = operation.members.responses as Record<string, Members>;
    let response = responses[String(reply.status)];
    assert.ok(response !== undefined, `${name} is not documented: ${reply.text.slice(0, 300)}`);
    let pointer = `${operation.pointer}/responses/${reply.status}`;
    if (typeof response.$ref === 'string') {
      pointer = response.$ref.slice(1);
      const components = this.documents.get(operation.document)?.components as Members;
      const named = components.responses as Record<string, Members>;
      response = named[decodeURIComponent(pointer.slice(pointer.lastIndexOf('/') + 1))];
    }
    assert.ok(reply.headers.get('x-request-id'), `${name} has no x-request-id`);
    for (const header of reply.headers.keys()) {
      if (!/^(x-(svc|should)-|retry-after$)/.test(header)) continue;
      assert.ok(header in ((response?.headers ?? {}) as Members), `${name} has ${header}`);
    }
    const content = (response?.content ?? {}) as Members;
    if (isHead || Object.keys(content).length === 0) {
      assert.equal(reply.text, '', `${name} has a body`);
      return;
    }
    const mediaType = (reply.headers.get('content-type') ?? '').replace(/;.*/, '');
    assert.ok(content[mediaType] !== undefined, `${name} has the type ${mediaType}`);
    if (mediaType !== 'application/json') return;
    const schema = `${pointer}/content/${escapePointer(mediaType)}/schema`;
    const validate = this.#validator(`${operation.document}#${encodePointer(schema)}`);
    const message = () => `${name}: ${this.#ajv.errorsText(validate.errors)} in ${reply.text}`;
    assert.ok(validate(reply.json), message());
  }

  #validator(reference: string): ValidateFunction {
    const known = this.#validators.get(reference);
    if (known !== undefined) return known;
    const validate = this.#ajv.compile({ $ref: reference });
    this.#validators.set(reference, validate);
    return validate;
  }
}

function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A JSON pointer as the fragment of a URI (RFC 6901, section 6). */
function encodePointer(pointer: string): string {
  return pointer.split('/').map(encodeURIComponent).join('/');
}

function parse(text: string): Members {
  try {
    return JSON.parse(text) as Members;
  } catch {
    // No JSON: a test that reads a member of it fails there.
    return {};
  }
}

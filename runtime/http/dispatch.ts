// From a request to its reply: access, body, validation, handler, reply, in this order. The one
// place where a throw becomes an answer: a Problem as it is, anything else as a logged 500.
import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { fixedLimits } from '../limits.ts';
import { Problem } from '../problem.ts';
import { afterOthers, ownTurn } from '../turns.ts';
import { type BodyRead, type BodySink, noRoom, tooLarge } from './body.ts';
import { type CompiledRoute, compileRoutes, type Path } from './compile.ts';
import type { CorsPolicy, HeaderPair } from './cors.ts';
import { createHeaderTable, HttpExchange } from './exchange.ts';
import { serveFile } from './file/serve.ts';
import { sendContinue } from './head.ts';
import {
  mayHoldHalf,
  mayHoldHalfInTurns,
  withoutHalves,
  withoutHalvesInTurns,
} from './json/halves.ts';
import { parseJson } from './json.ts';
import type { Kernel } from './kernel.ts';
import { parseLongJson } from './long-json.ts';
import {
  checkAccept,
  checkContentEncoding,
  checkContentType,
  readLines,
  wantsPage,
} from './negotiate.ts';
import { sendReply } from './reply.ts';
import type { Method, Reply, Route, UploadedFile } from './route.ts';
import { registerSocket } from './socket.ts';
import { validateBody } from './validate.ts';

/** One request on its way; what must be read in the first turn is in it. */
interface Call<Access, Caller, Services> {
  kernel: Kernel<Access, Caller, Services>;
  compiled: CompiledRoute<Access, Caller, Services>;
  exchange: HttpExchange;
  query: string;
  segments: string[];
}

const noHeaders = createHeaderTable([]);
const noBytes = Buffer.alloc(0);
const noFiles: Record<string, UploadedFile> = Object.freeze({});
const unknownPath = { cors: 'public', routePath: null, refusals: undefined } as const;
const anyMethod = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** Of a path that no route takes, in the words of its refusal. */
const toldPathMax = 100;
/** A body announced as larger than this over the limit is not even waited out. */
const lingerBytesMax = 64 * 1024 * 1024;

/** Registers every route, its aliases, HEAD, OPTIONS, and the answers to everything else. */
export function registerRoutes<Access, Caller, Services>(
  app: TemplatedApp,
  kernel: Kernel<Access, Caller, Services>,
  routes: readonly Route<Access, Caller, Services>[],
): void {
  for (const path of compileRoutes(routes)) {
    for (const [method, compiled] of path.methods) {
      if (compiled.route.socket !== undefined) {
        registerSocket(app, path.pattern, compiled, kernel, (exchange, error) =>
          failExchange(kernel, compiled, exchange, error),
        );
      }
      const handler = (response: HttpResponse, request: HttpRequest) =>
        startCall(kernel, compiled, method, response, request);
      registrar(app, method)(path.pattern, handler);
      if (method === 'GET') {
        app.head(path.pattern, (response, request) =>
          startCall(kernel, compiled, 'HEAD', response, request),
        );
      }
    }
    const allow = allowOf(path);
    app.options(path.pattern, (res, req) => answerOptions(kernel, path, allow, res, req));
    app.any(path.pattern, (response, request) => {
      const problem = new Problem('method_not_allowed', { headers: { allow } });
      refuse(kernel, path, problem, response, request);
    });
  }
  const refuseUnknown = (response: HttpResponse, request: HttpRequest) =>
    refuse(kernel, unknownPath, unknownRoute(request), response, request);
  app.options('/*', (response, request) => {
    // A browser that is refused here shows its page a network error instead of the 404.
    const isPreflight = request.getHeader('access-control-request-method') !== '';
    if (isPreflight) answerOptions(kernel, unknownPath, anyMethod, response, request);
    else refuseUnknown(response, request);
  });
  app.any('/*', refuseUnknown);
}

/** Says what arrived: mostly it is a base URL with a part too many, or a slash at the end. */
function unknownRoute(request: HttpRequest): Problem {
  const path = request.getUrl();
  const told = path.length > toldPathMax ? `${path.slice(0, toldPathMax)}…` : path;
  const asked = `${request.getCaseSensitiveMethod()} ${told}`;
  return new Problem('not_found', { message: `There is no route ${asked}: /docs lists them.` });
}

function registrar(app: TemplatedApp, method: Method) {
  if (method === 'GET') return app.get.bind(app);
  if (method === 'POST') return app.post.bind(app);
  if (method === 'PUT') return app.put.bind(app);
  return method === 'PATCH' ? app.patch.bind(app) : app.del.bind(app);
}

function allowOf<Access, Caller, Services>(path: Path<Access, Caller, Services>): string {
  const methods: string[] = [...path.methods.keys()];
  if (path.methods.has('GET')) methods.push('HEAD');
  return [...methods, 'OPTIONS'].join(', ');
}

function startCall<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  compiled: CompiledRoute<Access, Caller, Services>,
  method: string,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const { route, headers } = compiled;
  // At once and without a reply, behind which the server would read the rest as a request.
  const { isEndCertain, hasBlankKey, hasCookieLines } = readLines(request);
  if (!isEndCertain) return void response.close();
  const exchange = new HttpExchange(kernel, headers, method, route.path, response, request);
  exchange.hasBlankKey = hasBlankKey;
  exchange.hasCookieLines = hasCookieLines;
  kernel.opened();
  sendContinue(exchange, response, request.getHeader('expect'));
  const segments: string[] = [];
  for (let index = 0; index < compiled.paramNames.length; index += 1) {
    segments.push(request.getParameter(index) ?? '');
  }
  const query = compiled.readQuery === null ? '' : request.getQuery();
  const call = { kernel, compiled, exchange, query, segments };
  try {
    checkAccept(request.getHeader('accept'), compiled.mediaTypes);
    const caller = kernel.authorize(route.access, exchange);
    // At once: a refusal that nobody awaits, since the body was refused first, would end the shard.
    if (caller instanceof Promise) caller.catch((error) => fail(call, error));
    if (route.body !== undefined) startBody(call, response, request, caller);
    else if (caller instanceof Promise) {
      caller.then(
        (settled) => run(call, settled, null),
        () => undefined, // answered above
      );
    } else run(call, caller, null);
  } catch (error) {
    fail(call, error);
  }
  exchange.leaveFirstTurn();
}

function startBody<Access, Caller, Services>(
  call: Call<Access, Caller, Services>,
  response: HttpResponse,
  request: HttpRequest,
  caller: Caller | Promise<Caller>,
): void {
  const { kernel, compiled, exchange } = call;
  const body = compiled.route.body;
  if (body === undefined) return;
  const announced = request.getHeader('content-length');
  const announcedBytes = announced === '' ? null : Number(announced);
  if (announcedBytes !== null && announcedBytes > body.bytesMax) {
    exchange.mustClose = announcedBytes > body.bytesMax + lingerBytesMax;
    exchange.mustLinger = !exchange.mustClose;
    throw tooLarge(body.bytesMax);
  }
  exchange.mustLinger = announcedBytes === null && request.getHeader('transfer-encoding') !== '';
  if (exchange.mustLinger && request.getHeader('trailer') !== '') throw trailers();
  checkContentType(body.kind, request.getHeader('content-type'));
  checkContentEncoding(request.getHeader('content-encoding'));
  const tenant = caller instanceof Promise ? '' : kernel.tenantOf(caller);
  const sink = bodySink(call, caller);
  const source = exchange.unread ?? response;
  const read = kernel.bodies.read(source, announcedBytes, body.bytesMax, tenant, sink);
  exchange.onFinish(() => read.stop());
}

/** A 400: uWS would take them for the next request, and close over the reply to this one. */
function trailers(): Problem {
  return new Problem('invalid_request', { message: 'Trailers of a request are not understood.' });
}

function bodySink<Access, Caller, Services>(
  call: Call<Access, Caller, Services>,
  caller: Caller | Promise<Caller>,
): BodySink {
  const { exchange } = call;
  return {
    complete(body) {
      // The end of chunks may be elsewhere for uWS than for the client: the rest is no request.
      exchange.isLast = exchange.mustLinger;
      exchange.mustLinger = false;
      const isLong = body.bytes.length >= fixedLimits.body.longBytesMin;
      const mustWait = isLong || exchange.isLast;
      if (!mustWait && !(caller instanceof Promise)) return run(call, caller, body);
      if (!body.keep()) return fail(call, noRoom());
      const settling = mustWait ? ownTurn().then(() => caller) : Promise.resolve(caller);
      settling.then(
        (settled) => run(call, settled, body),
        () => undefined, // answered where the call was started
      );
    },
    refuse(problem, isLost) {
      exchange.mustClose = isLost && exchange.mustLinger;
      fail(call, problem);
    },
    expire: () => exchange.response?.close(),
  };
}

/** Validates what was sent, runs the handler and sends what it answers. Never throws. */
function run<Access, Caller, Services>(
  call: Call<Access, Caller, Services>,
  caller: Caller,
  sent: BodyRead | null,
): void {
  if (call.exchange.response === null) return;
  try {
    const reply = handle(call, caller, sent);
    if (reply instanceof Promise) {
      reply.then(
        (settled) => deliver(call, settled),
        (error) => fail(call, error),
      );
    } else deliver(call, reply);
  } catch (error) {
    fail(call, error);
  }
}

function handle<Access, Caller, Services>(
  call: Call<Access, Caller, Services>,
  caller: Caller,
  sent: BodyRead | null,
): Reply | Promise<Reply> {
  const { compiled, exchange } = call;
  const { route } = compiled;
  const params = compiled.readParams?.(call.segments);
  const query = compiled.readQuery?.(call.query);
  // The declaration ties schemas to the handler's types; the table has forgotten them. Member by
  // member: a spread with new members behind it takes V8's slow way, 2 us.
  const answer = (body: unknown, files = noFiles) =>
    route.handle({
      query: query as never,
      params: params as never,
      body: body as never,
      files,
      caller,
      services: call.kernel.services,
      exchange,
    });
  const bytes = sent?.bytes ?? noBytes;
  if (compiled.readMultipart !== null) {
    const contentType = exchange.header('content-type') ?? '';
    const { body, files } = compiled.readMultipart(bytes, contentType);
    sent?.stop();
    return answer(body, files);
  }
  if (compiled.readForm !== null) {
    const body = compiled.readForm(bytes);
    sent?.stop();
    return answer(body);
  }
  if (route.body === undefined) return answer(undefined);
  if (route.body.kind === 'bytes') {
    // Kept until the exchange is over, as `startBody` has it.
    if (sent !== null && !sent.keep()) throw noRoom();
    return answer(sent?.bytes ?? noBytes);
  }
  if (sent !== null && bytes.length >= fixedLimits.body.longBytesMin) {
    return handleLong(call, call.kernel.tenantOf(caller), sent, answer);
  }
  const mayBeAbsent = route.body.schema.type === 'optional';
  const { prototypeKeys } = route.body.kind === 'json' ? route.body : {};
  const value = bytes.length === 0 && mayBeAbsent ? undefined : parseJson(bytes, prototypeKeys);
  const isMended = replacesHalves(compiled) && mayHoldHalf(bytes);
  sent?.stop();
  const body = validateBody(route.body.schema, value);
  return answer(isMended ? withoutHalves(body) : body);
}

function replacesHalves<A, C, S>({ route: { body } }: CompiledRoute<A, C, S>): boolean {
  return body?.kind === 'json' && body.halves === 'replaced';
}

/** The bytes are let go before the answer is begun: it may last for minutes. */
async function handleLong<Access, Caller, Services>(
  { compiled, exchange }: Call<Access, Caller, Services>,
  tenant: string,
  sent: BodyRead,
  answer: (body: unknown) => Reply | Promise<Reply>,
): Promise<Reply> {
  const replaces = replacesHalves(compiled);
  let isMended = false;
  const value = await afterOthers(tenant, async () => {
    if (exchange.response === null) return null;
    const parsed = await parseLongJson(sent.bytes);
    isMended = replaces && (await mayHoldHalfInTurns(sent.bytes));
    return parsed;
  });
  sent.stop();
  const { body } = compiled.route;
  // Whoever has left meanwhile wants nothing begun; nobody reads this.
  if (exchange.response === null || body === undefined) throw new Problem('invalid_request');
  const valid = validateBody(body.schema, value);
  return answer(isMended ? await withoutHalvesInTurns(valid) : valid);
}

/** Sends a reply; what cannot be serialised is our bug and answered as such. */
function deliver<Access, Caller, Services>(
  call: Call<Access, Caller, Services>,
  reply: Reply,
): void {
  const { kernel, compiled, exchange } = call;
  try {
    const corsHeaders = kernel.cors.replyHeaders(compiled.route.cors, originOf(compiled, exchange));
    const { streams, isDraining } = kernel;
    if ('file' in reply) {
      assert(compiled.servesFile, `a file of ${compiled.route.path}, which declares none`);
      serveFile(exchange, reply, {
        corsHeaders,
        streams,
        isDraining,
        files: kernel.files,
        refuse: (error) => fail(call, error),
        log: (error) => logFailure(kernel, exchange, error),
      });
    } else sendReply(exchange, reply, { corsHeaders, streams, isDraining });
  } catch (error) {
    fail(call, error);
  }
}

function fail<Access, Caller, Services>(
  call: Call<Access, Caller, Services>,
  error: unknown,
): void {
  failExchange(call.kernel, call.compiled, call.exchange, error);
}

function failExchange<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  compiled: CompiledRoute<Access, Caller, Services>,
  exchange: HttpExchange,
  error: unknown,
): void {
  const { route } = compiled;
  const problem = problemOf(kernel, exchange, error);
  const cors = kernel.cors.replyHeaders(route.cors, originOf(compiled, exchange));
  sendProblem(kernel, exchange, route, cors, problem);
}

/** Only `web` routes answer differently to different origins. */
function originOf<Access, Caller, Services>(
  compiled: CompiledRoute<Access, Caller, Services>,
  exchange: HttpExchange,
): string | undefined {
  return compiled.route.cors === 'web' ? exchange.header('origin') : undefined;
}

/** Logs once what nobody expected; a client learns nothing of it but the request id. */
function problemOf<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  exchange: HttpExchange,
  error: unknown,
): Problem {
  if (!(error instanceof Problem)) {
    const explained = kernel.explain?.(error) ?? null;
    if (explained !== null) {
      logFailure(kernel, exchange, error);
      return explained;
    }
    kernel.logger.error(fieldsOf(exchange, error), 'request failed unexpectedly');
    return new Problem('internal');
  }
  if (error.status >= 500 && error.cause !== undefined) logFailure(kernel, exchange, error);
  return error;
}

function logFailure<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  exchange: HttpExchange,
  error: unknown,
): void {
  kernel.logger.warn(fieldsOf(exchange, error), 'request failed');
}

function fieldsOf(exchange: HttpExchange, error: unknown): Record<string, unknown> {
  return { requestId: exchange.requestId, route: exchange.routePath, err: error };
}

function sendProblem<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  exchange: HttpExchange,
  { path, refusals }: { path: string; refusals?: 'page' | undefined },
  corsHeaders: readonly HeaderPair[],
  problem: Problem,
): void {
  if (exchange.response === null) return;
  if (refusals === 'page' && wantsPage(exchange.header('accept') ?? '')) {
    sendPage(kernel, exchange, corsHeaders, problem);
    return;
  }
  const { status, headers, body } = kernel.renderProblem(path, problem, exchange.requestId);
  const context = { corsHeaders, streams: kernel.streams, isDraining: kernel.isDraining };
  sendReply(exchange, { status, json: body, headers }, context);
}

function sendPage<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  exchange: HttpExchange,
  corsHeaders: readonly HeaderPair[],
  problem: Problem,
): void {
  if (exchange.response === null) return;
  const { status, headers, html } = kernel.renderProblemPage(problem, exchange.requestId);
  const context = { corsHeaders, streams: kernel.streams, isDraining: kernel.isDraining };
  const mediaType = 'text/html; charset=utf-8';
  sendReply(exchange, { status, text: html, mediaType, headers }, context);
}

/** What is known of a path whose method, or which itself, has no route. */
interface RefusedPath {
  cors: CorsPolicy;
  routePath: string | null;
  refusals: 'page' | undefined;
}

/** Answers a request that no route takes. */
function refuse<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  { cors, routePath, refusals }: RefusedPath,
  problem: Problem,
  response: HttpResponse,
  request: HttpRequest,
): void {
  if (!readLines(request).isEndCertain) return void response.close();
  const method = request.getCaseSensitiveMethod();
  const exchange = new HttpExchange(kernel, noHeaders, method, routePath, response, request);
  kernel.opened();
  sendContinue(exchange, response, request.getHeader('expect'));
  const corsHeaders = kernel.cors.replyHeaders(cors, exchange.header('origin'));
  const path = routePath ?? exchange.path;
  sendProblem(kernel, exchange, { path, refusals }, corsHeaders, problem);
  exchange.leaveFirstTurn();
}

/** A preflight (Fetch standard, 4.8), or the plain question which methods there are. */
function answerOptions<Access, Caller, Services>(
  kernel: Kernel<Access, Caller, Services>,
  path: Pick<RefusedPath, 'cors' | 'routePath'>,
  allow: string,
  response: HttpResponse,
  request: HttpRequest,
): void {
  if (!readLines(request).isEndCertain) return void response.close();
  const { routePath, cors } = path;
  const exchange = new HttpExchange(kernel, noHeaders, 'OPTIONS', routePath, response, request);
  kernel.opened();
  const isPreflight = request.getHeader('access-control-request-method') !== '';
  const origin = exchange.header('origin');
  const headers = exchange.header('access-control-request-headers');
  const corsHeaders = isPreflight
    ? kernel.cors.preflightHeaders(cors, { origin, headers, methods: allow })
    : kernel.cors.replyHeaders(cors, origin);
  const context = { corsHeaders, streams: kernel.streams, isDraining: kernel.isDraining };
  sendReply(exchange, { status: 204, text: '', mediaType: '', headers: { allow } }, context);
  exchange.leaveFirstTurn();
}

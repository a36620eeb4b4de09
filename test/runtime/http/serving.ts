// A real server on a free loopback port for the kernel's tests, and the smallest clients for it.
import { connect } from 'node:net';
import * as v from 'valibot';
import { renderProblemPage } from '../../../routes/problem-page.ts';
import { renderProblem } from '../../../routes/problems.ts';
import type { Route, RouteDeclaration } from '../../../runtime/http/route.ts';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  type RequestSample,
} from '../../../runtime/http/server.ts';

export type TestRoute = Route<string, string, null>;
type Schema = v.GenericSchema;

/** A route with the members that a test does not care about filled in. */
export function testRoute<
  Q extends Schema | undefined = undefined,
  P extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(
  declared: Pick<RouteDeclaration<string, string, null, Q, P, B>, 'path' | 'handle'> &
    Partial<RouteDeclaration<string, string, null, Q, P, B>>,
): TestRoute {
  const route = {
    method: 'GET',
    operationId: declared.path,
    summary: 'test',
    tag: 'test',
    documents: [],
    access: 'none',
    cors: 'public',
    replies: { 200: { description: 'fine' } },
    problems: [],
    ...declared,
  };
  return route as unknown as TestRoute;
}

export interface Serving {
  server: HttpServer;
  port: number;
  origin: string;
  samples: RequestSample[];
  logged: Record<string, unknown>[];
  stop(): Promise<void>;
}

/** Serves until `stop`; nothing is logged but remembered. */
export async function serve(
  routes: readonly TestRoute[],
  options: Partial<HttpServerOptions<string, string, null>> & { port?: number } = {},
): Promise<Serving> {
  const samples: RequestSample[] = [];
  const logged: Record<string, unknown>[] = [];
  const remember = (fields: Record<string, unknown>) => logged.push(fields);
  const { port: wanted = 0, ...given } = options;
  const server = createHttpServer<string, string, null>({
    routes,
    services: null,
    authorize: (access) => access,
    tenantOf: (caller) => caller,
    renderProblem,
    renderProblemPage,
    logger: { error: remember, warn: remember },
    onRequest: (sample) => samples.push(sample),
    webOrigin: 'https://web.example',
    exposedHeaders: ['x-request-id', 'retry-after'],
    trustedProxies: [],
    ...given,
  });
  const port = await server.listen('127.0.0.1', wanted);
  const origin = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await server.close(1000);
  };
  return { server, port, origin, samples, logged, stop };
}

/** Sends bytes on a socket of its own and resolves to everything that came until it closed. */
export function exchangeRaw(
  port: number,
  bytes: string | Buffer | readonly (string | Buffer)[],
  timeoutMs = 60_000,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    const text = () => Buffer.concat(received).toString('latin1');
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end after ${timeoutMs} ms: ${text()}`));
    }, timeoutMs);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(text());
    });
    const pieces = Array.isArray(bytes) ? bytes : [bytes];
    for (const piece of pieces) socket.write(piece);
  });
}

/** Waits until a condition holds; fails loudly when it does not in time. */
export async function until(condition: () => boolean, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`condition not met in ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The body schema that most tests use: a small chat request. */
export const chatSchema = v.strictObject({
  model: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  messages: v.pipe(
    v.array(
      v.strictObject({
        role: v.picklist(['system', 'user', 'assistant']),
        content: v.union([
          v.string(),
          v.array(v.strictObject({ type: v.literal('text'), text: v.string() })),
        ]),
      }),
    ),
    v.minLength(1),
  ),
  stream: v.optional(v.boolean()),
  temperature: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
});

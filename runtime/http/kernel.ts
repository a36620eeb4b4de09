// What the parts of the HTTP kernel share for each request: the application's services, and how its
// callers and problems are read and shown.
import type { Problem } from '../problem.ts';
import type { BodyReader } from './body.ts';
import type { Cors } from './cors.ts';
import type { ExchangeOwner } from './exchange.ts';
import type { FileTable } from './file/sending.ts';
import type { Exchange } from './route.ts';
import type { StreamTable } from './stream.ts';

export interface RenderedProblem {
  status: number;
  headers: Record<string, string>;
  /** Sent as JSON. */
  body: unknown;
}

export interface ProblemPage {
  status: number;
  headers: Record<string, string>;
  html: string;
}

/** The part of pino that the kernel uses. */
export interface HttpLogger {
  error(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface Kernel<Access, Caller, Services> extends ExchangeOwner {
  services: Services;
  /** Who is calling; throws a Problem. Called in the first turn, before the body is read. */
  authorize(access: Access, exchange: Exchange): Caller | Promise<Caller>;
  /** Who shares turns and room with the others; empty: nobody that is known. */
  tenantOf(caller: Caller): string;
  /** `path` is the path of the route, never an alias; the request's own where there is none. */
  renderProblem(path: string, problem: Problem, requestId: string): RenderedProblem;
  /** The same for routes whose refusals are pages. */
  renderProblemPage(problem: Problem, requestId: string): ProblemPage;
  /** What an error of a dependency means for the client; null: nobody expected it. */
  explain?: ((error: unknown) => Problem | null) | undefined;
  logger: HttpLogger;
  cors: Cors;
  bodies: BodyReader;
  streams: StreamTable;
  files: FileTable;
  isDraining: boolean;
  opened(): void;
  /** An upgraded connection ended, of which uWS tells nobody but its own handlers. */
  upgradedEnded(): void;
}

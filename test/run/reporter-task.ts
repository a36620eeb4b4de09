// Runs inside a process of tests. It writes each event of Node's test runner as a line of JSON at
// once, so that a process that dies has told what came before. Node wants a default export.
import { EventEmitter } from 'node:events';
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';

/** The pipe to the runner, beside the three usual ones. */
const PIPE = 3;

export interface Told {
  /** `file`: a file of a batch begins. `note`: what Node found wrong outside of any test. */
  type: 'file' | 'start' | 'pass' | 'fail' | 'note';
  name: string;
  nesting: number;
  ms: number;
  isSuite: boolean;
  /** The reason, empty when none is given; null when it ran. */
  skipped: string | null;
  error: string;
  /** The failure of subtests says nothing of its own. */
  failureType: string;
}

interface NodeEvent {
  type: string;
  data: {
    name?: string;
    nesting?: number;
    message?: string;
    skip?: string | boolean;
    details?: {
      duration_ms?: number;
      type?: string;
      error?: Error & { failureType?: string };
    };
  };
}

/** Emits `file` with whether it passed, when the outermost test or suite of this process ends. */
export const outermost = new EventEmitter<{ end: [passed: boolean] }>();

const NOTHING: Told = {
  type: 'note',
  name: '',
  nesting: 0,
  ms: 0,
  isSuite: false,
  skipped: null,
  error: '',
  failureType: '',
};

export function tell(told: Partial<Told>): void {
  const bytes = Buffer.from(`${JSON.stringify({ ...NOTHING, ...told })}\n`);
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(PIPE, bytes, sent);
}

/** The error that the test threw, without Node's wrapping around it. */
function describe(error: Error | undefined): string {
  if (error === undefined) return '';
  const cause = error.cause instanceof Error ? error.cause : error;
  const text = error.cause === undefined || error.cause instanceof Error ? cause.stack : undefined;
  return text ?? inspect(error.cause);
}

const TYPES: Record<string, Told['type']> = {
  'test:dequeue': 'start',
  'test:pass': 'pass',
  'test:fail': 'fail',
};

function toldOf({ type, data }: NodeEvent): Partial<Told> | null {
  const { name = '', nesting = 0, message = '', skip, details } = data;
  // Node's sums are notes as well; those of errors begin so.
  if (type === 'test:diagnostic')
    return /^(Error|Warning): /.test(message) ? { error: message } : null;
  const known = TYPES[type];
  if (known === undefined) return null;
  const { error } = details ?? {};
  return {
    type: known,
    name,
    nesting,
    ms: details?.duration_ms ?? 0,
    isSuite: details?.type === 'suite',
    skipped: skip === undefined || skip === false ? null : skip === true ? '' : skip,
    error: describe(error),
    failureType: error?.failureType ?? '',
  };
}

/** For the standard output it has nothing: what is read here goes through the pipe. */
export default async function* report(source: AsyncIterable<NodeEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    const told = toldOf(event);
    if (told === null) continue;
    tell(told);
    if (told.nesting === 0 && told.type !== 'start' && told.type !== undefined) {
      outermost.emit('end', told.type === 'pass');
    }
  }
  yield '';
}

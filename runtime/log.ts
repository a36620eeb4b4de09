// One JSON line per event on standard output, from every thread and process alike.
// Whatever looks like a credential is cut out of the finished line, wherever it stood.
import pino from 'pino';

export type Logger = pino.Logger;
type Level = pino.LevelWithSilent;

export interface LogOptions {
  level: Level;
  /** Fields of every line, such as the process role and the shard. */
  base: Record<string, unknown>;
  /**
   * True writes each line before going on: for a process that may be killed at any moment and
   * logs little. False buffers a little and drops lines when the reader is too slow.
   */
  sync: boolean;
}

/** Waiting lines of one thread; above it lines are dropped, never memory. */
const BUFFER_BYTES_MAX = 1_048_576;

const redactedPaths = ['authorization', 'apiKey', 'api_key', 'token', 'secret', 'password'].flatMap(
  (name) => [name, `*.${name}`, `headers["x-api-key"]`],
);

/** Our keys, bearer and basic credentials, the usual `sk-` keys, passwords in addresses. */
const kinds = [
  ...['svc_(?:live|test)_', 'sk-(?:ant-|proj-)?', '(?:Bearer|Basic) '],
  // A port stands where a password may.
  '://[^\\s:/@"]*:(?!\\d{1,5}(?:[/?#\\s"\\\\]|$))',
];
const credential = new RegExp(`\\b(${kinds.join('|')})[^\\s"'\\\\@,;]{6,}`, 'gi');

/** The line without credentials; their kind stays readable. */
export function redact(line: string): string {
  return line.replace(credential, '$1[redacted]');
}

/** A reader that is slow is waited for, 100 ms a time; one that is stuck must not hold us up. */
const READER_TRIES_MAX = 3;

/** A logger for this thread. Children carry `request_id`, `account_id` and the like. */
export function createLog(options: LogOptions): Logger {
  let tries = 0;
  let isLast = false;
  const destination = pino.destination({
    fd: 1,
    sync: options.sync,
    minLength: 0,
    maxLength: BUFFER_BYTES_MAX,
    // Between two tries the thread stands still, but where a later turn may do.
    retryEAGAIN: () => {
      tries += 1;
      return tries <= READER_TRIES_MAX || !(options.sync || isLast);
    },
  });
  destination.on('write', (written: number) => {
    if (written > 0) tries = 0;
  });
  // Called by pino when the process ends; what nobody has read by then is lost.
  const flush = destination.flushSync.bind(destination);
  destination.flushSync = () => {
    isLast = true;
    try {
      flush();
    } catch {
      // A stack on standard error would help nobody.
    }
  };
  // A reader that went away must not take the process with it.
  destination.on('error', () => undefined);
  return pino(
    {
      level: options.level,
      base: options.base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...new Set(redactedPaths)], censor: '[redacted]' },
      hooks: { streamWrite: redact },
    },
    destination,
  );
}

// Which errors are alike: of one platform, with one name and code, a message that differs in what
// varies alone, and the same three frames. Pure.
import { createHash } from 'node:crypto';

export interface Faulty {
  platform: string | null;
  errorName: string | null;
  errorCode: string | null;
  message: string;
  stackTrace: string | null;
}

export interface ErrorIdentity {
  /** 32 hex characters. */
  fingerprint: string;
  frames: string[];
}

const framesMax = 3;
const linesMax = 200;
const frameLengthMax = 200;
const normalizedMax = 300;

export function identityOf(faulty: Faulty): ErrorIdentity {
  const { platform, errorName, errorCode, message, stackTrace } = faulty;
  const frames = stackTrace === null ? [] : framesOf(stackTrace);
  const told = [platform, errorName, errorCode, normalizeMessage(message), ...frames];
  const digest = createHash('sha256').update(JSON.stringify(told)).digest('hex');
  return { fingerprint: digest.slice(0, 32), frames };
}

/** A message without what is another one each time: quotes, URLs, paths, ids, numbers. */
export function normalizeMessage(message: string): string {
  return message
    .slice(0, 2_000)
    .replace(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>()]{1,2000}/gi, '<url>')
    .replace(/"[^"\n]{0,500}"|`[^`\n]{0,500}`|(?<!\w)'[^'\n]{0,500}'/g, '<text>')
    .replace(/(?:\b[A-Za-z]:)?(?:[\\/][\w.@~-]{1,100}){2,40}/g, '<path>')
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>')
    .replace(/\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b/gi, '<id>')
    .replace(/\d+(?:[.,]\d+)*/g, '<n>')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, normalizedMax);
}

/** The forms in which runtimes write a frame; the groups are the function and the file. */
const forms: readonly { pattern: RegExp; name: number; file: number }[] = [
  // V8: `at name (file:1:2)`, `at async file:1:2`.
  { pattern: /^\s*at (?:async )?(.{1,200}?) \((.{1,500}?)\)?$/, name: 1, file: 2 },
  { pattern: /^\s*at (?:async )?(\S{1,500})$/, name: 0, file: 1 },
  // Firefox and Safari: `name@file:1:2`.
  { pattern: /^\s*([^\s@]{0,200})@(\S{1,500})$/, name: 1, file: 2 },
  // Python: `File "file", line 3, in name`.
  { pattern: /^\s*File "([^"]{1,500})", line \d+(?:, in (.{1,200}))?$/, name: 2, file: 1 },
  // Swift and Objective-C: `3   Module   0x000000 name + 12`.
  { pattern: /^\s*\d+\s+(\S{1,200})\s+0x[0-9a-f]+ (.{1,200}?)(?: \+ \d+)?$/i, name: 2, file: 1 },
  // Go and others: `main.go:12 +0x1d`, without a name.
  { pattern: /^\s*()(\S{1,200}\.(?:go|rs|c|cc|cpp|swift|kt|dart):\d+)\b.*$/, name: 1, file: 2 },
];

/** The first three frames of a stack, each as function and file without place and version. */
export function framesOf(stackTrace: string): string[] {
  const frames: string[] = [];
  const lines = stackTrace.split('\n', linesMax);
  // Python has the newest call last.
  const ordered = /^Traceback \(/m.test(stackTrace) ? lines.reverse() : lines;
  for (const line of ordered) {
    const frame = frameOf(line.trimEnd());
    if (frame !== null) frames.push(frame);
    if (frames.length === framesMax) break;
  }
  return frames;
}

function frameOf(line: string): string | null {
  for (const { pattern, name, file } of forms) {
    const match = pattern.exec(line);
    if (match === null) continue;
    const called = name === 0 ? '' : (match[name] ?? '').trim();
    return `${called} ${fileOf(match[file] ?? '')}`.trim().slice(0, frameLengthMax);
  }
  return null;
}

/** The last part of a path, without line, query, and the hash that bundlers put into names. */
function fileOf(path: string): string {
  const bare = path.replace(/[?#].*$/, '').replace(/(?::\d+){1,2}$/, '');
  const last = bare.split(/[\\/]/).at(-1) ?? '';
  return last.replace(/[.-](?=[a-zA-Z]*\d)[0-9a-zA-Z]{6,64}(?=\.\w+$)/, '');
}

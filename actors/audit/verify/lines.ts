// The lines of an export as data. A line has the members of its type and no other, in one spelling.
// So no byte of a file can change unseen.
import { readBase64 } from '../note.ts';

export const exportFormat = 'svc.audit.export.v1';

export interface HeaderLine {
  type: 'header';
  format: typeof exportFormat;
  organization_id: number;
  origin: string;
  vkeys: string[];
  from_seq: number;
  to_seq: number;
  /** Hashes of the largest perfect subtrees before the first record, in base64. */
  left: string[];
}

export interface RecordLine {
  type: 'record';
  /** Canonical JSON, as it is hashed. */
  record: string;
  /** With the salt null: blanked. */
  details: Record<string, unknown> | null;
  /** In hex. */
  salt: string | null;
}

export interface AnchorLine extends Omit<RecordLine, 'type'> {
  type: 'anchor';
  /** Proves that the anchor's record is in the tree of the end. */
  proof: string[];
}

export interface CheckpointLine {
  type: 'checkpoint';
  note: string;
  /** To the tree of the end, for a size before the first record. */
  consistency?: string[];
}

export interface EndLine {
  type: 'end';
  /** Hashes of the largest perfect subtrees behind the last record. */
  right: string[];
  note: string;
}

export type ExportLine = HeaderLine | RecordLine | AnchorLine | CheckpointLine | EndLine;

type Test = (value: unknown) => boolean;
const isText: Test = (value) => typeof value === 'string';
const isNumber: Test = (value) => Number.isSafeInteger(value) && Number(value) > 0;
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText);
const isHash: Test = (value) => isText(value) && readBase64(String(value))?.length === 32;
const isHashes: Test = (value) => Array.isArray(value) && value.every(isHash);
const isSalt: Test = (value) => value === null || /^[0-9a-f]{32}$/.test(String(value));
const isDetails: Test = (value) => typeof value === 'object' && !Array.isArray(value);

const recordMembers: Readonly<Record<string, Test>> = {
  record: isText,
  details: isDetails,
  salt: isSalt,
};
const members: Readonly<Record<string, Readonly<Record<string, Test>>>> = {
  header: {
    format: (value) => value === exportFormat,
    organization_id: isNumber,
    origin: isText,
    vkeys: isTexts,
    from_seq: isNumber,
    to_seq: isNumber,
    left: isHashes,
  },
  record: recordMembers,
  anchor: { ...recordMembers, proof: isHashes },
  checkpoint: { note: isText, consistency: (value) => value === undefined || isHashes(value) },
  end: { right: isHashes, note: isText },
};

/** Null: it is no line of an export. */
export function readLine(text: string): ExportLine | null {
  let line: Record<string, unknown>;
  try {
    line = JSON.parse(text);
    if (JSON.stringify(line) !== text) return null;
  } catch {
    return null;
  }
  const known = typeof line?.type === 'string' ? members[line.type] : undefined;
  if (known === undefined) return null;
  const isWhole =
    Object.keys(line).every((name) => name === 'type' || Object.hasOwn(known, name)) &&
    Object.entries(known).every(([name, test]) => test(line[name]));
  return isWhole ? (line as unknown as ExportLine) : null;
}

export function writeLine(line: ExportLine): string {
  return `${JSON.stringify(line)}\n`;
}

export const encodeHashes = (hashes: readonly Buffer[]) =>
  hashes.map((hash) => hash.toString('base64'));
export const decodeHashes = (texts: readonly string[]) =>
  texts.map((text) => Buffer.from(text, 'base64'));

// The whole verification of an export, line by line, in bounded memory: every record by its link,
// the chain, the tree, the checkpoints. It needs the verifier key and nothing of ours.
import { detailsHash } from '../../db/organization-audit/details.ts';
import { canonicalJson } from '../../runtime/json/canonical.ts';
import { isConsistent, perfectSubtrees, rootOfInclusion } from './merkle.ts';
import { type NoteVerifier, type OpenedCheckpoint, openCheckpoint, readVkey } from './note.ts';
import { type AuditRecord, firstLink, linkOf, readAuditRecord } from './record.ts';
import { Chain } from './verify/chain.ts';
import {
  type AnchorLine,
  type CheckpointLine,
  decodeHashes,
  type EndLine,
  type HeaderLine,
  type RecordLine,
  readLine,
} from './verify/lines.ts';
import { Points } from './verify/points.ts';
import type { AuditReport, Fault, Verdict } from './verify/report.ts';

export interface VerifyOptions {
  /** Verifier keys that are trusted. */
  vkeys: readonly string[];
  /** Signed notes that were kept outside. */
  notes: readonly string[];
}

/** What an anchor says of what was pruned. */
interface Anchor {
  line: AnchorLine;
  record: AuditRecord;
  through: number;
  lastLink: Buffer;
  root: string;
}

/** A refusal of the whole: this is no export, or nobody can say anything of it. */
class Unusable extends Error {}

export class AuditVerifier {
  readonly #trusted: NoteVerifier[];
  readonly #notes: readonly string[];
  readonly #points = new Points();
  #outside: OpenedCheckpoint[] = [];
  #header: HeaderLine | null = null;
  #known: NoteVerifier[] = [];
  #chain = new Chain([]);
  #anchor: Anchor | null = null;
  #end: { line: EndLine; opened: OpenedCheckpoint | null } | null = null;
  #early: { opened: OpenedCheckpoint; proof: Buffer[] }[] = [];
  #integrity: Fault | null = null;
  #continuity: Fault | null = null;
  #unusable: string | null = null;
  #next = 1;
  #records = 0;
  #blanked = 0;

  constructor({ vkeys, notes }: VerifyOptions) {
    this.#notes = notes;
    this.#trusted = vkeys.map(readVkey).filter((each) => each !== null);
    if (vkeys.length === 0) this.#unusable = 'no verifier key was given';
    else if (this.#trusted.length < vkeys.length) this.#unusable = 'a verifier key is unreadable';
  }

  /** Nothing that follows can change the report. */
  get isOver(): boolean {
    const fault = this.#integrity ?? this.#continuity ?? this.#chain.fault;
    return this.#unusable !== null || fault !== null;
  }

  line(text: string): void {
    if (this.isOver) return;
    try {
      this.#take(text);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      this.#unusable = error.message;
    }
  }

  #take(text: string): void {
    const line = readLine(text);
    if (this.#header === null) {
      if (line?.type !== 'header') throw new Unusable('the file does not begin as an export does');
      this.#open(line);
    } else if (line === null || line.type === 'header') {
      this.#fault(`the line of the record ${this.#next} is damaged`, this.#next);
    } else if (this.#end !== null) {
      this.#fault('there is more behind the end', this.#next);
    } else if (line.type === 'record') this.#record(line, this.#header);
    else if (line.type === 'anchor') this.#takeAnchor(line, this.#header);
    else if (line.type === 'checkpoint') this.#checkpoint(line);
    else this.#takeEnd(line);
  }

  #fault(message: string, seq?: number): void {
    this.#integrity ??= seq === undefined ? { message } : { message, seq };
  }

  #open(header: HeaderLine): void {
    this.#header = header;
    const { origin, vkeys } = header;
    if (this.#trusted.some(({ name }) => name !== origin)) {
      throw new Unusable(`the verifier key is not of ${origin}`);
    }
    const told = vkeys.map(readVkey);
    if (told.some((each) => each === null || each.name !== origin)) {
      this.#fault('a verifier key of the header is damaged');
    }
    const isTold = (key: NoteVerifier) => vkeys.includes(key.vkey);
    this.#known = [
      ...this.#trusted.filter((key) => !isTold(key)),
      ...told.filter((each) => each !== null),
    ];
    this.#outside = this.#notes.map((note) => {
      const opened = openCheckpoint(note, this.#known);
      if (opened?.origin !== origin) throw new Unusable('a checkpoint from outside is not signed');
      return opened;
    });
    this.#next = header.from_seq;
    if (header.to_seq < header.from_seq) this.#fault('the range of the header is damaged');
    this.#begin(header, header.from_seq - 1);
  }

  /** The tree as it is before the first record. */
  #begin(header: HeaderLine, size: number): void {
    const hashes = decodeHashes(header.left);
    const places = perfectSubtrees(0, size);
    const subtrees = places.map(({ length }, at) => ({ hash: hashes[at] as Buffer, length }));
    // With an anchor, which comes next, it begins elsewhere.
    this.#chain = new Chain(places.length === hashes.length ? subtrees : []);
    this.#next = size + 1;
  }

  #takeAnchor(line: AnchorLine, header: HeaderLine): void {
    const record = readAuditRecord(line.record);
    const { pruned_through: through, last_link: link, root } = line.details ?? {};
    const isAnchor =
      this.#anchor === null &&
      this.#records === 0 &&
      record?.action === 'audit.anchor' &&
      record.org === header.organization_id &&
      hasItsDetails(line, record) &&
      Number.isSafeInteger(through) &&
      Number(through) >= header.from_seq &&
      Number(through) < record.seq;
    if (!isAnchor) {
      this.#continuity ??= { message: 'the anchor of what was pruned is damaged' };
      return;
    }
    const lastLink = Buffer.from(String(link), 'hex');
    this.#anchor = { line, record, through: Number(through), lastLink, root: String(root) };
    this.#begin(header, Number(through));
    if (this.#chain.size !== through || this.#chain.root().toString('base64') !== root) {
      this.#fault('what lies before the first record does not fit its anchor', this.#next);
    }
  }

  #record(line: RecordLine, header: HeaderLine): void {
    if (this.#records === 0 && this.#chain.size !== this.#next - 1) {
      this.#fault('the tree before the first record is damaged', this.#next);
      return;
    }
    const seq = this.#next;
    const record = readAuditRecord(line.record);
    if (record === null) {
      this.#fault(`the record ${seq} is damaged`, seq);
      return;
    }
    if (record.seq !== seq || record.org !== header.organization_id) {
      const message = `the record ${seq} is missing: ${record.seq} stands in its place`;
      this.#continuity ??= { message, seq };
      return;
    }
    if (line.details === null && line.salt === null) this.#blanked += 1;
    else if (!hasItsDetails(line, record)) {
      this.#fault(`the details of the record ${seq} were changed`, seq);
      return;
    }
    if (this.#records === 0) this.#expectOutside();
    const before = seq === 1 ? Buffer.from(firstLink, 'hex') : (this.#anchor?.lastLink ?? null);
    this.#chain.add(seq, linkOf(line.record), Buffer.from(record.prev, 'hex'), before);
    this.#next += 1;
    this.#records += 1;
    if (this.#points.isExpected(seq) && !this.#chain.isBroken) {
      this.#points.reached(seq, this.#chain.root());
    }
  }

  #expectOutside(): void {
    for (const opened of this.#outside) this.#expect(opened, true);
    const { size } = this.#chain;
    if (size > 0) this.#points.reached(size, this.#chain.root());
  }

  #expect({ size, root }: OpenedCheckpoint, isOutside: boolean): void {
    this.#points.expect({ size, root, isOutside });
  }

  #checkpoint({ note, consistency }: CheckpointLine): void {
    const opened = this.#openOwn(note);
    if (opened === null) {
      this.#fault(`a checkpoint at the record ${this.#next - 1} is damaged`, this.#next - 1);
    } else if (consistency !== undefined) {
      this.#early.push({ opened, proof: decodeHashes(consistency) });
    } else if (opened.size >= this.#next) {
      const message = `the record ${this.#next} is missing`;
      this.#continuity ??= { message, seq: this.#next };
    } else if (opened.size < this.#next - 1) {
      this.#fault(`the checkpoint of size ${opened.size} is not in its place`, opened.size);
    } else if (!this.#chain.isBroken) {
      this.#expect(opened, false);
      this.#points.reached(opened.size, this.#chain.root());
    }
  }

  /** A note of the export: every signature of it is of a key that the header tells. */
  #openOwn(note: string): OpenedCheckpoint | null {
    const opened = openCheckpoint(note, this.#known);
    const isOwn = opened?.origin === this.#header?.origin && opened?.unknown === 0;
    return isOwn ? opened : null;
  }

  #takeEnd(line: EndLine): void {
    const opened = this.#openOwn(line.note);
    const isTrusted = this.#trusted.some(({ keyHash }) => opened?.signedBy.includes(keyHash));
    this.#end = { line, opened };
    const to = this.#header?.to_seq ?? 0;
    if (this.#next !== to + 1) {
      const message = `the records ${this.#next} to ${to} are missing`;
      this.#continuity ??= { message, seq: this.#next };
    } else if (opened === null || !isTrusted) {
      this.#fault('the checkpoint of the end is not signed by the verifier key');
    }
  }

  finish(): AuditReport {
    const completeness = this.#complete();
    const chainFault = this.#chain.fault;
    const integrity = this.#integrity ?? chainFault ?? this.#points.rewritten() ?? 'ok';
    const continuity = this.#continuity ?? 'ok';
    const isFaulty = [integrity, continuity, completeness].some((each) => typeof each !== 'string');
    const header = this.#header;
    return {
      exit: this.#unusable !== null ? 2 : isFaulty ? 1 : 0,
      unusable: this.#unusable,
      organization_id: header?.organization_id ?? null,
      origin: header?.origin ?? null,
      records: this.#records,
      blanked: this.#blanked,
      from_seq: header?.from_seq ?? null,
      to_seq: header?.to_seq ?? null,
      size: this.#end?.opened?.size ?? null,
      integrity,
      continuity,
      completeness,
    };
  }

  /** The tree of the end: whether all that was told before lies in it. */
  #complete(): Verdict {
    if (this.#header === null) {
      this.#unusable ??= 'the file is empty';
      return 'unknown';
    }
    if (this.isOver) return 'unknown';
    const { opened, line } = this.#end ?? { opened: null, line: null };
    if (opened === null || line === null) {
      this.#chain.finish([], null);
      if (this.#chain.fault !== null) return 'unknown';
      return { message: `the export breaks off at the record ${this.#next}`, seq: this.#next };
    }
    const right = perfectSubtrees(this.#next - 1, opened.size);
    const hashes = decodeHashes(line.right);
    const subtrees = right.map(({ length }, at) => ({ hash: hashes[at] as Buffer, length }));
    if (right.length !== hashes.length || opened.size < this.#next - 1) {
      this.#fault('what lies behind the last record is damaged', this.#next);
      return 'unknown';
    }
    const root = this.#chain.finish(subtrees, opened.root);
    this.#points.judge({ ...opened, isOutside: false }, root.equals(opened.root));
    this.#points.reached(opened.size, root);
    this.#judgeEarly(opened);
    this.#judgeAnchor(opened);
    return this.#newest(opened);
  }

  #judgeEarly(end: OpenedCheckpoint): void {
    for (const { opened, proof } of this.#early) {
      const isGood = isConsistent(opened, end, proof);
      this.#points.judge({ ...opened, isOutside: false }, isGood);
      if (isGood) this.#points.reached(opened.size, opened.root);
    }
  }

  #judgeAnchor(end: OpenedCheckpoint): void {
    if (this.#anchor === null) return;
    const { line, record } = this.#anchor;
    const proof = decodeHashes(line.proof);
    const root = rootOfInclusion(linkOf(line.record), record.seq - 1, end.size, proof);
    if (root?.equals(end.root) === true) return;
    this.#continuity ??= {
      message: `the anchor ${record.seq} is not in the tree`,
      seq: record.seq,
    };
  }

  #newest({ size }: OpenedCheckpoint): Verdict {
    const waiting = this.#points.left();
    const newer = waiting.filter((point) => point.size > size);
    const newest = Math.max(0, ...newer.map((point) => point.size));
    if (newest > 0) {
      return {
        message: `the audit ends at ${size}, and a checkpoint of size ${newest} is known`,
        between: [size, newest],
      };
    }
    const [unseen] = waiting;
    if (unseen !== undefined && !this.#chain.isBroken) {
      this.#unusable = `the export says nothing of size ${unseen.size}: ask for checkpoint_size`;
    }
    const isWhole = this.#next - 1 === size && (this.#header?.from_seq === 1 || this.#anchor);
    return isWhole ? 'ok' : 'partial';
  }
}

function hasItsDetails({ details, salt }: Omit<RecordLine, 'type'>, record: AuditRecord): boolean {
  if (details === null || salt === null) return false;
  return detailsHash(Buffer.from(salt, 'hex'), canonicalJson(details)) === record.details;
}

// What a verification has found, as data and as sentences.

export interface Fault {
  message: string;
  /** The first bad record. */
  seq?: number;
  /** The sizes of the two checkpoints between which history was rewritten. */
  between?: [number, number];
}

/** `partial`: all is well with what was asked for, which is not the whole. */
export type Verdict = 'ok' | 'partial' | 'unknown' | Fault;

export interface AuditReport {
  /** 0: nothing is wrong; 1: a fault; 2: this cannot be verified. */
  exit: 0 | 1 | 2;
  /** Why it cannot be verified. */
  unusable: string | null;
  organization_id: number | null;
  origin: string | null;
  records: number;
  /** Records whose details were blanked. */
  blanked: number;
  from_seq: number | null;
  to_seq: number | null;
  /** The newest checkpoint has it. */
  size: number | null;
  integrity: Verdict;
  continuity: Verdict;
  completeness: Verdict;
}

export const limitation =
  'What came after the newest checkpoint that you keep outside is not protected from the operator.';

function verdictText(verdict: Verdict): string {
  if (typeof verdict === 'string') return verdict;
  return `FAULT: ${verdict.message}`;
}

export function reportText(report: AuditReport): string {
  if (report.unusable !== null) return `cannot be verified: ${report.unusable}\n`;
  const lines = [
    `organization ${report.organization_id}, ${report.origin}`,
    `records ${report.from_seq} to ${report.to_seq}: ${report.records} read, ` +
      `${report.blanked} with blanked details; newest checkpoint of size ${report.size}`,
    `integrity     ${verdictText(report.integrity)}`,
    `continuity    ${verdictText(report.continuity)}`,
    `completeness  ${verdictText(report.completeness)}`,
    limitation,
  ];
  return `${lines.join('\n')}\n`;
}

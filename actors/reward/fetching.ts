// Fetches the page of an evidence, by the guard. What it may not, or cannot now, is an outcome.
import type { OutboundReason } from '../../runtime/outbound/contract.ts';
import { outboundUses } from '../../runtime/outbound/uses.ts';
import type { Run } from './run.ts';

export type FetchedPage =
  /** `url`: where it came from, after all redirects. */
  | { status: 'page'; url: string; text: string; isHtml: boolean }
  /** The guard has a rule against the URL, or against where it leads. */
  | { status: 'refused' }
  /** It is there, and no text of this size. */
  | { status: 'unfit' }
  | { status: 'again' };

const statusOfReason: Readonly<Record<OutboundReason, 'refused' | 'unfit' | 'again'>> = {
  source_refused: 'refused',
  source_too_large: 'unfit',
  source_unreachable: 'again',
  timeout: 'again',
  aborted: 'again',
};

const htmlTypes: readonly (string | null)[] = ['text/html', 'application/xhtml+xml'];

export async function fetchPage({ row, deps, signal }: Run): Promise<FetchedPage> {
  const { evidenceUrl } = row;
  const headers = { accept: 'text/html, text/plain;q=0.9' };
  const answer = await deps.outbound.fetch(evidenceUrl, outboundUses.rewardPage, {
    signal,
    headers,
  });
  if (!answer.ok) return { status: statusOfReason[answer.reason] };
  const { status, type, url } = answer;
  const isHtml = htmlTypes.includes(type);
  if (status !== 200 || (!isHtml && type !== 'text/plain')) {
    answer.close();
    return { status: status === 200 ? 'unfit' : 'again' };
  }
  const body = await answer.bytes();
  if (!body.ok) return { status: statusOfReason[body.reason] };
  const label = charsetOf(answer.headers.get('content-type') ?? '', body.bytes, isHtml);
  return { status: 'page', url, text: decode(body.bytes, label), isHtml };
}

/** So far a page may say it itself (https://html.spec.whatwg.org/#charset). */
const sniffedBytes = 1_024;

function charsetOf(contentType: string, bytes: Buffer, isHtml: boolean): string {
  const told = /charset\s*=\s*"?([\w-]+)/i;
  const head = isHtml ? bytes.subarray(0, sniffedBytes).toString('latin1') : '';
  return told.exec(contentType)?.[1] ?? told.exec(head)?.[1] ?? 'utf-8';
}

function decode(bytes: Buffer, label: string): string {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // No such encoding is known.
    return new TextDecoder().decode(bytes);
  }
}

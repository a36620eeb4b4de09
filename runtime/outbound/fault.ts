// Why something was not fetched. A caller and its client see the reason; operators see the detail
// in the log, beside the host's name.
import type { OutboundReason, OutboundRefusal } from './contract.ts';

const messages: Record<OutboundReason, string> = {
  source_refused: 'This URL may not be fetched.',
  source_unreachable: 'The server of this URL could not be reached.',
  source_too_large: 'What this URL has is larger than allowed.',
  timeout: 'The server of this URL took too long.',
  aborted: 'The fetch was given up.',
};

/** Thrown where a body breaks off, and inside the guard; it crosses `fetch` as a refusal. */
export class OutboundFault extends Error {
  readonly reason: OutboundReason;
  /** For operators: which rule, without an address. */
  readonly detail: string;

  constructor(reason: OutboundReason, detail: string) {
    super(messages[reason]);
    this.reason = reason;
    this.detail = detail;
  }

  get refusal(): OutboundRefusal {
    return { ok: false, reason: this.reason, message: this.message };
  }
}

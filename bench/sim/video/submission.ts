// What all video families do alike with a submission that was read. It is noted, and refused or
// taken as it asks for. Its reply may get lost.
import type { SimExchange, SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import { sendReply } from '../generation.ts';
import { clipOf } from './clip.ts';
import type { VideoAsked, VideoJob } from './jobs.ts';

/** How one family words it. */
export interface SubmissionWording {
  newId(): string;
  accepted(job: VideoJob): SimReply;
  refuse(status: Refusal): SimReply;
  moderated(): SimReply;
  /** A submission under a key that is known is answered with its job. */
  honoursKeys: boolean;
}

export function serveSubmission(
  exchange: SimExchange,
  asked: VideoAsked,
  wording: SubmissionWording,
): void {
  exchange.begin(asked.model);
  const { videos } = exchange;
  const { base, submit } = asked.directive;
  const status = exchange.outageStatus ?? base.status;
  if (status !== 200) {
    videos.note(asked, 'refused', null);
    sendReply(exchange, wording.refuse(status), base.firstMs);
    return;
  }
  const known = wording.honoursKeys ? videos.underKey(asked) : null;
  if (known !== null) {
    videos.note(asked, 'repeated', known);
    sendReply(exchange, wording.accepted(known), base.firstMs);
    return;
  }
  const fault = submit !== null && videos.hitsSubmission(asked) ? submit : null;
  if (fault === '429' || fault === 'moderated_submit') {
    videos.note(asked, 'refused', null);
    sendReply(exchange, fault === '429' ? wording.refuse(429) : wording.moderated());
    return;
  }
  if (fault === 'cut_refused') {
    videos.note(asked, 'refused', null);
    exchange.leave('cut');
    return;
  }
  const job = videos.accept(asked, wording.newId());
  // It is made while the client waits for it.
  void clipOf(asked.clip);
  videos.note(asked, fault === null ? 'accepted' : 'cut', job);
  if (fault === 'cut_accepted') exchange.leave('cut');
  else if (fault === '500_accepted') sendReply(exchange, wording.refuse(500));
  else sendReply(exchange, wording.accepted(job), base.firstMs);
}

// What video jobs offer to routes.
import type { BlobStore } from '../../media/blobs/contract.ts';
import type { ActorRef, Answer } from '../../runtime/actor/contract.ts';
import type { CreationDeps } from './create.ts';
import type { VideoLimits } from './limits.ts';
import type { EndReply, VideoJobProtocol } from './protocol.ts';

export interface VideoServices {
  creation: CreationDeps;
  /** The actor of a job, on whichever shard. */
  job(id: string): ActorRef<VideoJobProtocol>;
  blobs: BlobStore;
  limits: VideoLimits;
}

const triesMax = 5;

/** Cancels a job that nobody has submitted. */
export function cancelVideoJob(services: VideoServices, id: string): Promise<EndReply> {
  return repeated((ref) => ref.ask('cancel', null, services.limits.endMs), services.job(id));
}

/** Ends a job that is not over. `accountId` is the administrator's. */
export function failVideoJob(
  services: VideoServices,
  id: string,
  request: { reason: string; accountId: string },
): Promise<EndReply> {
  return repeated((ref) => ref.ask('fail', request, services.limits.endMs), services.job(id));
}

/** An actor whose work has just ended stops with what waits for it: another one answers. */
async function repeated(
  ask: (ref: ActorRef<VideoJobProtocol>) => Promise<Answer<EndReply>>,
  ref: ActorRef<VideoJobProtocol>,
): Promise<EndReply> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask(ref);
    if (answer.ok) return answer.value;
    if (answer.reason !== 'stopped' || tries === triesMax) return 'unavailable';
  }
}

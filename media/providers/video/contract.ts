// What a family of video providers is: how a job is submitted, asked for and fetched there, and
// what each reply means. Pure. The words of a provider never leave a family.
import type { VideoSettings } from '../../model/video.ts';
import type { UpstreamTarget } from '../generation/contract.ts';

/** A provider's route with what only video needs to know of the provider. */
export interface VideoTarget extends UpstreamTarget {
  /** Patterns of hosts that its files come from, beside its own host. */
  mediaHosts: readonly string[];
  /** Jobs that it may have at once. */
  jobsMax: number;
  /** `list`: submissions can be looked up. `key`: they may be repeated under the job's id. */
  idempotency: 'none' | 'list' | 'key';
}

export interface VideoCall {
  method: 'GET' | 'POST';
  /** Absolute; on the target's own origin. */
  url: string;
  headers: Record<string, string>;
  /** Empty for GET. */
  body: string;
}

/** A reply as it came; `body` is at most 256 KiB of it. */
export interface VideoReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What a reply to a submission means (section 3 of the contract). */
export type Submitted =
  | { kind: 'accepted'; upstreamId: string }
  /** Nothing was made, for certain: another try or another candidate may be had. */
  | { kind: 'refused'; fault: 'down' | 'busy'; retryAfterMs: number | null }
  /** Nothing was made, and nobody else is asked. */
  | { kind: 'final'; code: 'provider_rejected' | 'moderation_blocked' }
  /** A job may exist there. */
  | { kind: 'unknown' };

export interface VideoUsage {
  completionTokens: number;
  totalTokens: number;
}

/** Where a finished video is. */
export interface VideoFile {
  url: string;
  /** Sent to the origin of the target alone, and never to where a redirect leads. */
  credentials: Record<string, string>;
}

/** What a reply to a poll means. */
export type Polled =
  /** From 0 to 100; null: it was not said. */
  | { kind: 'running'; progress: number | null }
  | {
      kind: 'done';
      file: VideoFile;
      usage: VideoUsage | null;
      /** In ten-billionths of a dollar; null: it was not said. */
      costTicks: number | null;
    }
  | {
      kind: 'failed';
      code: 'moderation_blocked' | 'provider_failed' | 'provider_rejected';
      costTicks: number | null;
    }
  /** It knows no such job (404, 410). */
  | { kind: 'lost' }
  /** The record's credential is not taken (401, 403). */
  | { kind: 'denied' }
  /** Everything else says nothing about the job. */
  | { kind: 'unclear'; retryAfterMs: number | null };

/** A job in a provider's list. */
export interface ListedVideo {
  upstreamId: string;
  createdAtMs: number;
  /** It has the model, prompt, seconds and size of what was submitted. */
  matches: boolean;
}

export interface VideoFamily {
  readonly name: string;
  /** Between two polls. */
  readonly pollMs: number;
  /** Settings that the format has no member for are left out: abilities were asked before. */
  encodeSubmit(settings: VideoSettings, target: VideoTarget, jobId: string): VideoCall;
  readSubmit(reply: VideoReply): Submitted;
  encodePoll(upstreamId: string, target: VideoTarget): VideoCall;
  readPoll(reply: VideoReply, upstreamId: string, target: VideoTarget): Polled;
  /** The look-up of a submission whose reply was lost; null: the format has none. */
  readonly list: {
    /** Its newest page. */
    encode(target: VideoTarget): VideoCall;
    /** Null: not what was expected. */
    read(
      reply: VideoReply,
      settings: VideoSettings,
      target: VideoTarget,
    ): readonly ListedVideo[] | null;
  } | null;
}

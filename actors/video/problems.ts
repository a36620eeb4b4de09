// Why a job ended, in our words: what is told of a provider is its kind of failure and no more.

export const jobErrors = {
  moderation_blocked: 'The video was refused by content moderation.',
  provider_rejected: 'The request cannot be fulfilled by the model.',
  provider_failed: 'The video could not be made.',
  provider_timeout: 'The video was not finished in time.',
  provider_lost: 'The video was lost while it was made.',
  submission_unknown:
    'It is not known whether the request was taken, so it is not made again. Nothing is charged.',
  queue_timeout: 'The job waited too long for its turn.',
  no_route_available: 'No model can make this video now.',
  download_failed: 'The finished video could not be fetched.',
  invalid_media: 'What was made is not the video that was asked for.',
  storage_failed: 'The finished video could not be stored.',
  operator_failed: 'The job was ended by an administrator.',
  account_disabled: 'The account was disabled before the job began.',
  internal: 'The job was ended by an internal error.',
} as const;

export type JobError = keyof typeof jobErrors;

/** The sentence of a code; an unknown one is of a newer build. */
export function messageOf(code: string): string {
  return Object.hasOwn(jobErrors, code) ? jobErrors[code as JobError] : jobErrors.internal;
}

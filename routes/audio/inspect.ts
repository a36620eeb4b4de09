// What an uploaded recording really is, asked of the pool: the file lies in a private folder while
// programs read it, and the pool has a bounded queue of its own.
import { audioLimits } from '../../actors/audio/limits.ts';
import { ScratchFault, withScratchFile } from '../../media/blobs/private-file.ts';
import type { InspectAudioInput, InspectedAudio } from '../../media/tasks/inspect-audio.ts';
import type { UploadedFile } from '../../runtime/http/route.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

const { secondsMax, inspectTimeoutMs, decodeTimeoutMs: timeoutMs } = audioLimits;
/** The answer of a task that just made it is still on its way. */
const askTimeoutMs = inspectTimeoutMs + 1_000;

export type GoodRecording = Extract<InspectedAudio, { status: 'good' }>;

/** @throws Problem unprocessable_media, input_too_long, overloaded, dependency_unavailable */
export async function inspectRecording(
  { audio, log }: Pick<Services, 'audio' | 'log'>,
  accountId: string,
  { bytes, filename, mediaType }: UploadedFile,
): Promise<GoodRecording> {
  const tasks = audio.tasks();
  const name = newId('req', audio.system.node);
  const answer = await withScratchFile(audio.scratchFolder, name, bytes, (path) => {
    const payload: Omit<InspectAudioInput, 'tools'> = {
      path,
      filename,
      mediaType,
      secondsMax,
      timeoutMs,
    };
    return tasks.ask('run', { name: 'inspect-audio', payload, accountId }, askTimeoutMs);
  }).catch((error: unknown) => {
    if (!(error instanceof ScratchFault)) throw error;
    log.error({ err: error.cause }, 'a recording cannot be written in TOLLGATE_DATA');
    throw new Problem('dependency_unavailable');
  });
  if (!answer.ok) throw busy();
  if (!answer.value.ok) {
    // Also when it is late: the programs have a bound of CPU time, below the task's, which tells a
    // file that never ends; what is late beside it waited for its turn.
    throw answer.value.refused === 'failed' ? new Problem('dependency_unavailable') : busy();
  }
  const inspected = answer.value.value as InspectedAudio;
  switch (inspected.status) {
    case 'good':
      return inspected;
    case 'unprocessable':
      throw unprocessable(inspected.message);
    case 'late':
      throw busy();
    case 'too_long':
      throw new Problem('input_too_long', {
        message: `The recording is longer than ${secondsMax} seconds.`,
        param: 'file',
      });
  }
}

function unprocessable(message: string): Problem {
  return new Problem('unprocessable_media', { message, param: 'file' });
}

function busy(): Problem {
  return new Problem('overloaded', {
    message: 'Too many recordings are being looked at. Try again shortly.',
    headers: { 'retry-after': '2' },
  });
}

// Recordings as POST {base}/audio/transcriptions takes them (multipart, RFC 7578), and its JSON
// reply. The file's name is ours: that of the client is nobody's business.
import { randomUUID } from 'node:crypto';
import { containers } from '../../../audio/container.ts';
import type { Transcript, TranscriptionRequest } from '../../../model/audio.ts';
import { isMembers } from '../../../transport/members.ts';
import type { UpstreamTarget } from '../../generation/contract.ts';
import type { AudioCall } from '../contract.ts';
import { credentialOf } from './speech.ts';

export function encodeTranscription(
  request: TranscriptionRequest,
  target: UpstreamTarget,
): AudioCall {
  const boundary = `tollgate-${randomUUID()}`;
  const { filename, mediaType } = containers[request.container];
  const fields = [
    ['model', target.upstreamModel],
    ['response_format', 'json'],
    ...(request.language === null ? [] : [['language', request.language]]),
  ].map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file =
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\n` +
    `content-type: ${mediaType}\r\n\r\n`;
  const body = [
    Buffer.from(fields.join('') + file),
    request.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ];
  return {
    url: `${target.baseUrl}/audio/transcriptions`,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(body.reduce((sum, { length }) => sum + length, 0)),
      accept: 'application/json',
      ...credentialOf(target),
    },
    body,
  };
}

/** `usage` may be of type `tokens`: that says nothing of the length. */
export function readTranscript(body: string): Transcript | null {
  let reply: unknown;
  try {
    reply = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isMembers(reply) || typeof reply.text !== 'string') return null;
  const { usage } = reply;
  const seconds = isMembers(usage) && usage.type === 'duration' ? usage.seconds : null;
  const isLength = typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0;
  return { text: reply.text, seconds: isLength ? seconds : null };
}

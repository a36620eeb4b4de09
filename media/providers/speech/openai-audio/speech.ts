// Speech requests as POST {base}/audio/speech takes them. The reply is the audio, without usage.
import type { SpeechRequest } from '../../../model/audio.ts';
import type { UpstreamTarget } from '../../generation/contract.ts';
import type { AudioCall } from '../contract.ts';

export function encodeSpeech(
  request: SpeechRequest,
  voice: string,
  target: UpstreamTarget,
): AudioCall {
  const { input, instructions, format, speed } = request;
  const body = Buffer.from(
    JSON.stringify({
      model: target.upstreamModel,
      input,
      voice,
      response_format: format,
      ...(instructions === null ? {} : { instructions }),
      ...(speed === null ? {} : { speed }),
    }),
  );
  return {
    url: `${target.baseUrl}/audio/speech`,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      accept: 'application/octet-stream',
      ...credentialOf(target),
    },
    body: [body],
  };
}

export function credentialOf({ apiKey }: UpstreamTarget): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

// Reads a submission in the format of OpenAI's videos: multipart, or JSON as some servers take it.
import { getParts } from 'uWebSockets.js';
import { type ChatError, invalidRequest, unknownModel } from '../chat/failure.ts';
import { isMembers } from '../members.ts';
import { parseVideoDirective } from '../video/directive.ts';
import type { VideoAsked } from '../video/jobs.ts';

/** Ids with another name and length than any public alias. */
export const videosModels: readonly string[] = ['sim-videos-2026'];

const secondsMax = 30;
const sideMax = 4_096;

export function readVideosRequest(
  body: unknown,
  contentType: string,
  idempotencyKey: string,
): VideoAsked | { error: ChatError } {
  const fields = Buffer.isBuffer(body) ? fieldsOf(body, contentType) : null;
  if (fields === null) return { error: invalidRequest('Could not parse the body', null) };
  const { model = '', prompt = '', seconds = '4', size = '720x1280', seed } = fields;
  if (!videosModels.includes(model)) return { error: unknownModel(model) };
  if (prompt === '') return { error: invalidRequest('prompt is required', 'prompt') };
  if (!/^[1-9]\d?$/.test(seconds) || Number(seconds) > secondsMax) {
    return { error: invalidRequest(`Invalid value: '${seconds}'.`, 'seconds') };
  }
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(size) ?? [];
  if (!isSide(width) || !isSide(height)) {
    return { error: invalidRequest(`Invalid value: '${size}'.`, 'size') };
  }
  if (seed !== undefined && !/^\d{1,10}$/.test(seed)) {
    return { error: invalidRequest(`Invalid value: '${seed}'.`, 'seed') };
  }
  const clip = {
    seconds: Number(seconds),
    width: Number(width),
    height: Number(height),
    sound: fields.generate_sound === 'true',
  };
  const directive = parseVideoDirective(prompt);
  return { family: 'videos', model, prompt, clip, directive, idempotencyKey };
}

/** The encoder takes no odd sides. */
function isSide(side: string | undefined): boolean {
  return Number(side) >= 64 && Number(side) <= sideMax && Number(side) % 2 === 0;
}

function fieldsOf(body: Buffer, contentType: string): Record<string, string> | null {
  const parts = getParts(body, contentType);
  if (parts !== undefined) {
    const read = parts.map(({ name, data }) => [name, Buffer.from(data).toString()]);
    return Object.fromEntries(read);
  }
  try {
    const json: unknown = JSON.parse(body.toString());
    if (!isMembers(json)) return null;
    return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, String(value)]));
  } catch {
    return null;
  }
}

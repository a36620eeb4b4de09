// Debian's Chromium for tests of pages, with a microphone that plays a file. Absent: a reason to
// skip, which the runner prints.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)];
const names = ['chromium', 'chromium-browser', 'google-chrome'];

const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync);

/** Why tests in a browser cannot run here; false: they can. */
export const noChromium =
  found === undefined ? 'no Chromium here: apt-get install chromium' : false;

/** Starts the browser; its microphone needs no consent and repeats this file for ever. */
export async function openChromium(wavPath: string): Promise<Browser> {
  if (found === undefined) throw new Error('tests without a browser are skipped');
  return await chromium.launch({
    executablePath: found,
    args: [
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${wavPath}`,
    ],
  });
}

/** Writes a WAV file (48 kHz, mono) with a tone and then silence. */
export async function writeTone(
  path: string,
  tone: { hz: number; toneSeconds: number; silenceSeconds: number },
): Promise<void> {
  const rateHz = 48_000;
  const samples = Math.round(rateHz * (tone.toneSeconds + tone.silenceSeconds));
  const bytes = Buffer.alloc(44 + samples * 2);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + samples * 2, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rateHz, 24);
  bytes.writeUInt32LE(rateHz * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples * 2, 40);
  for (let index = 0; index < rateHz * tone.toneSeconds; index++) {
    const sample = 9_000 * Math.sin((2 * Math.PI * tone.hz * index) / rateHz);
    bytes.writeInt16LE(Math.round(sample), 44 + index * 2);
  }
  await writeFile(path, bytes);
}

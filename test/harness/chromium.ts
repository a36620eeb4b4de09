// Debian's Chromium for tests of pages, if asked for with a microphone that plays a file. The
// headless shell comes first: it is the same engine without windows, for half the CPU. Absent:
// a reason to skip, which the runner prints.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { tonePcm } from '../../bench/sim/sound/tone.ts';
import { wavHeader } from '../../bench/sim/sound/wav.ts';

const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)];
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);

/** Why tests in a browser cannot run here; false: they can. */
export const noChromium =
  found === undefined ? 'no Chromium here: apt-get install chromium' : false;

/** Starts the browser; its microphone, if any, needs no consent and repeats a file for ever. */
export async function openChromium(wavPath?: string): Promise<Browser> {
  if (found === undefined) throw new Error('tests without a browser are skipped');
  const microphone = [
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-audio-capture=${wavPath}`,
  ];
  return await chromium.launch({
    executablePath: found,
    args: ['--no-sandbox', ...(wavPath === undefined ? [] : microphone)],
  });
}

/** Writes a WAV file (48 kHz, mono) with a tone and then silence. */
export async function writeTone(
  path: string,
  tone: { hz: number; toneSeconds: number; silenceSeconds: number },
): Promise<void> {
  const rateHz = 48_000;
  const sound = tonePcm(tone.hz, Math.round(rateHz * tone.toneSeconds), rateHz);
  const silence = Buffer.alloc(Math.round(rateHz * tone.silenceSeconds) * 2);
  const header = wavHeader(rateHz, sound.length + silence.length);
  await writeFile(path, Buffer.concat([header, sound, silence]));
}

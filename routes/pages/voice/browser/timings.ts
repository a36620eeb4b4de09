// What the page measures of a conversation: how long an answer takes from the last word to its
// first sound, how fast a barge-in is heard, what waits to be played. Pure: times are given.

export interface Reading {
  atMs: number;
  bufferedMs: number;
}

export interface Answer {
  atMs: number;
  latencyMs: number;
}

/** Louder than this is somebody speaking. */
const VOICE_LEVEL = 0.02;
/** What the graph shows. */
export const SPAN_MS = 30_000;

export class Timings {
  /** Of the graph's span, oldest first. */
  readings: Reading[] = [];
  answers: Answer[] = [];
  /** Of the last barge-in by button: until the output was silent. */
  silencedMs: number | null = null;
  underruns = 0;
  #voiceMs: number | null = null;
  #wasPlaying = false;
  #bargedMs: number | null = null;

  heardUser(atMs: number, level: number): void {
    if (level > VOICE_LEVEL) this.#voiceMs = atMs;
  }

  bargedIn(atMs: number): void {
    if (this.#wasPlaying) this.#bargedMs = atMs;
  }

  /** `deviceMs`: what the audio device adds before a sound is heard. */
  played(
    atMs: number,
    report: { bufferedMs: number; isPlaying: boolean; level: number; underruns: number },
    deviceMs: number,
  ): void {
    this.underruns = report.underruns;
    this.readings.push({ atMs, bufferedMs: report.bufferedMs });
    const oldestMs = atMs - SPAN_MS;
    while ((this.readings[0]?.atMs ?? atMs) < oldestMs) this.readings.shift();
    while ((this.answers[0]?.atMs ?? atMs) < oldestMs) this.answers.shift();
    if (this.#bargedMs !== null && report.level < VOICE_LEVEL) {
      this.silencedMs = atMs - this.#bargedMs;
      this.#bargedMs = null;
    }
    if (report.isPlaying && !this.#wasPlaying && this.#voiceMs !== null) {
      this.answers.push({ atMs, latencyMs: atMs - this.#voiceMs + deviceMs });
      this.#voiceMs = null;
    }
    this.#wasPlaying = report.isPlaying;
  }
}

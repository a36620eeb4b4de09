// All voice sessions of a shard: how many there may be, the one clock that paces their sound and
// watches their deadlines, and the checkpoints of what they used. No session has its own timer.
import type { SessionCheckpoint } from '../../db/voice/sessions.ts';
import { awakeMs, stoodStillMs } from '../../runtime/awake.ts';
import type { Logger } from '../../runtime/log.ts';
import type { EndReason } from './events.ts';
import { voiceLimits } from './limits.ts';
import type { VoiceSpec } from './spec.ts';
import type { VoiceSession } from './state.ts';

export interface VoiceCounters {
  /** Frames of clients, and those of them that were dropped. */
  framesIn: number;
  framesDropped: number;
  messagesOut: number;
  bargeIns: number;
  /** Calls that the clock made late, and the most that a client was behind. */
  lagMs: number;
}

export interface VoiceHostOptions {
  sessionsMax: number;
  /** Paces one session's sound; false: it is quiet and need not be asked again. */
  pace(session: VoiceSession, nowMs: number): boolean;
  /** Looks at one session's deadlines. */
  watch(session: VoiceSession, nowMs: number): void;
  /** The thread stood still for so long. */
  stoodStill(session: VoiceSession, forMs: number, nowMs: number): void;
  /** Ends a session that threw. */
  fault(session: VoiceSession, error: unknown): void;
  /** Resolves with those whose rows have not ended; false: not written, to be tried again. */
  checkpoint(rows: readonly SessionCheckpoint[]): Promise<ReadonlyMap<string, boolean>>;
  /** Others have ended its row, and its hold with it. */
  lost(session: VoiceSession): void;
  log: Logger;
}

export class VoiceHost {
  readonly counters: VoiceCounters = {
    framesIn: 0,
    framesDropped: 0,
    messagesOut: 0,
    bargeIns: 0,
    lagMs: 0,
  };
  readonly #options: VoiceHostOptions;
  readonly #sessions = new Map<string, VoiceSession>();
  readonly #audible = new Set<VoiceSession>();
  #admitted = 0;
  /** The shard ends: who comes now would hear of it last. */
  #isEnding = false;
  #isWriting = false;
  #stoodMs = 0;
  #lastWatchMs = 0;
  #lastCheckpointMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(options: VoiceHostOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), voiceLimits.tickMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  get isFull(): boolean {
    return this.#isEnding || this.#admitted >= this.#options.sessionsMax;
  }

  /** Takes a permit, at once; false: all are taken. */
  admit(): boolean {
    if (this.isFull) return false;
    this.#admitted += 1;
    return true;
  }

  /** Gives a permit back. */
  leave(): void {
    this.#admitted -= 1;
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  add(session: VoiceSession): void {
    this.#sessions.set(session.spec.id, session);
  }

  remove(session: VoiceSession): void {
    this.#sessions.delete(session.spec.id);
    this.#audible.delete(session);
  }

  /** Its sound waits to be sent, or is being played. */
  pace(session: VoiceSession): void {
    this.#audible.add(session);
  }

  /**
   * Ends every session; each tells its client and settles in its own time. A handshake that still
   * waits for its caller would begin one that nobody ends: there is no permit for it any more.
   */
  finishAll(reason: EndReason): void {
    this.#isEnding = true;
    for (const session of [...this.#sessions.values()]) session.self.tell('finish', reason);
  }

  /** Ends the sessions of a key that was revoked, or of an account that was disabled. */
  withdraw(isTheirs: (spec: VoiceSpec) => boolean): void {
    for (const { spec, self } of [...this.#sessions.values()]) {
      if (isTheirs(spec)) self.tell('withdraw', null);
    }
  }

  giveUpAll(): void {
    for (const session of [...this.#sessions.values()]) session.self.tell('giveUp', null);
  }

  /** Writes what live sessions have used; resolves when all of it is durable or was refused. */
  async checkpoint(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const dirty = [...this.#sessions.values()].filter(
      ({ funds, phase }) => funds.dirty && phase !== 'over' && funds.state === 'held',
    );
    for (let from = 0; from < dirty.length; from += voiceLimits.checkpointRowsMax) {
      await this.#write(dirty.slice(from, from + voiceLimits.checkpointRowsMax));
    }
    this.#isWriting = false;
  }

  async #write(sessions: readonly VoiceSession[]): Promise<void> {
    const rows = sessions.map(({ funds, spec }): SessionCheckpoint => {
      funds.dirty = false;
      const { dueMicros, dueProviderMicros } = funds;
      return { id: spec.id, usage: { ...funds.usage }, dueMicros, dueProviderMicros };
    });
    try {
      const written = await this.#options.checkpoint(rows);
      for (const session of sessions) {
        const isWritten = written.get(session.spec.id);
        if (isWritten === undefined) this.#options.lost(session);
        else if (!isWritten) session.funds.dirty = true;
      }
    } catch (error) {
      for (const { funds } of sessions) funds.dirty = true;
      this.#options.log.warn({ err: error, sessions: rows.length }, 'voice usage is not written');
    }
  }

  #forgive(forMs: number, nowMs: number): void {
    for (const session of this.#sessions.values()) {
      this.#options.stoodStill(session, forMs, nowMs);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const nowMs = performance.now();
    awakeMs();
    const stoodMs = stoodStillMs();
    if (stoodMs > this.#stoodMs) {
      this.#forgive(stoodMs - this.#stoodMs, nowMs);
      this.#stoodMs = stoodMs;
      // What has arrived is read before anybody is looked at.
      return;
    }
    for (const session of this.#audible) {
      try {
        if (!this.#options.pace(session, nowMs)) this.#audible.delete(session);
      } catch (error) {
        this.#audible.delete(session);
        this.#options.fault(session, error);
      }
    }
    if (nowMs - this.#lastWatchMs < voiceLimits.watchMs) return;
    this.#lastWatchMs = nowMs;
    for (const session of [...this.#sessions.values()]) {
      try {
        this.#options.watch(session, nowMs);
      } catch (error) {
        this.#options.fault(session, error);
      }
    }
    if (nowMs - this.#lastCheckpointMs < voiceLimits.checkpointMs) return;
    this.#lastCheckpointMs = nowMs;
    void this.checkpoint();
  }
}

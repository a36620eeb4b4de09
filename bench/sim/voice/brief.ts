// The directive that a live session follows: the last one that came, its rounds of calls, and going
// away by itself when it says so.
import type { SimLink } from '../contract.ts';
import { Alarm } from './alarm.ts';
import { parseVoiceDirective, type VoiceDirective, voiceDefaults } from './directive.ts';

export class Brief {
  directive: VoiceDirective = voiceDefaults;
  roundIndex = 0;
  /** Rings when the session is to go away, and when it is over. */
  readonly goingAway: Alarm;
  readonly #onGoAway: (directive: VoiceDirective, silent: boolean) => void;

  constructor(link: SimLink, onGoAway: (directive: VoiceDirective, silent: boolean) => void) {
    this.goingAway = new Alarm(link.wheel);
    this.#onGoAway = onGoAway;
  }

  read(text: string): void {
    const directive = parseVoiceDirective(text);
    if (directive === null) return;
    this.directive = directive;
    this.roundIndex = 0;
    const { afterMs, faults } = directive;
    const silent = faults.has('goaway_silence');
    if (afterMs === null || !(silent || faults.has('goaway'))) return;
    this.goingAway.set(performance.now() + afterMs, () => this.#onGoAway(directive, silent));
  }
}

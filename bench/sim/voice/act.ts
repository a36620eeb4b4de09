// What the control endpoint asks of live sessions that run: a fault at once, or another directive.
import type { SimLink } from '../contract.ts';
import { parseVoiceDirective, type VoiceDirective } from './directive.ts';

export interface Actor {
  readonly link: SimLink;
  goAway(directive: VoiceDirective, silent: boolean): void;
  mute(): void;
  sendRaw(text: string): void;
  /** An error after which the session goes on, where the format has one. */
  troubled?(): void;
  direct(text: string): void;
}

export function actOn(actor: Actor, directiveText: string): void {
  const directive = parseVoiceDirective(directiveText);
  if (directive === null) return;
  const { faults } = directive;
  if (faults.has('goaway')) actor.goAway(directive, false);
  else if (faults.has('goaway_silence')) actor.goAway(directive, true);
  else if (faults.has('error')) actor.troubled?.();
  else if (faults.has('garbage')) actor.sendRaw('{"type":');
  else if (faults.has('stall')) actor.mute();
  else if (faults.has('cut')) actor.link.cut();
  else if (faults.has('close'))
    actor.link.close(directive.closeCode, 'The simulator was asked to.');
  else actor.direct(directiveText);
}

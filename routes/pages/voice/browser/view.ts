// What the page shows of a conversation. State changes are text in a live region, so that screen
// readers say them; what changes many times a second is not.
import type { Conversation } from './conversation.ts';
import type { Transcript } from './transcript.ts';

/** An element that page.html has; a missing one is a bug of this page. */
export function element<E extends HTMLElement>(id: string, type: new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`page.html lacks #${id}`);
  return found;
}

const names = { user: 'You', assistant: 'Voice' } as const;
/** Loud speech fills the meter. */
const METER_GAIN = 5;

export class View {
  readonly #state = element('state', HTMLElement);
  readonly #hint = element('hint', HTMLElement);
  readonly #problem = element('problem', HTMLElement);
  readonly #toggle = element('toggle', HTMLButtonElement);
  readonly #interrupt = element('interrupt', HTMLButtonElement);
  readonly #mute = element('mute', HTMLButtonElement);
  readonly #voices = element('voices', HTMLFieldSetElement);
  readonly #list = element('transcript', HTMLOListElement);
  readonly #empty = element('empty', HTMLElement);
  readonly #keys = document.createElement('span');
  readonly #items = new Map<number, HTMLLIElement>();

  constructor() {
    // Scrolled by the keyboard, which not every browser offers by itself.
    this.#list.tabIndex = 0;
    const key = document.createElement('kbd');
    key.textContent = 'Esc';
    this.#keys.className = 'keys';
    this.#keys.append(', or press ', key);
  }

  bind(actions: { toggle(): void; interrupt(): void; mute(): void }): void {
    this.#toggle.addEventListener('click', actions.toggle);
    this.#interrupt.addEventListener('click', actions.interrupt);
    this.#mute.addEventListener('click', actions.mute);
    addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && !this.#interrupt.disabled) actions.interrupt();
    });
    this.#toggle.disabled = false;
  }

  showBadge(isShown: boolean): void {
    element('badge', HTMLElement).hidden = !isShown;
  }

  listVoices(voices: readonly string[]): void {
    for (const [index, id] of voices.entries()) {
      const input = document.createElement('input');
      Object.assign(input, { type: 'radio', name: 'voice', value: id, checked: index === 0 });
      const label = document.createElement('label');
      label.append(input, id);
      this.#voices.append(label);
    }
    this.#voices.hidden = false;
  }

  get voiceId(): string {
    const checked = this.#voices.querySelector<HTMLInputElement>('input:checked');
    return checked?.value ?? '';
  }

  /** Nothing can be done here, and why. */
  refuse(text: string): void {
    document.body.dataset.phase = 'failed';
    setText(this.#state, 'Not available');
    this.#fail(text);
  }

  show(conversation: Conversation): void {
    const { phase, state, isOpen, isMuted, notice, transcript } = conversation;
    document.body.dataset.phase = phase;
    document.body.dataset.state = isOpen ? state : '';
    setText(this.#state, headline(conversation));
    this.#showHint(conversation);
    this.#fail(phase === 'failed' ? notice : '');
    setText(this.#toggle, isOpen ? 'End' : phase === 'idle' ? 'Start talking' : 'Try again');
    this.#toggle.classList.toggle('ends', isOpen);
    this.#interrupt.disabled = phase !== 'live';
    this.#mute.disabled = !isOpen;
    this.#mute.setAttribute('aria-pressed', `${isMuted}`);
    this.#voices.disabled = isOpen;
    this.#showTranscript(transcript);
  }

  /** The figures that change all the time. */
  measure({ userLevel, voiceLevel, timings, isOpen }: Conversation): void {
    meter('meter-you', userLevel);
    meter('meter-voice', voiceLevel);
    const answer = timings.answers.at(-1);
    const reading = isOpen ? timings.readings.at(-1) : undefined;
    figure('buffered', reading && `${Math.round(reading.bufferedMs)} ms`);
    if (answer !== undefined) figure('answer', `${(answer.latencyMs / 1000).toFixed(2)} s`);
    const { silencedMs, underruns, readings } = timings;
    figure('silenced', silencedMs === null ? undefined : `${Math.round(silencedMs)} ms`);
    figure('gaps', readings.length === 0 ? undefined : `${underruns}`);
  }

  #showHint({ phase, state, notice, tool }: Conversation): void {
    const isSpeaking = phase === 'live' && state === 'speaking';
    // Why it ended is read out, but nobody talks into each answer.
    this.#hint.ariaLive = isSpeaking ? 'off' : 'polite';
    if (isSpeaking) {
      this.#hint.replaceChildren('Speak to interrupt', this.#keys);
    } else if (tool !== null) setText(this.#hint, `Using ${tool.replaceAll('_', ' ')} …`);
    else if (phase === 'failed') setText(this.#hint, '');
    else if (notice !== '') setText(this.#hint, notice);
    else if (phase === 'opening') setText(this.#hint, 'Your browser may ask for the microphone.');
    else setText(this.#hint, phase === 'idle' ? 'A conversation with a voice that listens.' : '');
  }

  #fail(text: string): void {
    setText(this.#problem, text);
    this.#problem.hidden = text === '';
  }

  #showTranscript(lines: Transcript): void {
    const isAtEnd = this.#list.scrollTop + this.#list.clientHeight > this.#list.scrollHeight - 40;
    const kept = new Set(lines.map(({ id }) => id));
    for (const [id, item] of this.#items) {
      if (kept.has(id)) continue;
      item.remove();
      this.#items.delete(id);
    }
    for (const { id, role, text, isFinal } of lines) {
      const item = this.#items.get(id) ?? this.#addLine(id, role);
      item.classList.toggle('open', !isFinal);
      const [, words] = item.children;
      if (words instanceof HTMLElement) setText(words, text);
    }
    this.#empty.hidden = lines.length > 0;
    if (isAtEnd) this.#list.scrollTop = this.#list.scrollHeight;
  }

  #addLine(id: number, role: 'user' | 'assistant'): HTMLLIElement {
    const item = document.createElement('li');
    item.className = role;
    const name = document.createElement('b');
    name.className = 'who';
    name.textContent = names[role];
    item.append(name, document.createElement('span'));
    this.#items.set(id, item);
    this.#list.append(item);
    return item;
  }
}

function headline({ phase, state, notice, isMuted }: Conversation): string {
  if (phase === 'idle') return notice === '' ? 'Ready when you are' : 'Until next time';
  if (phase === 'failed') return 'That did not work';
  if (phase === 'renewing') return 'Reconnecting …';
  if (phase === 'opening' || state === 'connecting') return 'Connecting …';
  if (state === 'thinking') return 'Thinking …';
  if (state === 'speaking') return 'Speaking';
  return isMuted ? 'You are muted' : 'Listening';
}

/** Only when it differs: a live region is read out for every change of its nodes. */
function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

function meter(id: string, level: number): void {
  element(id, HTMLElement).style.transform = `scaleX(${Math.min(1, level * METER_GAIN)})`;
}

function figure(id: string, text: string | undefined): void {
  setText(element(id, HTMLElement), text ?? '–');
}

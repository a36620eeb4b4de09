// The form that asks for a video: what the chosen model can make, and what that costs.
import { CallProblem } from './account.ts';
import { element, fillSelect, setText, tell } from './dom.ts';
import { defaultSeconds, isManaged, rateOf, secondsOf } from './price.ts';
import { creditsText } from './text.ts';
import type { ModelEntry } from './wire.ts';

const RESOLUTIONS = ['720p', '1080p'];
const SEED_MAX = 4_294_967_295;

export class MakeForm {
  readonly #form = element('make', HTMLFormElement);
  readonly #prompt = element('prompt', HTMLTextAreaElement);
  readonly #model = element('model', HTMLSelectElement);
  readonly #seconds = element('seconds', HTMLSelectElement);
  readonly #resolution = element('resolution', HTMLSelectElement);
  readonly #ratio = element('ratio', HTMLSelectElement);
  readonly #sound = element('sound', HTMLInputElement);
  readonly #seed = element('seed', HTMLInputElement);
  readonly #price = element('price', HTMLElement);
  readonly #problem = element('make-problem', HTMLElement);
  readonly #submit = element('make-submit', HTMLButtonElement);
  readonly #models: readonly ModelEntry[];
  /** What is asked of the account, and left on it; null: that is not known. */
  #availableCredits: number | null = null;

  constructor(models: readonly ModelEntry[]) {
    this.#models = models;
    const choices = models.map((model) => ({
      value: model.alias,
      text: isManaged(model) ? 'Automatic' : `${model.display_name} (${model.alias})`,
    }));
    fillSelect(this.#model, choices, 'svc-video');
    this.#form.addEventListener('input', () => this.#changed());
    this.#changed();
  }

  onSubmit(send: (request: Record<string, unknown>) => Promise<void>): void {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send(send);
    });
    this.#submit.disabled = false;
  }

  showBalance(availableCredits: number | null): void {
    this.#availableCredits = availableCredits;
    this.#showPrice();
  }

  async #send(send: (request: Record<string, unknown>) => Promise<void>): Promise<void> {
    this.#refuse('', null);
    if (this.#prompt.value.trim() === '') {
      this.#refuse('Say what is to be seen.', 'prompt');
      return;
    }
    this.#submit.disabled = true;
    setText(this.#submit, 'Sending …');
    try {
      await send(this.#request());
    } catch (error) {
      const { message, param } = error as CallProblem;
      this.#refuse(message, error instanceof CallProblem ? param : null);
    }
    this.#submit.disabled = false;
    setText(this.#submit, 'Make the video');
  }

  #request(): Record<string, unknown> {
    const model = this.#chosen();
    const seed = this.#seed.value === '' ? null : Number(this.#seed.value);
    return {
      model: 'svc-video',
      ...(model === undefined || isManaged(model) ? {} : { video_model: model.alias }),
      prompt: this.#prompt.value.trim(),
      duration_seconds: Number(this.#seconds.value),
      resolution: this.#resolution.value,
      aspect_ratio: this.#ratio.value,
      generate_audio: this.#sound.checked,
      ...(seed === null || this.#seed.disabled ? {} : { seed }),
    };
  }

  #chosen(): ModelEntry | undefined {
    return this.#models.find(({ alias }) => alias === this.#model.value);
  }

  #changed(): void {
    const abilities = this.#chosen()?.video;
    if (abilities === undefined) return;
    const plain = (value: string) => ({ value, text: value });
    const resolutions = RESOLUTIONS.filter((name) => abilities.resolutions[name] !== undefined);
    fillSelect(this.#resolution, resolutions.map(plain), '720p');
    const seconds = secondsOf(abilities, this.#resolution.value);
    const lengths = seconds.map((count) => ({ value: `${count}`, text: `${count} seconds` }));
    fillSelect(this.#seconds, lengths, `${defaultSeconds(seconds)}`);
    const ratios = abilities.aspect_ratios.filter((ratio) => ratio !== 'adaptive');
    const choices = [...ratios.map(plain), { value: 'adaptive', text: 'The model chooses' }];
    fillSelect(this.#ratio, choices, '16:9');
    this.#sound.disabled = abilities.audio === 'never';
    if (this.#sound.disabled) this.#sound.checked = false;
    this.#seed.disabled = !abilities.seed;
    this.#seed.max = `${SEED_MAX}`;
    this.#showPrice();
  }

  #showPrice(): void {
    const model = this.#chosen();
    const rate =
      model === undefined ? null : rateOf(model, this.#resolution.value, this.#sound.checked);
    if (model === undefined || rate === null) {
      setText(this.#price, 'The catalog names no price.');
      return;
    }
    const price = rate * Number(this.#seconds.value);
    const left = this.#availableCredits;
    const most = isManaged(model) ? 'At most ' : '';
    const stock = left === null ? '' : ` You have ${creditsText(Math.floor(left))}.`;
    setText(this.#price, `${most}${creditsText(price)}, charged when the video is ready.${stock}`);
    this.#price.classList.toggle('short', left !== null && price > left);
  }

  /** Says what is wrong, and marks the field that it is about. */
  #refuse(text: string, param: string | null): void {
    const fields: Record<string, HTMLElement> = {
      prompt: this.#prompt,
      video_model: this.#model,
      duration_seconds: this.#seconds,
      resolution: this.#resolution,
      aspect_ratio: this.#ratio,
      generate_audio: this.#sound,
      seed: this.#seed,
    };
    for (const [name, field] of Object.entries(fields)) {
      if (name === param) field.setAttribute('aria-invalid', 'true');
      else field.removeAttribute('aria-invalid');
    }
    tell(this.#problem, text);
    if (param !== null) fields[param]?.focus();
  }
}

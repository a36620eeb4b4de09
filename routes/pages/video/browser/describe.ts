// The form that asks what is in a video, the looks at the analysis, and its result.
import { type Account, CallProblem, Once } from './account.ts';
import { element, fillSelect, make, setText, tell } from './dom.ts';
import type { Film } from './film.ts';
import type { Entry } from './jobs.ts';
import { countText, creditsText, microsText, spokenText, titleOf } from './text.ts';
import type { Analysis, ModelEntry, Usage } from './wire.ts';

const PATH = '/v1/video/analyses';
const MODEL = 'svc-video-analysis';
/** The analysis, and which of the own videos it is of, which it does not tell itself. */
const HASH = /^#analysis=([\w-]{1,100})(?:&video=(vid_[a-f0-9]{24}))?$/;
const OWN = '/api/me/generated-videos/';
const ATTEMPTS_MAX = 8;

export interface Describing {
  /** Shows the video of a job that was described; resolves with where its pictures are read. */
  play(videoUrl: string): Promise<string | null>;
  /** What was sent as a key is none. */
  needsKey(): void;
}

export class Describe {
  readonly #account: Account;
  readonly #film: Film;
  readonly #describing: Describing;
  readonly #models: readonly ModelEntry[];
  readonly #once = new Once();
  readonly #form = element('describe', HTMLFormElement);
  readonly #own = element('source-own', HTMLSelectElement);
  readonly #url = element('source-url', HTMLInputElement);
  readonly #urlField = element('source-url-field', HTMLElement);
  readonly #question = element('question', HTMLTextAreaElement);
  readonly #model = element('describe-model', HTMLSelectElement);
  readonly #start = element('start', HTMLInputElement);
  readonly #end = element('end', HTMLInputElement);
  readonly #frames = element('frames-max', HTMLInputElement);
  readonly #price = element('describe-price', HTMLElement);
  readonly #problem = element('describe-problem', HTMLElement);
  readonly #submit = element('describe-submit', HTMLButtonElement);
  readonly #result = element('result', HTMLElement);
  readonly #state = element('result-state', HTMLElement);
  readonly #bar = element('result-bar', HTMLProgressElement);
  readonly #body = element('result-body', HTMLElement);
  /** The analysis that is shown; another one is looked at no more. */
  #id: string | null = null;

  constructor(
    account: Account,
    models: readonly ModelEntry[],
    { film, describing }: { film: Film; describing: Describing },
  ) {
    this.#account = account;
    this.#film = film;
    this.#describing = describing;
    this.#models = models.filter(
      ({ available, capabilities }) => available && capabilities.includes('vision'),
    );
    const choices = this.#models.map(({ alias, display_name }) => ({
      value: alias,
      text: alias === MODEL ? 'Automatic' : `${display_name} (${alias})`,
    }));
    fillSelect(this.#model, choices, MODEL);
    this.#form.addEventListener('input', () => this.#changed());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.showOwn([]);
  }

  /** The videos that can be chosen; nothing is chosen anew. */
  showOwn(entries: readonly Entry[]): void {
    const own = entries.flatMap(({ job }) =>
      job.video === undefined ? [] : [{ value: job.video.url, text: titleOf(job) }],
    );
    const before = [...this.#own.options].map(({ value }) => value);
    const choices = [{ value: '', text: 'A video on the web' }, ...own];
    const isSame = before.length === choices.length;
    if (!isSame || choices.some(({ value }, at) => value !== before[at])) {
      fillSelect(this.#own, choices, '');
    }
    this.#changed();
  }

  /** One of the own videos is to be described. */
  choose(videoUrl: string): void {
    this.#own.value = videoUrl;
    this.#changed();
    this.#question.focus();
  }

  /** The analysis that the address names goes on where it was left. */
  resume(): void {
    const [, id, videoId] = HASH.exec(location.hash) ?? [];
    if (id === undefined || !this.#account.canDescribe) return;
    void this.#follow(id, videoId === undefined ? null : OWN + videoId);
  }

  #changed(): void {
    this.#urlField.hidden = this.#own.value !== '';
    const model = this.#models.find(({ alias }) => alias === this.#model.value);
    this.#submit.disabled = model === undefined;
    const [input, output] = [model?.credits_per_million_input, model?.credits_per_million_output];
    const text =
      input == null || output == null
        ? 'No model that can see is available.'
        : `Costs what the model reads and writes: ${creditsText(input)} for a million tokens in, ` +
          `${creditsText(output)} for a million out. Fetching is free.`;
    setText(this.#price, text);
  }

  async #send(): Promise<void> {
    this.#refuse('', null);
    const source = this.#own.value === '' ? this.#url.value.trim() : this.#own.value;
    if (source === '') {
      this.#refuse('Name the address of a video, or choose one of yours.', 'source_url');
      return;
    }
    this.#submit.disabled = true;
    try {
      const body = JSON.stringify(this.#request(source));
      const onceKey = this.#once.keyFor(body);
      const answer = await this.#account.describe<{ analysis: Analysis }>('POST', PATH, {
        body,
        onceKey,
      });
      this.#once.done();
      const { id } = answer.body.analysis;
      const ownUrl = source.startsWith(OWN) ? source : null;
      const video = ownUrl === null ? '' : `&video=${ownUrl.slice(OWN.length)}`;
      history.replaceState(null, '', `#analysis=${id}${video}`);
      void this.#follow(id, ownUrl);
      this.#result.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      const { message, param, status } = error as CallProblem;
      if (status === 401) this.#describing.needsKey();
      this.#refuse(message, error instanceof CallProblem ? param : null);
    }
    this.#submit.disabled = false;
  }

  #request(source: string): Record<string, unknown> {
    const given = (name: string, { value }: HTMLInputElement) =>
      value === '' ? {} : { [name]: Number(value) };
    const question = this.#question.value.trim();
    return {
      source_url: source,
      model: this.#model.value,
      ...(question === '' ? {} : { prompt: question }),
      ...given('start_seconds', this.#start),
      ...given('end_seconds', this.#end),
      ...given('max_frames', this.#frames),
    };
  }

  /** Looks at an analysis until it is over, or another one is asked for. */
  async #follow(id: string, ownUrl: string | null): Promise<void> {
    this.#id = id;
    this.#result.hidden = false;
    // Nothing of the one before is taken for this one's.
    this.#film.clear();
    this.#body.hidden = true;
    this.#showReceipt(undefined);
    this.#bar.hidden = false;
    this.#bar.removeAttribute('value');
    setText(this.#state, '');
    for (let failures = 0; this.#id === id && failures < ATTEMPTS_MAX; ) {
      try {
        const { body, headers } = await this.#account.describe<{ analysis: Analysis }>(
          'GET',
          `${PATH}/${encodeURIComponent(id)}`,
        );
        failures = 0;
        if (this.#id !== id) return;
        if (await this.#show(body.analysis, ownUrl)) return;
        await seconds(Number(headers.get('retry-after') ?? 1));
      } catch (error) {
        failures += 1;
        const problem = error instanceof CallProblem ? error : new CallProblem(String(error));
        if (this.#id !== id) return;
        setText(this.#state, problem.message);
        if (!problem.isPassing) break;
        await seconds(Math.max(problem.retryAfter ?? 0, 2 ** failures));
      }
    }
    this.#bar.hidden = true;
  }

  /** True: it is over. */
  async #show(analysis: Analysis, ownUrl: string | null): Promise<boolean> {
    const { status, progress, result, source, svc_usage } = analysis;
    this.#bar.hidden = status === 'completed' || status === 'failed';
    if (status === 'running') this.#bar.value = progress;
    else this.#bar.removeAttribute('value');
    setText(this.#state, stateOf(analysis));
    if (status === 'failed') this.#showReceipt(svc_usage);
    if (status !== 'completed' || result === undefined) return status === 'failed';
    setText(element('summary', HTMLElement), result.summary);
    tell(element('answer', HTMLElement), result.answer ?? '');
    element('answer-title', HTMLElement).hidden = result.answer === null;
    this.#body.hidden = false;
    this.#showReceipt(svc_usage);
    if (source === undefined) return true;
    const { width, height, duration_seconds, has_audio } = source;
    const sound = has_audio ? 'with sound, which is not listened to' : 'silent';
    const about = `${spokenText(duration_seconds)} · ${width} × ${height} · ${sound}`;
    setText(element('result-source', HTMLElement), about);
    const url = ownUrl === null ? null : await this.#describing.play(ownUrl);
    this.#film.show({ source, segments: result.segments, url });
    return true;
  }

  #showReceipt(usage: Usage | undefined): void {
    const list = element('receipt', HTMLElement);
    const box = element('receipt-box', HTMLElement);
    box.hidden = usage === undefined;
    if (usage === undefined) return;
    const rows: [string, string][] = [
      ['Charged', microsText(usage.charge_microcredits)],
      ['Model', usage.simulated ? `${usage.model} (simulated)` : usage.model],
      ['Tokens read', countText(usage.input_tokens)],
      ['Tokens written', countText(usage.output_tokens)],
      ['Request', usage.request_id],
    ];
    list.replaceChildren(
      ...rows.map(([name, value]) =>
        make('div', {}, make('dt', { text: name }), make('dd', { text: value })),
      ),
    );
  }

  #refuse(text: string, param: string | null): void {
    const fields: Record<string, HTMLElement> = {
      source_url: this.#own.value === '' ? this.#url : this.#own,
      prompt: this.#question,
      model: this.#model,
      start_seconds: this.#start,
      end_seconds: this.#end,
      max_frames: this.#frames,
    };
    for (const [name, field] of Object.entries(fields)) {
      if (name === param) field.setAttribute('aria-invalid', 'true');
      else field.removeAttribute('aria-invalid');
    }
    tell(this.#problem, text);
    if (param !== null) fields[param]?.focus();
  }
}

function stateOf({ status, progress, error_message }: Analysis): string {
  switch (status) {
    case 'queued':
      return 'Waiting for its turn';
    case 'running':
      return `Being looked at · ${Math.floor(progress)} %`;
    case 'completed':
      return 'Described';
    case 'failed':
      return error_message ?? 'The video could not be described.';
  }
}

const seconds = (count: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(1, count || 1) * 1_000));

// Webhooks of the simulated payment providers, over real sockets. They are signed, and sent again
// where the answer is no 2xx. Faults that somebody asked for hit them.
import { createHmac } from 'node:crypto';
import { isFamily, type PaymentFamily, type PaymentFaults } from './faults.ts';
import type { Later } from './later.ts';

export interface WebhookEvent {
  id: string;
  type: string;
  /** As it is signed and sent. */
  body: string;
}

interface Endpoint {
  family: PaymentFamily;
  url: string;
  secret: string;
}

interface Delivery extends WebhookEvent {
  family: PaymentFamily;
  signing: 'right' | 'wrong' | 'old';
}

interface Sent {
  family: PaymentFamily;
  event: string;
  type: string;
  url: string;
  /** 0: nobody answered. */
  status: number;
}

const endpointsMax = 20;
const sentMax = 5_000;
const answerMs = 10_000;
const againAfterMs = [500, 2_000, 8_000, 30_000];
const oldSeconds = 3_600;
/** What is to come reversed waits so long for what it changes places with. */
const gatherMs = 400;

export class Webhooks {
  readonly #faults: PaymentFaults;
  readonly #later: Later;
  #endpoints: Endpoint[] = [];
  #gathered: Delivery[] = [];
  readonly #sent: Sent[] = [];

  constructor(faults: PaymentFaults, later: Later) {
    this.#faults = faults;
    this.#later = later;
  }

  /** `{family, url, secret}`: one more place to send to, or another secret for it. */
  register({ family, url, secret }: Record<string, unknown>): boolean {
    if (!isFamily(family)) return false;
    if (typeof url !== 'string' || typeof secret !== 'string' || !URL.canParse(url)) return false;
    const others = this.#endpoints.filter((each) => each.family !== family || each.url !== url);
    this.#endpoints = [...others, { family, url, secret }].slice(-endpointsMax);
    return true;
  }

  send(family: PaymentFamily, event: WebhookEvent): void {
    const faults = this.#faults;
    if (faults.take('lost', family) !== null) return;
    const isWrong = faults.take('wrong_signature', family) !== null;
    const isOld = faults.take('old_timestamp', family) !== null;
    const delivery: Delivery = {
      ...event,
      family,
      signing: isWrong ? 'wrong' : isOld ? 'old' : 'right',
    };
    if (faults.take('reversed', family) !== null) return void this.#gather(delivery);
    const copies = faults.take('five_times', family) === null ? 1 : 5;
    const delayMs = faults.take('late', family)?.delayMs ?? 0;
    for (let copy = 0; copy < copies; copy += 1) {
      this.#later.after(delayMs, () => this.#deliver(delivery));
    }
  }

  #gather(delivery: Delivery): void {
    if (this.#gathered.length === 0) {
      this.#later.after(gatherMs, () => {
        const gathered = this.#gathered.reverse();
        this.#gathered = [];
        void this.#inTurn(gathered);
      });
    }
    this.#gathered.push(delivery);
  }

  /** One after the other, so that none overtakes. */
  async #inTurn(deliveries: readonly Delivery[]): Promise<void> {
    for (const delivery of deliveries) {
      for (const endpoint of this.#endpointsOf(delivery)) await this.#post(endpoint, delivery, 0);
    }
  }

  #deliver(delivery: Delivery): void {
    for (const endpoint of this.#endpointsOf(delivery)) void this.#post(endpoint, delivery, 0);
  }

  #endpointsOf({ family }: Delivery): Endpoint[] {
    return this.#endpoints.filter((endpoint) => endpoint.family === family);
  }

  /** Never throws. */
  async #post(endpoint: Endpoint, delivery: Delivery, tries: number): Promise<void> {
    let status = 0;
    try {
      const reply = await fetch(endpoint.url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/json', ...signed(endpoint, delivery) },
        body: delivery.body,
        signal: AbortSignal.timeout(answerMs),
      });
      status = reply.status;
      await reply.body?.cancel();
    } catch {
      status = 0;
    }
    const { family, id: event, type } = delivery;
    this.#sent.push({ family, event, type, url: endpoint.url, status });
    if (this.#sent.length > sentMax) this.#sent.shift();
    const wait = againAfterMs[tries];
    if ((status >= 200 && status < 300) || wait === undefined) return;
    this.#later.after(wait, () => void this.#post(endpoint, delivery, tries + 1));
  }

  view() {
    const endpoints = this.#endpoints.map(({ family, url }) => ({ family, url }));
    return { endpoints, sent: this.#sent };
  }
}

/** The headers with which a provider signs what it sends. */
export function signed(
  { secret }: Pick<Endpoint, 'secret'>,
  { family, id, body, signing }: Delivery,
): Record<string, string> {
  const key = signing === 'wrong' ? `${secret}-of-somebody-else` : secret;
  const digest = (text: string) => createHmac('sha256', key).update(text).digest('hex');
  if (family === 'razorpay') {
    return { 'x-razorpay-signature': digest(body), 'x-razorpay-event-id': id };
  }
  const seconds = Math.floor(Date.now() / 1_000) - (signing === 'old' ? oldSeconds : 0);
  return { 'stripe-signature': `t=${seconds},v1=${digest(`${seconds}.${body}`)}` };
}

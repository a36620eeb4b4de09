// What all generation families do alike with a request that was read: statuses and outages that
// were asked for, then a stream, or one object with the faults that an object can have.
import type { Plan } from './answer.ts';
import type { SimExchange, SimReply } from './contract.ts';
import type { Directive, Refusal } from './directive.ts';
import type { Script } from './player.ts';

export interface Generation {
  model: string;
  stream: boolean;
  directive: Directive;
  plan: Plan;
}

/** How one family words it. */
export interface Rendering {
  refuse(status: Refusal): SimReply;
  script(): Script;
  whole(): SimReply;
  /** An answer that says of itself that it failed, where the format has such a thing. */
  failed?(): SimReply;
}

export function serveGeneration(
  exchange: SimExchange,
  generation: Generation,
  rendering: Rendering,
): void {
  if (beginsRefused(exchange, generation, rendering)) return;
  const { directive } = generation;
  if (generation.stream) exchange.play(rendering.script(), directive);
  else serveWhole(exchange, generation, rendering);
}

/** Counts a request that was read. True: a directive or an outage wanted it refused, and it is. */
export function beginsRefused(
  exchange: SimExchange,
  { model, directive }: Pick<Generation, 'model' | 'directive'>,
  rendering: Pick<Rendering, 'refuse'>,
): boolean {
  exchange.begin(model);
  const status = exchange.outageStatus ?? directive.status;
  if (status === 200) return false;
  sendReply(exchange, rendering.refuse(status), directive.firstMs);
  return true;
}

function serveWhole(exchange: SimExchange, generation: Generation, rendering: Rendering): void {
  const { directive, plan } = generation;
  const delayMs = directive.firstMs + directive.gapMs * plan.pieceCount;
  const { fault } = directive;
  if (fault === 'stall' || fault === 'cut') {
    exchange.leave(fault);
    return;
  }
  if (fault === 'error' || fault === 'failed') {
    const failed = fault === 'failed' ? rendering.failed?.() : undefined;
    sendReply(exchange, failed ?? rendering.refuse(500), delayMs);
    return;
  }
  const reply = rendering.whole();
  const body = fault === 'garbage' ? reply.body.slice(0, -20) : reply.body;
  sendReply(exchange, { ...reply, body }, delayMs);
}

export function sendReply(exchange: SimExchange, reply: SimReply, delayMs = 0): void {
  exchange.reply(reply.status, reply.headers, reply.body, delayMs);
}

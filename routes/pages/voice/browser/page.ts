// The page's entry: finds who talks and in which voices, binds the controls, and draws while a
// conversation runs, and not a frame longer.
import { type Account, AccountProblem, openAccount } from './account.ts';
import { Conversation } from './conversation.ts';
import { Graph } from './graph.ts';
import { Orb } from './orb.ts';
import { element, View } from './view.ts';

const isDevelopment = document.documentElement.dataset.mode === 'dev';
const orb = new Orb(element('orb', HTMLCanvasElement));
const graph = new Graph(element('graph', HTMLCanvasElement));
const view = new View();

function run(account: Account, voices: readonly string[]): void {
  const conversation = new Conversation(account, () => changed());
  let isDrawing = false;

  function draw(nowMs: number): void {
    const { isOpen, state, userLevel, voiceLevel, timings } = conversation;
    orb.draw(nowMs, { state: isOpen ? state : null, userLevel, voiceLevel });
    graph.draw(performance.now(), timings);
    view.measure(conversation);
    isDrawing = isOpen;
    if (isOpen) requestAnimationFrame(draw);
  }

  function changed(): void {
    view.show(conversation);
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(draw);
  }

  view.listVoices(voices);
  view.bind({
    toggle: () => {
      if (conversation.isOpen) conversation.end();
      else void conversation.start(view.voiceId);
    },
    interrupt: () => conversation.bargeIn(),
    mute: () => conversation.setMuted(!conversation.isMuted),
  });
  for (const query of ['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)']) {
    matchMedia(query).addEventListener('change', changed);
  }
  addEventListener('resize', changed);
  addEventListener('pagehide', () => conversation.end());
  changed();
  // For tests, and for whoever looks from the console.
  Object.assign(window, { conversation });
}

try {
  orb.draw(0, { state: null, userLevel: 0, voiceLevel: 0 });
  const account = await openAccount(isDevelopment);
  view.showBadge(account.isLent);
  const { voices } = await account.catalog();
  if (voices.length === 0) throw new AccountProblem('This server has no voices to talk to.');
  run(account, voices);
} catch (error) {
  const isKnown = error instanceof AccountProblem;
  view.refuse(isKnown ? error.message : 'This page cannot work in this browser.');
}

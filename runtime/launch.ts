// What the parent (start.ts) and the main process (main.ts) say to each other over Node's IPC.
// The main process is forked before the database is up, so its configuration comes as a message.
import type { ChildProcess } from 'node:child_process';
import type { Config } from './config.ts';

/** Everything the main process needs to know. Holds secrets: never log it. */
export interface Boot {
  config: Config;
  /** 32 bytes as base64url. */
  masterKey: string;
  databaseUrl: string;
  /** Origin of the simulator, in dev mode only. */
  simulatorUrl: string | null;
  /** Of this process; holds and generations carry it. */
  instanceId: string;
  /** Of the processes that this parent started before and that are dead for certain. */
  previousInstanceIds: string[];
  /** The database is embedded: no other process reaches it, so every other instance is dead. */
  singleProcess: boolean;
}

type ParentMessage = { type: 'boot'; boot: Boot } | { type: 'stop' } | { type: 'ping' };
type MainMessage = { type: 'ready' } | { type: 'failed'; message: string } | { type: 'pong' };

function isMessage(value: unknown): value is { type: string } {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** Parent side. False when the child is gone. */
function sendToMain(child: ChildProcess, message: ParentMessage): boolean {
  // The callback takes the error of a child that dies meanwhile; its exit is handled elsewhere.
  return child.connected && child.send(message, () => undefined);
}

export function sendBoot(child: ChildProcess, boot: Boot): boolean {
  return sendToMain(child, { type: 'boot', boot });
}

export function sendStop(child: ChildProcess): boolean {
  return sendToMain(child, { type: 'stop' });
}

/** Asks for a sign of life; answered by the link itself as long as the event loop turns. */
export function sendPing(child: ChildProcess): boolean {
  return sendToMain(child, { type: 'ping' });
}

export interface MainListener {
  /** Any message: its event loop turns. */
  alive(): void;
  ready(): void;
  /** The main process cannot start; one clear line. It exits with 1 by itself. */
  failed(message: string): void;
}

export function listenToMain(child: ChildProcess, listener: MainListener): void {
  child.on('message', (value: unknown) => {
    if (!isMessage(value)) return;
    // Both ends are one version of one program; the type says what can come.
    const message = value as MainMessage;
    listener.alive();
    if (message.type === 'ready') listener.ready();
    else if (message.type === 'failed') listener.failed(message.message);
  });
}

/** The main process's end of the channel. */
export interface ParentLink {
  readonly boot: Boot;
  /** Called at most once: the parent asks to drain and exit 0, or the parent is gone. */
  onStop(listener: (reason: 'stop' | 'parent_gone') => void): void;
  sendReady(): void;
  /** Tells why there will be no start, in one clear line that is safe to print; then exit 1. */
  sendFailed(message: string): Promise<void>;
}

type StopReason = 'stop' | 'parent_gone';

/** Resolves with the boot message. Rejects when the process was not started by start.ts. */
export function connectToParent(): Promise<ParentLink> {
  let stopReason: StopReason | null = null;
  let stopListener: ((reason: StopReason) => void) | null = null;
  const stop = (reason: StopReason) => {
    if (stopReason !== null) return;
    stopReason = reason;
    stopListener?.(reason);
  };
  const send = (message: MainMessage) =>
    new Promise<void>((resolve) => {
      if (process.send === undefined || !process.connected) return resolve();
      process.send(message, undefined, undefined, () => resolve());
    });
  return new Promise((resolve, reject) => {
    if (process.send === undefined) {
      return reject(new Error('runtime/main.js is started by runtime/start.js only'));
    }
    process.on('disconnect', () => {
      stop('parent_gone');
      reject(new Error('the parent process ended'));
    });
    process.on('message', (value: unknown) => {
      if (!isMessage(value)) return;
      const message = value as ParentMessage;
      if (message.type === 'stop') stop('stop');
      if (message.type === 'ping') void send({ type: 'pong' });
      if (message.type !== 'boot') return;
      resolve({
        boot: message.boot,
        onStop: (listener) => {
          stopListener = listener;
          if (stopReason !== null) listener(stopReason);
        },
        sendReady: () => void send({ type: 'ready' }),
        sendFailed: (reason) => send({ type: 'failed', message: reason }),
      });
    });
  });
}

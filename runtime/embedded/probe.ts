// Asks a PostgreSQL unix socket whether it serves: a real session, in the wire protocol, by hand.
// No driver is loaded, so a warm start can poll every few milliseconds at no cost.
// https://www.postgresql.org/docs/18/protocol-message-formats.html
import { connect } from 'node:net';

/** `serving`: a session was opened. `refused`: a server answered with this SQLSTATE. */
export type ProbeResult =
  | { state: 'serving' }
  | { state: 'refused'; sqlState: string; message: string }
  | { state: 'absent'; reason: string };

export interface ProbeTarget {
  socketPath: string;
  user: string;
  database: string;
  timeoutMs: number;
}

const PROTOCOL_3_0 = 196_608;
const REPLY_BYTES_MAX = 64 * 1024;

function startupMessage(user: string, database: string): Buffer {
  const body = Buffer.from(`user\0${user}\0database\0${database}\0\0`);
  const message = Buffer.alloc(8 + body.length);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(PROTOCOL_3_0, 4);
  body.copy(message, 8);
  return message;
}

function typedMessage(type: string, text: string): Buffer {
  const body = Buffer.from(text === '' ? '' : `${text}\0`);
  const message = Buffer.alloc(5 + body.length);
  message.write(type, 0, 'latin1');
  message.writeInt32BE(4 + body.length, 1);
  body.copy(message, 5);
  return message;
}

interface Frame {
  type: string;
  body: Buffer;
}

/** Splits whole messages off the front; what is left over waits for more bytes. */
function takeFrames(bytes: Buffer): { frames: Frame[]; rest: Buffer } {
  const frames: Frame[] = [];
  let offset = 0;
  while (bytes.length - offset >= 5) {
    const end = offset + 1 + bytes.readInt32BE(offset + 1);
    if (end > bytes.length || end < offset + 5) break;
    const type = bytes.toString('latin1', offset, offset + 1);
    frames.push({ type, body: bytes.subarray(offset + 5, end) });
    offset = end;
  }
  return { frames, rest: bytes.subarray(offset) };
}

function readRefusal(body: Buffer): ProbeResult {
  const fields = body.toString('utf8').split('\0');
  const value = (code: string) => fields.find((field) => field.startsWith(code))?.slice(1) ?? '';
  return { state: 'refused', sqlState: value('C'), message: value('M') };
}

/**
 * Opens one session, runs `statement` if given, closes it. Never rejects and takes at most
 * `timeoutMs`; a server that does not answer in time is `absent`.
 */
export function probe(target: ProbeTarget, statement?: string): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = connect(target.socketPath);
    let pending: Buffer = Buffer.alloc(0);
    let statementSent = statement === undefined;
    let refusal: ProbeResult | null = null;
    const finish = (result: ProbeResult) => {
      clearTimeout(timer);
      if (result.state === 'serving') socket.end(typedMessage('X', ''));
      socket.destroySoon();
      resolve(result);
    };
    const timer = setTimeout(
      () => finish({ state: 'absent', reason: 'no answer' }),
      target.timeoutMs,
    );
    const onFrame = ({ type, body }: Frame) => {
      if (type === 'E') refusal = readRefusal(body);
      if (type !== 'Z') return;
      if (statementSent || statement === undefined) return finish(refusal ?? { state: 'serving' });
      statementSent = true;
      socket.write(typedMessage('Q', statement));
    };
    socket.on('connect', () => socket.write(startupMessage(target.user, target.database)));
    socket.on('data', (chunk) => {
      const { frames, rest } = takeFrames(Buffer.concat([pending, chunk]));
      pending = rest;
      if (rest.length > REPLY_BYTES_MAX) finish({ state: 'absent', reason: 'not PostgreSQL' });
      for (const frame of frames) onFrame(frame);
    });
    socket.on('error', (error) => finish({ state: 'absent', reason: error.message }));
    socket.on('close', () => finish(refusal ?? { state: 'absent', reason: 'closed' }));
  });
}

// Audio messages of one stream are alike but for their data: once one was parsed, the bytes before
// and after the data make a template, and the next one needs no JSON.parse. What fits the template
// and has base64 between is the same message with other data, whatever the template looks like.
import { decodeBase64 } from '../pcm.ts';

/** Shorter data could stand elsewhere in the message as well. */
const dataCharactersMin = 64;
const templateBytesMax = 1024;

export class AudioTemplate {
  #prefix: Buffer | null = null;
  #suffix: Buffer = Buffer.alloc(0);

  /** The audio of a message that fits, else null. */
  read(message: Buffer): Buffer | null {
    const prefix = this.#prefix;
    const suffix = this.#suffix;
    if (prefix === null) return null;
    const end = message.length - suffix.length;
    if (end < prefix.length + dataCharactersMin) return null;
    if (prefix.compare(message, 0, prefix.length) !== 0) return null;
    if (suffix.compare(message, end) !== 0) return null;
    return decodeBase64(message.toString('latin1', prefix.length, end));
  }

  /** A message whose only meaning is this audio data. */
  learn(message: Buffer, data: string): void {
    // The last one counts where JSON has a member twice.
    const position = message.lastIndexOf(data, undefined, 'latin1');
    if (data.length < dataCharactersMin || position < 0 || position > templateBytesMax) return;
    const end = position + data.length;
    if (message.length - end > templateBytesMax) return;
    // Copies: a slice would keep all that was read from the socket with it.
    this.#prefix = Buffer.from(message.subarray(0, position));
    this.#suffix = Buffer.from(message.subarray(end));
  }
}

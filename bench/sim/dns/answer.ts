// One question of DNS and its answer (RFC 1035), by the zone. What is too long for UDP says that it
// is cut off, and is whole over TCP.
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet';
import type { DnsFault, DnsZone } from './zone.ts';

const truncatedFlag = 0x0200;
const refusals = { servfail: 2, nxdomain: 3 } as const;
/** Without EDNS (RFC 6891). */
const udpBytesUsual = 512;
const udpBytesMax = 1_232;
/** A character string of RFC 1035, 3.3. */
const chunkBytesMax = 255;
const splitBytes = 16;
const seconds = 1;

/** Null: it says nothing. */
export function answerQuery(zone: DnsZone, query: Uint8Array, over: 'udp' | 'tcp'): Buffer | null {
  let packet: Packet;
  try {
    packet = decode(Buffer.from(query));
  } catch {
    return null;
  }
  const [question] = packet.questions ?? [];
  if (packet.type === 'response' || question === undefined) return null;
  const { name, type } = question;
  zone.asked({ name, type, over });
  const known = zone.find(name);
  const fault = known === null ? 'nxdomain' : known.fault;
  if (fault === 'timeout') return null;
  const reply: Packet = { id: packet.id ?? 0, type: 'response', questions: [question] };
  if (fault === 'servfail' || fault === 'nxdomain') {
    return encode({ ...reply, flags: AUTHORITATIVE_ANSWER | refusals[fault] });
  }
  const asksTxt = type === 'TXT' || (type as string) === 'ANY';
  const answers = asksTxt ? (known?.txt ?? []).map((text) => record(name, text, fault)) : [];
  const whole = encode({ ...reply, flags: AUTHORITATIVE_ANSWER, answers });
  const isCut = over === 'udp' && (fault === 'truncated' || whole.length > udpBytesOf(packet));
  return isCut ? encode({ ...reply, flags: AUTHORITATIVE_ANSWER | truncatedFlag }) : whole;
}

function record(name: string, text: string, fault: DnsFault | null): Answer {
  const bytes = Buffer.from(text);
  const length = fault === 'split' ? splitBytes : chunkBytesMax;
  const data: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += length) {
    data.push(bytes.subarray(at, at + length));
  }
  return { type: 'TXT', name, ttl: seconds, data };
}

function udpBytesOf({ additionals = [] }: Packet): number {
  const [edns] = additionals.filter((each) => each.type === 'OPT');
  return Math.min(edns?.udpPayloadSize ?? udpBytesUsual, udpBytesMax);
}

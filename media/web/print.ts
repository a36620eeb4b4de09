// A print of a text's words in 64 bits: texts that are nearly the same differ in few of them
// (simhash; Charikar, 2002).

const wordsInGroup = 3;
/** What is told to each author alone is no part of it. */
const challenge = /tg-[a-z0-9]{4}-[a-z0-9]{4}/g;

export function printOf(text: string): bigint {
  const words =
    text
      .toLowerCase()
      .replace(challenge, ' ')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const votes = new Int32Array(64);
  const groups = Math.max(1, words.length - wordsInGroup + 1);
  for (let at = 0; at < groups; at += 1) {
    const group = words.slice(at, at + wordsInGroup).join(' ');
    vote(votes, 0, hashOf(group, 0x811c9dc5));
    vote(votes, 32, hashOf(group, 0x9747b28c));
  }
  let print = 0n;
  votes.forEach((count, bit) => {
    if (count > 0) print |= 1n << BigInt(bit);
  });
  return print;
}

function vote(votes: Int32Array, from: number, hash: number): void {
  for (let bit = 0; bit < 32; bit += 1) {
    votes[from + bit] = (votes[from + bit] ?? 0) + ((hash >>> bit) & 1 ? 1 : -1);
  }
}

/** FNV-1a over the units, with the finalizer of MurmurHash3, which spreads the last of them. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** In how many bits two differ. */
export function printDistance(one: bigint, other: bigint): number {
  let differing = BigInt.asUintN(64, one ^ other);
  let count = 0;
  for (; differing !== 0n; differing &= differing - 1n) count += 1;
  return count;
}

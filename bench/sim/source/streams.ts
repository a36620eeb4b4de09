// An MP4 with as many streams as one wants, each with one sample of nothing. A reader pays for them
// before it has seen any picture.

/** Kept: all of them are the same. */
const made = new Map<number, Buffer>();

export function manyStreams(count: number): Buffer {
  const known = made.get(count);
  if (known !== undefined) return known;
  const brand = box('ftyp', Buffer.from('isom'), word(0x200), Buffer.from('isommp42'));
  const tracks = Array.from({ length: count }, (_, index) => track(index + 1, brand.length + 8));
  const header = box('mvhd', words(0, 0, 0, 1_000, 1_000, 0x10000), ...zeros(18), word(count + 1));
  const whole = Buffer.concat([brand, box('mdat', word(0)), box('moov', header, ...tracks)]);
  made.set(count, whole);
  return whole;
}

function track(id: number, sampleAt: number): Buffer {
  const description = box(
    'sowt',
    ...[words(0), Buffer.from([0, 0, 0, 1])],
    ...[words(0, 0), Buffer.from([0, 1, 0, 16, 0, 0, 0, 0]), word(8_000 * 0x10000)],
  );
  const samples = box(
    'stbl',
    box('stsd', words(0, 1), description),
    box('stts', words(0, 1, 1, 1_000)),
    box('stsc', words(0, 1, 1, 1, 1)),
    box('stsz', words(0, 4, 1)),
    box('stco', words(0, 1, sampleAt)),
  );
  const place = box('dinf', box('dref', words(0, 1), box('url ', word(1))));
  const media = box(
    'mdia',
    box('mdhd', words(0, 0, 0, 1_000, 1_000, 0x55c40000)),
    box('hdlr', words(0, 0), Buffer.from('soun'), words(0, 0, 0), Buffer.from([0])),
    box('minf', box('smhd', words(0, 0)), place, samples),
  );
  return box('trak', box('tkhd', words(3, 0, 0, id, 0, 1_000), ...zeros(15)), media);
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([word(length), Buffer.from(type), ...parts]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function words(...values: number[]): Buffer {
  return Buffer.concat(values.map(word));
}

function zeros(count: number): Buffer[] {
  return [Buffer.alloc(count * 4)];
}

// A baseline JPEG at an eighth of its size: of each block the mean alone (ITU-T T.81, annex F). For
// large digits that is enough to see.

export interface Picture {
  /** In blocks. */
  width: number;
  height: number;
  /** 0 to 255, line by line. */
  luma: Uint8Array;
}

interface Table {
  /** The largest code of each length, and where its value stands. */
  largest: number[];
  offset: number[];
  values: Uint8Array;
}

interface Component {
  id: number;
  across: number;
  down: number;
  quantizer: number;
  dc: number;
  ac: number;
}

interface Decoder {
  bytes: Buffer;
  at: number;
  /** The mean's step, by table. */
  steps: number[];
  dcTables: Table[];
  acTables: Table[];
  components: Component[];
  width: number;
  height: number;
  restartEvery: number;
  bits: number;
  bitCount: number;
}

const side = 8;

/** Null: it is no picture that is read here. */
export function readLuma(bytes: Buffer): Picture | null {
  try {
    return decode({
      bytes,
      at: 2,
      steps: [],
      dcTables: [],
      acTables: [],
      components: [],
      width: 0,
      height: 0,
      restartEvery: 0,
      bits: 0,
      bitCount: 0,
    });
  } catch (error) {
    // Its bytes end too early.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function decode(decoder: Decoder): Picture | null {
  const { bytes } = decoder;
  if (bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (;;) {
    const marker = bytes.readUInt16BE(decoder.at);
    const length = bytes.readUInt16BE(decoder.at + 2);
    const body = bytes.subarray(decoder.at + 4, decoder.at + 2 + length);
    decoder.at += 2 + length;
    if (marker === 0xffdb) readQuantizers(decoder, body);
    else if (marker === 0xffc4) readTables(decoder, body);
    else if (marker === 0xffdd) decoder.restartEvery = body.readUInt16BE(0);
    else if (marker === 0xffc0) readFrame(decoder, body);
    else if (marker === 0xffda) return readScan(decoder, body);
    else if (marker < 0xffc1) return null;
    else if (marker < 0xffd0 && marker !== 0xffc4) return null;
  }
}

function readQuantizers({ steps }: Decoder, body: Buffer): void {
  for (let at = 0; at < body.length; ) {
    const head = body.readUInt8(at);
    const isWide = head >> 4 === 1;
    steps[head & 15] = isWide ? body.readUInt16BE(at + 1) : body.readUInt8(at + 1);
    at += 1 + side * side * (isWide ? 2 : 1);
  }
}

function readTables(decoder: Decoder, body: Buffer): void {
  for (let at = 0; at < body.length; ) {
    const head = body.readUInt8(at);
    const counts = body.subarray(at + 1, at + 17);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const table: Table = {
      largest: [-1],
      offset: [0],
      values: body.subarray(at + 17, at + 17 + total),
    };
    let code = 0;
    let before = 0;
    for (const count of counts) {
      table.offset.push(before - code);
      code += count;
      table.largest.push(count === 0 ? -1 : code - 1);
      before += count;
      code <<= 1;
    }
    const list = head >> 4 === 0 ? decoder.dcTables : decoder.acTables;
    list[head & 15] = table;
    at += 17 + total;
  }
}

function readFrame(decoder: Decoder, body: Buffer): void {
  decoder.height = body.readUInt16BE(1);
  decoder.width = body.readUInt16BE(3);
  decoder.components = Array.from({ length: body.readUInt8(5) }, (_, index) => {
    const at = 6 + 3 * index;
    const sampling = body.readUInt8(at + 1);
    return {
      id: body.readUInt8(at),
      across: sampling >> 4,
      down: sampling & 15,
      quantizer: body.readUInt8(at + 2),
      dc: 0,
      ac: 0,
    };
  });
}

function readScan(decoder: Decoder, body: Buffer): Picture | null {
  const { components } = decoder;
  for (let index = 0; index < body.readUInt8(0); index += 1) {
    const component = components.find(({ id }) => id === body.readUInt8(1 + 2 * index));
    const tables = body.readUInt8(2 + 2 * index);
    if (component !== undefined) Object.assign(component, { dc: tables >> 4, ac: tables & 15 });
  }
  const [first] = components;
  if (first === undefined) return null;
  const across = Math.ceil(decoder.width / (side * Math.max(...components.map((c) => c.across))));
  const down = Math.ceil(decoder.height / (side * Math.max(...components.map((c) => c.down))));
  const width = across * first.across;
  const luma = new Uint8Array(width * down * first.down);
  const means = components.map(() => 0);
  for (let unit = 0; unit < across * down; unit += 1) {
    if (decoder.restartEvery > 0 && unit > 0 && unit % decoder.restartEvery === 0) {
      restart(decoder);
      means.fill(0);
    }
    for (const [index, component] of components.entries()) {
      for (let block = 0; block < component.across * component.down; block += 1) {
        means[index] = (means[index] ?? 0) + readBlock(decoder, component);
        if (index > 0) continue;
        const x = (unit % across) * first.across + (block % first.across);
        const y = Math.floor(unit / across) * first.down + Math.floor(block / first.across);
        const step = decoder.steps[component.quantizer] ?? 1;
        const value = Math.round(((means[0] ?? 0) * step) / side + 128);
        luma[y * width + x] = Math.min(255, Math.max(0, value));
      }
    }
  }
  const wide = Math.ceil(decoder.width / side);
  const high = Math.ceil(decoder.height / side);
  return { width: wide, height: high, luma: cropped(luma, width, wide, high) };
}

function cropped(luma: Uint8Array, width: number, wide: number, high: number): Uint8Array {
  const cut = new Uint8Array(wide * high);
  for (let y = 0; y < high; y += 1) {
    cut.set(luma.subarray(y * width, y * width + wide), y * wide);
  }
  return cut;
}

/** The difference of the block's mean; its other coefficients are passed over. */
function readBlock(decoder: Decoder, { dc, ac }: Component): number {
  const difference = readValue(decoder, readCode(decoder, decoder.dcTables[dc]));
  for (let place = 1; place < side * side; place += 1) {
    const code = readCode(decoder, decoder.acTables[ac]);
    const size = code & 15;
    if (size === 0 && code !== 0xf0) break;
    place += code >> 4;
    readValue(decoder, size);
  }
  return difference;
}

function readCode(decoder: Decoder, table: Table | undefined): number {
  if (table === undefined) throw new RangeError('a table is missing');
  let code = 0;
  for (let length = 1; length <= 16; length += 1) {
    code = (code << 1) | readBit(decoder);
    if (code <= (table.largest[length] ?? -1)) {
      return table.values[code + (table.offset[length] ?? 0)] ?? 0;
    }
  }
  throw new RangeError('no such code');
}

/** So many bits, with the sign in a way of its own. */
function readValue(decoder: Decoder, size: number): number {
  let value = 0;
  for (let bit = 0; bit < size; bit += 1) value = (value << 1) | readBit(decoder);
  return size > 0 && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

function readBit(decoder: Decoder): number {
  if (decoder.bitCount === 0) {
    decoder.bits = decoder.bytes.readUInt8(decoder.at);
    decoder.at += decoder.bits === 0xff ? 2 : 1;
    decoder.bitCount = side;
  }
  decoder.bitCount -= 1;
  return (decoder.bits >> decoder.bitCount) & 1;
}

/** To behind the marker that stands between two parts of the scan. */
function restart(decoder: Decoder): void {
  decoder.bitCount = 0;
  decoder.at += 2;
}

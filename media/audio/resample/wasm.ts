// A WebAssembly module from instructions by name: just what the resampler needs. Shared memory must
// be imported with a maximum (threads proposal, "Shared Linear Memory").

/** Encoded instructions. */
export type Code = readonly number[];

/** LEB128 of a number that is not negative. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return bytes;
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const byte = rest & 0x7f;
    rest >>= 7;
    const isLast = (rest === 0 && byte < 0x40) || (rest === -1 && byte >= 0x40);
    bytes.push(isLast ? byte : byte | 0x80);
    if (isLast) return bytes;
  }
}

const simd = (opcode: number): Code => [0xfd, ...unsigned(opcode)];
/** Alignment is a hint: 2 to the power of it, in bytes. */
const address = (alignment: number, offset: number): Code => [alignment, ...unsigned(offset)];

/** Instructions by their names in the text format. Operands come before them on the stack. */
export const op = {
  localGet: (index: number): Code => [0x20, ...unsigned(index)],
  localSet: (index: number): Code => [0x21, ...unsigned(index)],
  localTee: (index: number): Code => [0x22, ...unsigned(index)],
  i32Const: (value: number): Code => [0x41, ...signed(value)],
  i32Add: [0x6a] as Code,
  i32Sub: [0x6b] as Code,
  /** Runs `body` until it leaves 0 on the stack. */
  loopWhile: (body: Code): Code => [0x03, 0x40, ...body, 0x0d, 0x00, 0x0b],
  v128Load: (offset: number, alignment: number): Code => [
    ...simd(0x00),
    ...address(alignment, offset),
  ],
  v128Store: (offset: number): Code => [...simd(0x0b), ...address(4, offset)],
  v128Store64Lane0: (offset: number): Code => [...simd(0x5b), ...address(3, offset), 0],
  i8x16Shuffle: (lanes: readonly number[]): Code => [...simd(0x0d), ...lanes],
  i32x4Splat: simd(0x11),
  i32x4Add: simd(0xae),
  i32x4ShrS: simd(0xac),
  i32x4DotI16x8S: simd(0xba),
  i16x8NarrowI32x4S: simd(0x85),
} as const;

const i32 = 0x7f;
const v128 = 0x7b;

export interface WasmFunction {
  /** The name of the export. */
  name: string;
  /** All of type i32; they are the first locals. There is no result. */
  parameters: number;
  /** Locals of type v128 after them. */
  vectors: number;
  code: Code;
}

const text = (value: string): Code => [...unsigned(value.length), ...Buffer.from(value, 'latin1')];
const section = (id: number, ...items: Code[]): Code => {
  const content = [...unsigned(items.length), ...items.flat()];
  return [id, ...unsigned(content.length), ...content];
};

/** A module that imports the shared memory `audio.memory` and exports one function. */
export function encodeModule(exported: WasmFunction): Uint8Array {
  const { name, parameters, vectors, code } = exported;
  const type = [0x60, ...unsigned(parameters), ...Array(parameters).fill(i32), 0];
  const memory = [...text('audio'), ...text('memory'), 0x02, 0x03, 1, ...unsigned(65_536)];
  const body = [1, ...unsigned(vectors), v128, ...code, 0x0b];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, type),
    ...section(2, memory),
    ...section(3, [0]),
    ...section(7, [...text(name), 0x00, 0]),
    ...section(10, [...unsigned(body.length), ...body]),
  ]);
}

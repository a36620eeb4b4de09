// The inner loop, as WebAssembly with 128-bit vectors: four groups of outputs at once, each product
// an i32x4.dot_i16x8_s. It reads and writes whole blocks; who calls it leaves room after the end.
import type { Plan } from './plan.ts';
import { type Code, encodeModule, op } from './wasm.ts';

/** Groups of outputs that one turn of the loop computes. */
export const groupsPerBlock = 4;
const bytesPerSample = 2;
const bytesPerVector = 16;

/** Byte offsets in the memory. `source` is the oldest sample of the first window. */
export type Kernel = (source: number, target: number, coefficients: number, blocks: number) => void;

const [source, target, coefficients, blocks] = [0, 1, 2, 3];
const parameters = 4;

/** Lanes of two vectors as one shuffle: indexes of 32-bit lanes, 4 to 7 of the second vector. */
function shuffle(...lanes: readonly number[]): Code {
  return op.i8x16Shuffle(lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => lane * 4 + byte)));
}

/** Adds up the lanes of each of four vectors; lane k of the result is the sum of vector k. */
function sumLanes(vectors: readonly [number, number, number, number]): Code {
  const [first, second, third, fourth] = vectors.map(op.localGet) as [Code, Code, Code, Code];
  const halves = (left: Code, right: Code): Code => [
    ...[...left, ...right, ...shuffle(0, 4, 1, 5)],
    ...[...left, ...right, ...shuffle(2, 6, 3, 7)],
    ...op.i32x4Add,
  ];
  const a = vectors[0];
  const b = vectors[1];
  return [
    ...[...halves(first, second), ...op.localSet(a), ...halves(third, fourth), ...op.localSet(b)],
    ...[...op.localGet(a), ...op.localGet(b), ...shuffle(0, 1, 4, 5)],
    ...[...op.localGet(a), ...op.localGet(b), ...shuffle(2, 3, 6, 7)],
    ...op.i32x4Add,
  ];
}

function shiftRight(bits: number): Code {
  return bits === 0 ? [] : [...op.i32Const(bits), ...op.i32x4ShrS];
}

/** All products of one block, into one accumulator for each output. */
function accumulate(plan: Plan): Code {
  const { up } = plan.ratio;
  const accumulators = Array.from(
    { length: groupsPerBlock * up },
    (_, index) => parameters + index,
  );
  const code: number[] = [];
  let bits: number | null = null;
  let offset = 0;
  for (const { scaleBits, vectors } of plan.stages) {
    if (bits !== null) {
      const shifted = shiftRight(bits - scaleBits);
      for (const accumulator of accumulators) {
        code.push(...op.localGet(accumulator), ...shifted, ...op.localSet(accumulator));
      }
    }
    for (const vector of vectors) {
      code.push(...multiply(plan, vector, offset, bits === null && vector === vectors[0]));
      offset += up * bytesPerVector;
    }
    bits = scaleBits;
  }
  return code;
}

/** The products of one vector of the window, with its coefficients held in registers. */
function multiply(plan: Plan, vector: number, offset: number, isFirst: boolean): Code {
  const { up, down } = plan.ratio;
  const factor = parameters + groupsPerBlock * up;
  const sample = factor + up;
  const code: number[] = [];
  for (let output = 0; output < up; output++) {
    const load = op.v128Load(offset + output * bytesPerVector, 4);
    code.push(...op.localGet(coefficients), ...load, ...op.localSet(factor + output));
  }
  for (let group = 0; group < groupsPerBlock; group++) {
    const at = vector * bytesPerVector + group * down * bytesPerSample;
    code.push(...op.localGet(source), ...op.v128Load(at, 1), ...op.localSet(sample));
    for (let output = 0; output < up; output++) {
      const accumulator = parameters + group * up + output;
      const operands = [...op.localGet(sample), ...op.localGet(factor + output)];
      const sum = isFirst ? [] : [...op.localGet(accumulator), ...op.i32x4Add];
      code.push(...operands, ...op.i32x4DotI16x8S, ...sum, ...op.localSet(accumulator));
    }
  }
  return code;
}

/** Rounds, saturates and stores the outputs of one block. */
function store(plan: Plan, resultBits: number): Code {
  const outputs = groupsPerBlock * plan.ratio.up;
  const rounded = (first: number): Code => {
    const accumulator = parameters + first;
    return [
      ...sumLanes([accumulator, accumulator + 1, accumulator + 2, accumulator + 3]),
      ...[...op.i32Const(2 ** (resultBits - 1)), ...op.i32x4Splat, ...op.i32x4Add],
      ...shiftRight(resultBits),
    ];
  };
  const code: number[] = [];
  for (let output = 0; output < outputs; output += 8) {
    const isHalf = output + 4 >= outputs;
    code.push(...op.localGet(target), ...rounded(output));
    if (isHalf) code.push(...op.localTee(parameters + output), ...op.localGet(parameters + output));
    else code.push(...rounded(output + 4));
    const put = isHalf ? op.v128Store64Lane0 : op.v128Store;
    code.push(...op.i16x8NarrowI32x4S, ...put(output * bytesPerSample));
  }
  return code;
}

/** The module of a plan. The memory must hold `plan.coefficients`, aligned to 16 bytes. */
export function encodeKernel(plan: Plan): Uint8Array {
  const { up, down } = plan.ratio;
  const resultBits = plan.stages.at(-1)?.scaleBits ?? 0;
  const advance = (local: number, groupBytes: number): Code => {
    const bytes = op.i32Const(groupsPerBlock * groupBytes);
    return [...op.localGet(local), ...bytes, ...op.i32Add, ...op.localSet(local)];
  };
  const body = [
    ...accumulate(plan),
    ...store(plan, resultBits),
    ...advance(source, down * bytesPerSample),
    ...advance(target, up * bytesPerSample),
    ...[...op.localGet(blocks), ...op.i32Const(1), ...op.i32Sub, ...op.localTee(blocks)],
  ];
  return encodeModule({
    name: 'resample',
    parameters,
    vectors: (groupsPerBlock + 1) * up + 1,
    code: op.loopWhile(body),
  });
}

/** An instance on a memory, which it shares with whoever else has it. At least one block a call. */
export function openKernel(plan: Plan, memory: WebAssembly.Memory): Kernel {
  const module = new WebAssembly.Module(encodeKernel(plan));
  const { exports } = new WebAssembly.Instance(module, { audio: { memory } });
  return exports.resample as Kernel;
}

/** The part of the JavaScript interface that the compiler's library leaves to browsers. */
declare global {
  namespace WebAssembly {
    class Memory {
      constructor(bounds: { initial: number; maximum: number; shared: true });
      readonly buffer: SharedArrayBuffer;
    }
    class Module {
      constructor(bytes: Uint8Array);
    }
    class Instance {
      constructor(module: Module, imports: Record<string, Record<string, Memory>>);
      readonly exports: Record<string, unknown>;
    }
  }
}

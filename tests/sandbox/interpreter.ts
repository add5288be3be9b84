/** Runs a filter of system calls as the kernel would: classic BPF over `struct seccomp_data`. */
import type { Instruction } from '../../src/sandbox/kernel/seccomp.ts'

export interface SystemCall {
  readonly architecture: number
  readonly number: number
  /** 64-bit values. */
  readonly arguments: readonly bigint[]
}

const LOAD = 0x20
const AND = 0x54
const RETURN = 0x06

export function interpret(program: readonly Instruction[], call: SystemCall): number {
  const memory = bytesOf(call)
  let accumulator = 0
  for (let at = 0, steps = 0; steps <= program.length; steps++) {
    const instruction = program[at]
    if (instruction === undefined) throw new Error(`the program runs beyond its end at ${at}`)
    const { code, jumpTrue, jumpFalse, value } = instruction
    at++
    if (code === RETURN) return value >>> 0
    else if (code === LOAD) accumulator = memory.getUint32(value, true)
    else if (code === AND) accumulator = (accumulator & value) >>> 0
    else at += holds(code, accumulator, value >>> 0) ? jumpTrue : jumpFalse
  }
  throw new Error('the program does not end')
}

function holds(code: number, accumulator: number, value: number): boolean {
  switch (code) {
    case 0x15:
      return accumulator === value
    case 0x35:
      return accumulator >= value
    case 0x45:
      return (accumulator & value) >>> 0 !== 0
    default:
      throw new Error(`no such instruction: ${code}`)
  }
}

function bytesOf({ architecture, number, arguments: values }: SystemCall): DataView {
  const view = new DataView(new ArrayBuffer(64))
  view.setUint32(0, number >>> 0, true)
  view.setUint32(4, architecture, true)
  for (let index = 0; index < 6; index++) {
    view.setBigUint64(16 + index * 8, BigInt.asUintN(64, values[index] ?? 0n), true)
  }
  return view
}

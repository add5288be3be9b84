/**
 * What a device does with a task: simulate it, or run a command. A command gets the task on its standard
 * input and says by its exit status what happened: 0 executed, 1 to 99 not executed, as a program that
 * could not be started. Anything else, and a signal, is unknown: writ claims nothing about it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { DOCUMENT_LIMITS, readJson } from '../base/index.ts'
import { type ActTask, field, isObject } from '../contracts/index.ts'
import { startNamed } from '../machine/index.ts'

/** What a receipt says of the execution. */
interface Execution {
  readonly status: 'executed' | 'not_executed'
  readonly observed: Readonly<Record<string, unknown>>
  readonly usage: Readonly<Record<string, number | null>>
  readonly logs: readonly { readonly kind: string; readonly ref: string }[]
  readonly violations: readonly string[]
}

export type ExecutionOutcome = Execution | { readonly status: 'unknown'; readonly reason: string }

export type CarryOut = (task: ActTask) => Promise<ExecutionOutcome>

/** Takes so many seconds and observes what the task asks for. */
export function simulation(seconds: number): CarryOut {
  return async (task) => {
    await pause(seconds * 1_000)
    const { parameters, act_task_id } = task
    const logs = [{ kind: 'simulator', ref: `sim:${act_task_id}` }]
    return { status: 'executed', observed: { ...parameters }, usage: {}, logs, violations: [] }
  }
}

const NOT_EXECUTED_MAX = 99
const OUTPUT_MAX = 64 * 1024

/** Runs a program for each task. Its output may be JSON with what was observed and used. */
export function command(words: readonly string[]): CarryOut {
  return async (task) => {
    const child = startNamed(words)
    let out = ''
    child.stdout?.on('data', (piece: Buffer) => {
      if (out.length < OUTPUT_MAX) out += piece.toString()
    })
    // A program need not read its task.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(JSON.stringify(task))
    let hasBegun = false
    child.once('spawn', () => {
      hasBegun = true
    })
    const status = await new Promise<number | string>((resolve) => {
      child.once('error', ({ message }) => resolve(message))
      child.once('close', (code, signal) => resolve(code ?? signal ?? 'no status'))
    })
    // A program that could not be started has done nothing.
    if (!hasBegun) return notStarted(task.act_task_id)
    if (typeof status !== 'number' || status > NOT_EXECUTED_MAX) {
      return { status: 'unknown', reason: `the command ended with ${status}` }
    }
    return toldBy(out, task.act_task_id, status === 0 ? 'executed' : 'not_executed', status)
  }
}

function notStarted(id: string): ExecutionOutcome {
  const logs = [{ kind: 'command', ref: `not-started/${id}` }]
  return { status: 'not_executed', observed: {}, usage: {}, logs, violations: [] }
}

/** Takes over what the program printed, as far as a receipt can hold it; the home judges it. */
function toldBy(
  out: string,
  id: string,
  status: Execution['status'],
  exit: number,
): ExecutionOutcome {
  const read = out.trim() === '' ? null : readJson(out, DOCUMENT_LIMITS)
  const value = read?.ok === true ? read.value : {}
  const [observed, usage] = [field(value, 'observed_parameters'), field(value, 'resource_usage')]
  const logs = elements(field(value, 'logs_refs')).flatMap((one) => {
    const [kind, ref] = [field(one, 'kind'), field(one, 'ref')]
    return typeof kind === 'string' && typeof ref === 'string' ? [{ kind, ref }] : []
  })
  const violations = elements(field(value, 'violations')).filter((one) => typeof one === 'string')
  return {
    status,
    observed: isObject(observed) ? observed : {},
    usage: isObject(usage) ? numbersOf(usage) : {},
    logs: logs.length > 0 ? logs : [{ kind: 'command', ref: `exit:${exit}/${id}` }],
    violations,
  }
}

function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function numbersOf(usage: Readonly<Record<string, unknown>>): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(usage).filter(
      (pair): pair is [string, number | null] => pair[1] === null || typeof pair[1] === 'number',
    ),
  )
}

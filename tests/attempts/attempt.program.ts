/**
 * Carries out steps over attempts as the user this process has, in a home below the folder it is given,
 * and prints one JSON line a step: `{ok}` or `{failure}`. Its one argument is an order; see stage.ts.
 * A later process goes on with what an earlier one left.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeToRegister, makeHome, registerHome } from '../../src/home/home.ts'
import { openHome } from '../../src/home/known-home.ts'
import { type Surroundings, stateRoot } from '../../src/home/place.ts'
import { createDriver } from '../../src/sandbox/linux.ts'
import type { GateSurface } from '../../src/service/gate.ts'
import { openGate } from '../../src/service/gate.ts'
import { recordLaws } from '../../src/service/laws/accept-laws.ts'
import type { Attempt } from '../../src/service/surface/attempt-surface.ts'
import type { Answered, Question } from '../../src/service/surface/surface.ts'
import { type Ledger, openLedger } from '../../src/store/ledger/ledger.ts'
import type { StepOrder, StepsOrder } from './steps.ts'

const order: StepsOrder = JSON.parse(readOrder(process.argv[2] ?? '{}'))
const project = join(order.folder, 'project')
const principal = { kind: 'human' as const, id: 'ann', namespace: 'test' }
const around: Surroundings = {
  cwd: project,
  env: { PATH: process.env['PATH'], XDG_STATE_HOME: join(order.folder, 'state') },
  userDirectory: join(order.folder, 'home'),
  userName: 'ann',
}

/** Symbolic names of attempts, kept for the processes that follow. */
const IDS = join(order.folder, 'ids.json')
const ids: Record<string, string> = existsSync(IDS) ? JSON.parse(readFileSync(IDS, 'utf8')) : {}
const open = new Map<string, Attempt>()
let lastFailure = ''
const aborts = new Map<string, AbortController>()

function readOrder(argument: string): string {
  return argument.startsWith('/') ? readFileSync(argument, 'utf8') : argument
}

function idOf(name: string): string {
  const known = ids[name]
  if (known !== undefined) return known
  const made = randomUUID()
  ids[name] = made
  writeFileSync(IDS, JSON.stringify(ids))
  return made
}

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

function attemptOf(name: string): Attempt {
  const attempt = open.get(name)
  if (attempt === undefined) throw new Error(`no open attempt ${name}: ${lastFailure}`)
  return attempt
}

function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('utf8')
}

async function main(): Promise<void> {
  mkdirSync(join(order.folder, 'home'), { recursive: true })
  const isNew = !existsSync(join(project, '.writ'))
  const home = isNew
    ? (await makeHome(around, null, { principal, source: 'test' })).home
    : openHome(around, null)
  const ledger = await openLedger({ directory: home.state })
  const driver = createDriver({
    watcher: new URL(order.watcher),
    disks: [join(home.state, 'stage'), join(home.directory, 'stage')],
  })
  const gate = await openGate({
    home,
    ledger,
    caller: { principal, streams: null, proof: 'none' },
    stream: 'main',
    stateRoot: stateRoot(around),
    userDirectory: around.userDirectory,
    environment: around.env,
    ancestors: [],
    hasPasskey: false,
    driver,
    nowMs: () => Date.now() + (order.shiftMs ?? 0),
    onPoint: (point, moment) => {
      const { killAt } = order
      if (killAt?.point !== point || killAt.moment !== moment) return
      process.kill(process.pid, 'SIGKILL')
    },
  })
  try {
    for (const step of order.steps) await carryOut(gate, ledger, step)
  } finally {
    for (const attempt of open.values()) await attempt.abandon()
    await driver.close()
    await ledger.close()
  }
}

async function carryOut(gate: GateSurface, ledger: Ledger, step: StepOrder): Promise<void> {
  try {
    say({ ok: (await perform(gate, ledger, step)) ?? null })
  } catch (error) {
    const { fault } = error as { readonly fault?: unknown }
    if (fault === undefined) throw error
    lastFailure = JSON.stringify(fault)
    say({ failure: fault })
  }
}

async function perform(gate: GateSurface, ledger: Ledger, step: StepOrder): Promise<unknown> {
  const { attempts } = gate
  switch (step.do) {
    case 'begin': {
      const abort = new AbortController()
      aborts.set(step.name, abort)
      const attempt = await attempts.begin({
        actionId: idOf(step.name),
        intent: step.intent ?? 'Work of a participant on its node.',
        workspace: project,
        writes: step.writes ?? ['**'],
        bases: (step.bases ?? []).map(idOf),
        hidden: (step.hidden ?? []).map((path) => join(project, path)),
        readOnly: (step.readOnly ?? []).map((path) => join(project, path)),
        egress: step.egress ?? [],
        secrets: step.secrets ?? {},
        limits: { seconds: 30, memoryMb: 512, diskMb: 64, ...step.limits },
        isTraced: step.isTraced ?? false,
        isElsewhere: step.isElsewhere ?? false,
        abort: abort.signal,
      })
      open.set(step.name, attempt)
      return idOf(step.name)
    }
    case 'run': {
      const attempt = attemptOf(step.name)
      if (step.abortAfterMs !== undefined) {
        setTimeout(() => aborts.get(step.name)?.abort(), step.abortAfterMs)
      }
      const outcome = await attempt.run({
        argv: typeof step.command === 'string' ? ['/bin/sh', '-c', step.command] : step.command,
        cwd: project,
        env: step.env ?? {},
        stdin: Buffer.from(step.stdin ?? ''),
        onLine: async (line) => {
          if (step.echo === true) return line
          const { operation } = JSON.parse(line) as { readonly operation: unknown }
          return JSON.stringify(await attempt.operate(operation))
        },
      })
      return { ...outcome, stdout: text(outcome.stdout), stderr: text(outcome.stderr) }
    }
    case 'operate':
      return attemptOf(step.name).operate(step.operation)
    case 'write':
      return attemptOf(step.name).write(join(project, step.path), Buffer.from(step.text))
    case 'read':
      return text(await attemptOf(step.name).read(join(project, step.path)))
    case 'finish': {
      const held = await attemptOf(step.name).finish()
      open.delete(step.name)
      return held
    }
    case 'abandon':
      await attemptOf(step.name).abandon()
      open.delete(step.name)
      return null
    case 'promote':
      return attempts.promoteHeld(idOf(step.name), async (question) => {
        say({ question: question.actionId, codes: question.decision.codes, need: question.need })
        await readAll(question)
        return answerOf(step.answer ?? 'wait')
      })
    case 'drop':
      return attempts.dropHeld(idOf(step.name))
    case 'held': {
      const names = Object.entries(ids)
      return (await attempts.held()).map((id) => names.find(([, each]) => each === id)?.[0])
    }
    case 'staged':
      return text(await attempts.readStaged(step.bases.map(idOf), join(project, step.path)))
    case 'facts': {
      const { facts } = await ledger.store.find({
        stream: 'main',
        type: step.type,
        ...(step.name === undefined ? {} : { action: idOf(step.name) }),
        limit: 1_000,
        order: 'newest_first',
      })
      return facts.map((fact) => JSON.parse(fact.text).record.payload).reverse()
    }
    case 'accept': {
      registerHome(around, homeToRegister(around, null))
      await recordLaws(openHome(around, null), ledger, principal, Date.now())
      return null
    }
    case 'pending':
      return gate.pending()
    case 'answer':
      return gate.answer(idOf(step.name), { kind: 'yes', assurance: 'passphrase' })
    case 'rollback':
      return gate.rollback({ actionId: idOf(step.name) }, { dryRun: false })
    case 'halt':
      return gate.halt(null)
    case 'resume':
      return gate.resume(null)
    case 'shell':
      return execFileSync('/bin/sh', ['-c', step.script], { cwd: project, encoding: 'utf8' })
    default:
      step satisfies never
      return null
  }
}

async function readAll({ changes, read }: Question): Promise<void> {
  for (const change of changes) {
    const stream = read(change, 'after')
    if (stream !== null) for await (const _ of stream);
  }
}

function answerOf(word: 'yes' | 'no' | 'wait'): Answered {
  if (word === 'yes') return { kind: 'yes', assurance: 'passphrase' }
  return { kind: word }
}

await main()

/** The actor never decides (I1): every command, called by every kind of principal, for real. */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import { type Ended, Place } from '../cli-gate/place.ts'
import { chain } from '../flow-run/scripts.ts'
import { again, commandProposal } from '../gate/document.ts'
import {
  CALLERS,
  type Caller,
  type End,
  OF_FLOWS,
  OPEN_TO_ALL,
  ROWS,
  type Row,
} from './principals.ts'

vi.setConfig({ testTimeout: 180_000 })

const WORDS = 'correct horse battery staple'
const PROOF = { passphrase: WORDS }
const PASS = ['--pass-fd', '3']
let place: Place
const tokens = new Map<Caller, string>()

beforeAll(() => {
  place = new Place('principals', { runs: 'warm' }).init(WORDS)
  place.write('work/a.txt')
  place.write('.git/hooks/README')
  for (const kind of ['ai', 'script', 'device'] as const) {
    const name = `${kind}:bot@local`
    expect(place.writ(['principal', 'add', name, ...PASS], PROOF).status).toBe(0)
    const { json } = place.writ(['token', 'create', name, '--json', ...PASS], PROOF)
    tokens.set(kind, json.token)
  }
}, 180_000)

afterAll(() => place?.remove())

it('holds every command there is', () => {
  const named = new Set([...ROWS.map(({ command }) => command), ...OPEN_TO_ALL])
  const missing = COMMANDS.map(({ name }) => name).filter(
    (name) => !named.has(name) && !OF_FLOWS.test(name),
  )
  expect(missing).toEqual([])
})

/** What has to be there for a call to mean something; answers with its id. */
function make(held: NonNullable<Row['held']>): string {
  switch (held) {
    case 'question':
    case 'plain question': {
      for (const { id } of place.pending()) place.writ(['deny', id])
      const target = held === 'question' ? '.git/hooks/pre-push' : 'work/asked.txt'
      expect(place.exec([], `echo ${randomUUID()} > ${target}`).status).toBe(75)
      return place.pending()[0].id
    }
    case 'act': {
      place.exec(['--yes'], `echo ${randomUUID()} > work/act.txt`)
      const { json } = place.writ(['log', '--type', 'promotion_v1', '--newest', '--json'])
      return json.facts[0].record.payload.action_id
    }
    case 'halt':
      expect(place.writ(['halt']).status).toBe(0)
      return ''
    case 'token':
      return place.writ(['token', 'create', 'ai:bot@local', '--json', ...PASS], PROOF).json.token_id
    case 'blocked': {
      const proposal = commandProposal(place, 'rm a.txt', {})
      const input = JSON.stringify(proposal)
      const { json } = place.writ(['propose', '-', '--json'], { input })
      expect(json.decision.permanent).toBe(true)
      return json.action_id
    }
    default:
      return held satisfies never
  }
}

const { bases } = JSON.parse(readFileSync('spec/vectors/contracts/task.json', 'utf8'))
const { act_task_id: _id, created_at_ts: _at, ...whole } = bases.full
/** A sound task of ann's. */
const TASK = { ...whole, issuer: { kind: 'human', id: 'ann', namespace: 'local' } }

function inputOf({ input }: Row): string {
  if (input === 'proposal') return JSON.stringify(again(commandProposal(place, 'true', {})))
  if (input === 'flow') return JSON.stringify(chain(1))
  return input === undefined ? '' : JSON.stringify(TASK)
}

function call(row: Row, caller: Caller, held: string): Ended {
  const words = row.argv.map((word) =>
    word
      .replace(/^\{(?:plain )?(?:question|act|token|blocked)\}$/, held)
      .replace('{new}', join(place.folder, `bundle-${randomUUID()}`))
      .replace('{fresh}', randomUUID().slice(0, 8)),
  )
  const token = tokens.get(caller)
  const isRun = row.command === 'exec'
  const json = isRun ? [] : ['--json']
  const proof = caller === 'human' && takesProof(row.command) ? PASS : []
  const [first = '', ...rest] = words
  const argv = isRun ? [first, ...proof, ...rest] : [first, ...rest, ...json, ...proof]
  return place.writ(argv, {
    input: inputOf(row),
    ...(token === undefined ? {} : { token }),
    ...(proof.length === 0 ? {} : PROOF),
  })
}

function takesProof(name: string): boolean {
  const command = COMMANDS.find((one) => one.name === name)
  return command?.options.some((option) => option.name === 'pass-fd') === true && name !== 'init'
}

function endOf({ status, json }: Ended, wanted: End): End {
  if (typeof wanted === 'number') return status ?? -1
  return json?.error?.code ?? json?.violations?.[0]?.code ?? `exit ${status}`
}

/** Where everybody ends alike, two of them tell as much as five. */
const ALIKE: readonly Caller[] = ['ai', 'bare']

function isAlike({ ends }: Row): boolean {
  return new Set(Object.values(ends)).size === 1
}

function pick(ends: Row['ends'], callers: readonly Caller[]): Partial<Row['ends']> {
  return Object.fromEntries(callers.map((caller) => [caller, ends[caller]]))
}

describe.each(ROWS.map((row) => [row.argv.join(' '), row] as const))('writ %s', (_, row) => {
  it('ends for each kind of caller as it should', () => {
    let held = row.held === undefined ? '' : make(row.held)
    const found: Partial<Record<Caller, End>> = {}
    let told = ''
    for (const caller of isAlike(row) ? ALIKE : CALLERS) {
      const ended = call(row, caller, held)
      found[caller] = endOf(ended, row.ends[caller])
      told += `${caller}: ${ended.out.slice(0, 300)}${ended.err.slice(0, 300)}\n`
      // Makes again what the call may have used up.
      if (ended.status === 0 && row.held !== undefined && caller !== 'human') held = make(row.held)
    }
    if (row.command === 'halt') place.writ(['resume', ...PASS], PROOF)
    const wanted = isAlike(row) ? pick(row.ends, ALIKE) : row.ends
    expect(found, told).toEqual(wanted)
  })
})

describe('below a known agent', () => {
  it('the word of a human without proof counts for nothing, no matter the command', () => {
    const open = new Place('agent', { runs: 'warm' }).init()
    try {
      const program = join(open.folder, 'claude')
      execFileSync('cp', ['/bin/sh', program])
      const below = (...args: string[]): Ended =>
        open.writ([...args, '--json'], { through: [program, '-c', '"$@"; exit $?', 'claude'] })
      for (const args of [
        ['override', '--law', 'NO_CRITICAL', '--for', '1m', '--reason', 'x'],
        ['resume'],
        ['laws', 'accept'],
        ['principal', 'add', 'ai:me@local'],
        ['purge', '--before', '1d'],
      ]) {
        expect(below(...args).json?.error?.code, args.join(' ')).toBe('credential.required')
      }
      const secret = { passphrase: WORDS, through: [program, '-c', '"$@"; exit $?', 'claude'] }
      const set = open.writ(['init', '--pass-fd', '3', '--json'], secret)
      expect(set.json?.error?.code).toBe('credential.required')
      expect(open.writ(['doctor', '--json']).json.credential).toBe('none')
    } finally {
      open.remove()
    }
  })
})

/**
 * The corpus of escapes: every attempt by an ordinary user and by one of the two ways in which root opens
 * sandboxes, in turns, each in a sandbox of its own. `npm run soak escapes` lets all three try all of
 * them, over and over in shuffled order.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { programFile, runProgram } from '../ledger/program.ts'
import { place, TEST_UID, userWrapper } from '../sandbox/drive.ts'
import { type Finished, kindOf, OPENERS, type Opener } from './attempt.ts'
import { CORPUS } from './corpus/index.ts'

const ROUNDS = Number(process.env['WRIT_ESCAPE_ROUNDS'] ?? 1)
const ONLY = process.env['WRIT_ESCAPE_ONLY']
const PARALLEL = 4
const MINUTES = 60_000

const chosen = CORPUS.filter(({ id }) => ONLY === undefined || new RegExp(ONLY).test(id))

/** The attempts of one opener. Those of a kind go to the two of root in turns, so each meets every kind. */
function attemptsOf(as: Opener): typeof chosen {
  if (ROUNDS > 1 || as === 'user') return chosen
  return chosen.filter((attempt) => {
    const alike = chosen.filter((one) => kindOf(one) === kindOf(attempt))
    return alike.length === 1 || (alike.indexOf(attempt) % 2 === 0) === (as === 'root')
  })
}

/** Everything of one round: id and what was wrong. */
async function round(as: Opener, number: number): Promise<readonly Finished[]> {
  const who = as === 'user' ? 'user' : 'root'
  const base = place(who, '/opt')
  const tools = join(base, 'tools')
  const token = `hunter2-${randomBytes(8).toString('hex')}`
  mkdirSync(tools)
  compile(join(tools, 'calls'))
  const secret = join(base, 'inherited')
  writeFileSync(secret, token)
  chmodSync(secret, 0o644)
  if (as === 'user') chownSync(secret, TEST_UID, TEST_UID)
  // Descriptors of a secret, of a file for writing and of the whole machine, as a careless parent leaves.
  const careless = `exec 40<${secret} 41<>${secret} 42</ 251<${secret}; exec "$@"`
  const order = {
    as,
    base,
    calls: join(tools, 'calls'),
    watcher: pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href,
    ids: ordered(as, number),
    parallel: PARALLEL,
    token,
  }
  const { lines, errors, status } = await runProgram('tests/escapes/escapes.program.ts', order, {
    wrapper: [...userWrapper(who), 'env', `SECRET=${token}`, 'bash', '-c', careless, 'bash'],
  })
  rmSync(base, { recursive: true, force: true })
  if (status !== 0) throw new Error(`the program ended with ${status}: ${errors}`)
  return lines.map((line) => JSON.parse(line))
}

/** Returns the ids in the order of the corpus for round 0, shuffled for others. */
function ordered(as: Opener, number: number): readonly string[] {
  const ids = attemptsOf(as).map(({ id }) => id)
  if (number === 0) return ids
  const seed = (fc.readConfigureGlobal().seed ?? 0) + number
  const [shuffled] = fc.sample(fc.shuffledSubarray(ids, { minLength: ids.length }), {
    seed,
    numRuns: 1,
  })
  return shuffled ?? ids
}

function compile(file: string): void {
  try {
    execFileSync('cc', ['-O1', '-o', file, 'tests/escapes/calls.c', '-lutil'], { stdio: 'pipe' })
  } catch (error) {
    throw new Error(`the attempts need a C compiler (apt-get install gcc libc6-dev): ${error}`)
  }
  chmodSync(file, 0o755)
}

describe.each(OPENERS)('attempts to get out of a sandbox opened by %s', (as) => {
  const finished = new Map<string, string[]>()

  beforeAll(
    async () => {
      for (let number = 0; number < ROUNDS; number++) {
        for (const { id, wrong } of await round(as, number)) {
          finished.set(id, [...(finished.get(id) ?? []), ...wrong])
        }
      }
    },
    ROUNDS * 10 * MINUTES,
  )

  it.each(attemptsOf(as).map(({ id, title }) => [id, title]))('%s: %s', (id) => {
    expect(finished.get(id)).toEqual([])
  })

  it('nothing is left when all are through', () => {
    expect(finished.get('after/everything')).toEqual([])
  })
})

describe('the corpus', () => {
  it('names every attempt once, and has many of many kinds', () => {
    const ids = CORPUS.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(100)
    expect(new Set(CORPUS.map(kindOf)).size).toBeGreaterThanOrEqual(20)
  })

  it('is tried as a whole by the user, and by root in one way or the other', () => {
    const byRoot = [...attemptsOf('root'), ...attemptsOf('root over many owners')]
    expect(attemptsOf('user')).toEqual(chosen)
    expect(new Set(byRoot)).toEqual(new Set(chosen))
  })
})

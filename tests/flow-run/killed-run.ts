/**
 * One run of `everyEdge` by the built program, whose processes are killed at random: those that walk it,
 * while they begin, go on or recover, and those by which a human answers.
 *
 * Kills come at a constant rate, so they are spread evenly over the life of the run, however fast the
 * machine is; one in four comes early, when a process that resumes is still putting things in order.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Fact, foldFacts, outstanding } from '../../src/flow/index.ts'
import { readRun } from '../../src/host/flow/run-records.ts'
import { everyEdge, writeScripts } from './every-edge.ts'
import { Person } from './person.ts'
import { RunPlace } from './place.ts'
import { compiledFlow } from './scripts.ts'

const PROGRAM = resolve('bin/writ.mjs')
const LOOK_MS = 100
/** A process that neither ends nor is killed for so long hangs. */
const HANG_MS = 180_000
const EARLY_SHARE = 0.25
const ANSWERS_KILLED = 0.2

/** The state of the run in which a process was killed. */
export interface Kill {
  /** What was being done; `opening` when the process had not recorded anything yet. */
  readonly during: string
  readonly facts: number
}

/** When and whom to kill; null kills nobody. */
export interface Killer {
  readonly chance: () => number
  /** From one kill to the next, on average. */
  readonly meanMs: number
  /** How long the program takes to be there at all. */
  readonly startMs: number
}

interface Ended {
  readonly status: number | null
  readonly wasKilled: boolean
  readonly out: string
  readonly err: string
}

export class KilledRun {
  readonly place: RunPlace
  readonly kills: Kill[] = []
  readonly #killer: Killer | null
  readonly #person: Person
  #runId: string | null = null
  #facts: readonly Fact[] = []

  constructor(place: RunPlace, killer: Killer | null) {
    this.place = place
    this.#killer = killer
    this.#person = new Person(place, async (words) => {
      const isKilled = killer !== null && killer.chance() < ANSWERS_KILLED
      const ended = await this.#writ(words, isKilled ? killer.chance() * 2 * killer.startMs : null)
      if (ended.wasKilled) this.kills.push({ during: 'answering', facts: this.#facts.length })
      return ended.wasKilled ? null : ended
    })
  }

  static async in(killer: Killer | null): Promise<KilledRun> {
    const place = await new RunPlace('kills').make()
    writeScripts(place)
    return new KilledRun(place, killer)
  }

  get runId(): string {
    return this.#runId ?? ''
  }

  get facts(): readonly Fact[] {
    return this.#facts
  }

  /** Until it is done; gives what the last process printed. */
  async walk(): Promise<unknown> {
    for (;;) {
      const before = this.#facts.length
      const ended = await this.#process()
      await this.#read()
      if (ended.wasKilled) this.#note(before)
      else if (ended.out === '') throw new Error(`it ended without a word: ${ended.err}`)
      const answer = ended.wasKilled ? null : JSON.parse(ended.out)
      if (answer?.status === 'DONE') return answer
      if (answer !== null && !GOES_ON.includes(answer.status)) throw new Error(ended.out)
      if (this.#runId !== null) await this.#person.answer(this.#runId)
    }
  }

  async #process(): Promise<Ended> {
    const { chance } = this.#killer ?? { chance: () => 0 }
    const words = this.#runId === null ? ['run', 'flow.json'] : ['resume', this.#runId]
    const waits = chance() < 0.5
    const walking = this.#writ([...words, '--json', ...(waits ? ['--wait'] : [])], this.#lifeMs())
    if (!waits) return walking
    const over = walking.then(() => true)
    // Whoever waits for a human is answered while it does.
    while (!(await Promise.race([over, pause(LOOK_MS, false)]))) {
      await this.#read()
      if (this.#facts.length > 0) await this.#person.answer(this.runId)
    }
    return walking
  }

  #lifeMs(): number | null {
    if (this.#killer === null) return null
    const { chance, meanMs, startMs } = this.#killer
    const isEarly = chance() < EARLY_SHARE
    return startMs + (isEarly ? chance() * startMs : -Math.log(1 - chance()) * meanMs)
  }

  #writ(words: readonly string[], killAfterMs: number | null): Promise<Ended> {
    const { folder, workspace } = this.place
    const { WRIT_TOKEN: _token, WRIT_HOME: _home, ...around } = process.env
    const child = spawn(process.execPath, [PROGRAM, 'flow', ...words], {
      cwd: workspace,
      env: { ...around, HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'state') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return endOf(child, words, killAfterMs, (err) => {
      this.#runId ??= /^run-[0-9a-f-]{36}$/m.exec(err)?.[0] ?? null
    })
  }

  async #read(): Promise<void> {
    if (this.#runId === null) return
    const { facts } = await readRun(this.place.ledger, 'main', this.#runId)
    this.#facts = facts
  }

  /** It may have died before its first fact: then there is no run yet. */
  #note(before: number): void {
    const { length } = this.#facts
    if (length === 0) this.#runId = null
    const open = outstanding(foldFacts(compiledFlow(everyEdge()), this.#facts))
    const during = length === before ? 'opening' : open.map(({ type }) => type).join('+')
    this.kills.push({ during, facts: length })
  }
}

const GOES_ON = ['WAITING', 'BLOCKED', 'RUNNING']

function endOf(
  child: ChildProcess,
  words: readonly string[],
  killAfterMs: number | null,
  onError: (text: string) => void,
): Promise<Ended> {
  return new Promise((resolved, rejected) => {
    const kill = (): boolean => child.kill('SIGKILL')
    const timer = killAfterMs === null ? null : setTimeout(kill, killAfterMs)
    const hang = setTimeout(() => {
      kill()
      rejected(new Error(`it hangs: writ flow ${words.join(' ')}`))
    }, HANG_MS)
    let [out, err] = ['', '']
    child.stdout?.on('data', (part: Buffer) => {
      out += part.toString('utf8')
    })
    child.stderr?.on('data', (part: Buffer) => {
      err += part.toString('utf8')
      onError(err)
    })
    child.on('error', rejected)
    child.on('close', (status, signal) => {
      if (timer !== null) clearTimeout(timer)
      clearTimeout(hang)
      resolved({ status, wasKilled: signal === 'SIGKILL', out, err })
    })
  })
}

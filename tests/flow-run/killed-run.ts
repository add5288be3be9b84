/**
 * One run of `everyEdge` by the built program, whose processes are killed at random: those that walk it,
 * while they begin, go on or recover, and those by which a human answers.
 *
 * Most kills come at a constant rate from the first fact of a process on, so they are spread evenly over
 * the life of the run, however fast the machine is. Some come while a process is still opening and
 * putting things in order, and some during what is over soon: promotions, rollbacks, logs, manifests.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type FlowFact, foldFacts, outstanding } from '../../src/flow/index.ts'
import { readRun } from '../../src/runs/run-records.ts'
import { everyEdge, writeScripts } from './every-edge.ts'
import { Person } from './person.ts'
import { RunPlace } from './place.ts'
import { compiledFlow } from './scripts.ts'

const PROGRAM = resolve('bin/writ.cjs')
const LOOK_MS = 100
/** A run that still goes on after so many processes gets nowhere. */
const PROCESSES_MAX = 150
/** A process that neither ends nor is killed for so long hangs. */
const HANG_MS = 180_000
const EARLY_SHARE = 0.15
const BRIEF_SHARE = 0.3
const ANSWERS_KILLED = 0.2
/** A command that is carried out in a moment. */
const BRIEF = /"type":"(promote|roll_back|write_log|write_manifest)"/

/** The state of the run in which a process was killed. */
export interface Kill {
  /** What was being done; `opening` when the process had not recorded anything yet. */
  readonly during: string
  readonly facts: number
}

/** When to kill, and which process; null kills none. */
export interface Killer {
  readonly chance: () => number
  /** From one kill to the next, on average. */
  readonly meanMs: number
  /** What is over soon takes about as long. */
  readonly briefMs: number
  /** How long the program takes to be there at all. */
  readonly startMs: number
  /** Kills at each kind of step at each node once, and at no other moment; what it was is added. */
  readonly steps?: Set<string>
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
  #facts: readonly FlowFact[] = []

  constructor(place: RunPlace, killer: Killer | null) {
    this.place = place
    this.#killer = killer
    this.#person = new Person(place, async (words) => {
      const isKilled = killer !== null && killer.chance() < ANSWERS_KILLED
      const ended = await this.#writ(
        words,
        isKilled ? after(killer.chance() * 2 * killer.startMs) : NOBODY,
      )
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

  get facts(): readonly FlowFact[] {
    return this.#facts
  }

  /** Until it is done; gives what the last process printed. */
  async walk(): Promise<unknown> {
    for (let processes = 0; ; processes++) {
      const before = this.#facts.length
      const ended = await this.#process()
      await this.#read()
      if (ended.wasKilled) this.#note(before)
      else if (ended.out === '') throw new Error(`it ended without a word: ${ended.err}`)
      const answer = ended.wasKilled
        ? null
        : JSON.parse(ended.out.trimEnd().split('\n').at(-1) ?? '')
      if (answer?.status === 'DONE') return answer
      if (answer !== null && !GOES_ON.includes(answer.status)) throw new Error(ended.out)
      if (processes > PROCESSES_MAX) throw new Error(`it gets nowhere: ${ended.out}`)
      if (this.#runId !== null) await this.#person.answer(this.#runId)
    }
  }

  async #process(): Promise<Ended> {
    const { chance } = this.#killer ?? { chance: () => 0 }
    const words = this.#runId === null ? ['run', 'flow.json'] : ['resume', this.#runId]
    const waits = chance() < 0.5
    const walking = this.#writ([...words, '--jsonl', ...(waits ? ['--wait'] : [])], this.#fate())
    if (!waits) return walking
    const over = walking.then(() => true)
    // Answers the questions of the run while it waits for a human.
    while (!(await Promise.race([over, pause(LOOK_MS, false)]))) {
      await this.#read()
      if (this.#facts.length > 0) await this.#person.answer(this.runId)
    }
    return walking
  }

  /** When a process that walks is killed. */
  #fate(): Fate {
    if (this.#killer === null) return NOBODY
    const { chance, meanMs, startMs, briefMs, steps } = this.#killer
    if (steps !== undefined)
      return { atFirst: null, atFact: (text) => (isNew(text, steps) ? 0 : null) }
    const share = chance()
    if (share < EARLY_SHARE) return after(startMs * (0.5 + chance()))
    const lifeMs = -Math.log(1 - chance()) * meanMs
    if (share > EARLY_SHARE + BRIEF_SHARE) return { atFirst: null, atFact: onceAfter(lifeMs) }
    const atFact = (text: string): number | null =>
      BRIEF.test(text) && chance() < 0.5 ? chance() * briefMs : null
    return { atFirst: null, atFact }
  }

  #writ(words: readonly string[], fate: Fate): Promise<Ended> {
    const { folder, workspace } = this.place
    const { WRIT_TOKEN: _token, WRIT_HOME: _home, ...around } = process.env
    const child = spawn(process.execPath, [PROGRAM, 'flow', ...words], {
      cwd: workspace,
      env: { ...around, HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'state') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return endOf(child, words, fate, (err) => {
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

/** In how many milliseconds a process is killed: from its beginning on, or from something it prints. */
interface Fate {
  readonly atFirst: number | null
  readonly atFact: (text: string) => number | null
}

const NOBODY: Fate = { atFirst: null, atFact: () => null }

function after(ms: number): Fate {
  return { ...NOBODY, atFirst: ms }
}

/** Returns whether one of the printed facts is of a kind at which no process was killed yet. */
function isNew(text: string, steps: Set<string>): boolean {
  const kinds = text.split('\n').flatMap((line) => {
    const [type, kind, what, node] = [
      /^{"type":"(\w+)"/,
      /"kind":"(\w+)"/,
      WHAT,
      /"node_id":"(\w+)"/,
    ].map((pattern) => pattern.exec(line)?.[1] ?? '')
    return type === '' ? [] : [`${type} ${kind} ${what} ${node}`]
  })
  const fresh = kinds.find((kind) => !steps.has(kind))
  if (fresh !== undefined) steps.add(fresh)
  return fresh !== undefined
}

/** Of an event or a command. */
const WHAT = /"(?:event|command)":{"type":"(\w+)"/

/** From the first thing on that is printed. */
function onceAfter(ms: number): Fate['atFact'] {
  return () => ms
}

function endOf(
  child: ChildProcess,
  words: readonly string[],
  { atFirst, atFact }: Fate,
  onError: (text: string) => void,
): Promise<Ended> {
  return new Promise((resolved, rejected) => {
    const kill = (): boolean => child.kill('SIGKILL')
    let timer = atFirst === null ? null : setTimeout(kill, atFirst)
    const hang = setTimeout(() => {
      kill()
      rejected(new Error(`it hangs: writ flow ${words.join(' ')}`))
    }, HANG_MS)
    let [out, err] = ['', '']
    child.stdout?.on('data', (part: Buffer) => {
      const text = part.toString('utf8')
      out += text
      const killMs = timer === null ? atFact(text) : null
      if (killMs !== null) timer = setTimeout(kill, killMs)
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

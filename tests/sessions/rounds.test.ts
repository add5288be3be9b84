/**
 * Sessions in random rounds (S-1, S-2, S-3, S-10, S-11): a shell does the same acts in a session and in a
 * plain directory, the shadow. Settles, answers and undos come from other processes, and `writ run` is
 * killed at random moments, also in the middle of a settle, and resumed. After every round the agent has
 * to see the shadow, and what is pending has to be exactly where shadow and real tree differ.
 *
 * `WRIT_SESSION_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { dump, type Random, randomFrom } from '../view/rounds.ts'
import { AGENT, RunningAgent, SessionPlace } from './session-place.ts'

const ROUNDS = Number(process.env['WRIT_SESSION_ROUNDS'] ?? 2)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261117)
const ROUND_MS = 60_000

const TRACKED = { t0: 'first\n', t1: 'second\n', 'd/t2': 'third\n', 'd/e/t3': 'fourth\n' }
const NAMES = ['t0', 't1', 'd/t2', 'd/e/t3', 'u0', 'n0', 'd/n1', 'd/e/n2', 'm/n3', 'm/o/n4']
/** Everything that is seen, one line a file. */
const LIST =
  'find . \\( -name .git -o -name .writ \\) -prune -o -type f -print | LC_ALL=C sort | xargs -r md5sum'

let rounds: SessionRounds | null = null
afterEach(() => rounds?.close())

class SessionRounds {
  readonly place = new SessionPlace('rounds')
  readonly log: string[] = []
  readonly #shadow: string
  readonly #random: Random
  #agent: RunningAgent
  #count = 0

  constructor(random: Random) {
    this.#random = random
    this.place.commit(TRACKED)
    this.place.write('u0', 'not tracked\n')
    this.place.init()
    this.#shadow = join(this.place.folder, 'shadow')
    for (const name of [...Object.keys(TRACKED), 'u0']) this.#copyReal(name)
    this.#agent = this.place.agentRun(['--settle', 'never'])
  }

  close(): void {
    this.#agent.child.kill('SIGKILL')
    this.place.remove()
  }

  /** Makes the shadow at a path what is real there. */
  #copyReal(path: string): void {
    const [from, to] = [join(this.place.project, path), join(this.#shadow, path)]
    rmSync(to, { recursive: true, force: true })
    if (!existsSync(from)) return
    mkdirSync(dirname(to), { recursive: true })
    cpSync(from, to, { recursive: true, preserveTimestamps: true })
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)] as T // Below the length, so there is one.
  }

  #act(): string {
    const [one, other] = [this.#pick(NAMES), this.#pick(NAMES)]
    const text = `${this.#count++}`
    return this.#pick([
      `mkdir -p $(dirname ${one}) && echo ${text} > ${one}`,
      `mkdir -p $(dirname ${one}) && echo ${text} >> ${one}`,
      `echo ${text} > t0.new && mv t0.new t0`,
      `rm -f ${one}`,
      `test ! -f ${one} || test ${one} = ${other} || { mkdir -p $(dirname ${other}) && mv ${one} ${other}; }`,
      `rm -rf m && mkdir m && echo ${text} > m/n3`,
      `test ! -f ${one} || chmod 755 ${one}`,
    ])
  }

  async #acts(): Promise<void> {
    for (let count = 1 + this.#random(4); count > 0; count--) {
      const act = this.#act()
      this.log.push(act)
      execFileSync('bash', ['-c', act], { cwd: this.#shadow })
      await this.#agent.does(act)
    }
  }

  async round(): Promise<void> {
    await this.#acts()
    switch (this.#random(6)) {
      case 0:
        await this.#kill(false)
        break
      case 1:
        await this.#kill(true)
        break
      case 2:
        this.#settle()
        this.#undo()
        break
      case 3:
        this.#settle()
        await this.#answer()
        break
      default:
        this.#settle()
    }
    await this.#compare()
  }

  #settle(): void {
    const { status, err } = this.place.writ(['session', 'settle', '--json'])
    this.log.push(`settled ${status}`)
    expect(err, this.log.join('\n')).not.toContain('bug')
  }

  /** Kills `writ run`, in the middle of a settle or not, and goes on with another process. */
  async #kill(settles: boolean): Promise<void> {
    const settling = settles ? this.place.start(['session', 'settle']) : null
    const waitMs = this.#random(settles ? 700 : 50)
    await pause(waitMs)
    this.log.push(`kill after ${waitMs} ms${settles ? ' of a settle' : ''}`)
    this.#agent.child.kill('SIGKILL')
    await this.#agent.exited
    // It may have gone on with the settle itself, and counts as running until it is dead.
    if (settling !== null) await killed(settling)
    const [session] = this.place.sessions()
    expect(session, this.log.join('\n')).toMatchObject({ state: 'stopped' })
    this.#agent = new RunningAgent(
      this.place.start(['run', '--resume', session.session_id, '--', 'bash', '-c', AGENT]),
    )
    await this.#agent.does('true')
  }

  /** Takes back the last act, if nothing is pending that lies on it. */
  #undo(): void {
    if (this.#differing().length > 0) return
    const undone = this.place.writ(['undo', '--json'])
    this.log.push(`undo ${undone.status}`)
    if (undone.status !== 0) return
    for (const name of NAMES) this.#copyReal(name)
    for (const name of ['m/o', 'm', 'd/e', 'd']) {
      if (!existsSync(join(this.place.project, name))) this.#copyReal(name)
    }
  }

  async #answer(): Promise<void> {
    const [question] = this.place.pending()
    if (question === undefined) return
    const words = this.#random(2) === 0 ? ['approve', question.id, '--yes'] : ['deny', question.id]
    const { status } = this.place.writ(words)
    this.log.push(`${words[0]} ${status}`)
    this.#settle()
  }

  /** Where shadow and real tree differ. */
  #differing(): readonly string[] {
    const isOwn = (line: string): boolean => /^\.\/\.(git|writ)\b/.test(line)
    const [real, shadow] = [this.place.project, this.#shadow].map(
      (top) => new Set(dump(top).filter((line) => !isOwn(line))),
    ) as [Set<string>, Set<string>] // One for each place.
    const lines = [
      ...[...real].filter((line) => !shadow.has(line)),
      ...[...shadow].filter((line) => !real.has(line)),
    ]
    return [...new Set(lines.map((line) => line.split(' ')[0]?.slice(2) ?? ''))].sort()
  }

  async #compare(): Promise<void> {
    // What others changed is shown within the time of a watch.
    const wanted = execFileSync('bash', ['-c', LIST], { cwd: this.#shadow, encoding: 'utf8' })
    const seen = async (): Promise<string> => {
      const before = this.#agent.out.length
      await this.#agent.does(LIST)
      return this.#agent.out.slice(before).split('done: ')[0] ?? ''
    }
    let found = await seen()
    for (let turn = 0; turn < 10 && found !== wanted; turn++) {
      await pause(200)
      found = await seen()
    }
    expect(found, this.log.join('\n')).toBe(wanted)
    const { pending } = this.place.writ(['session', 'show', '--json']).json
    const paths = pending.map(({ path }: { path: string }) =>
      path.slice(this.place.project.length + 1),
    )
    expect(paths.sort(), this.log.join('\n')).toEqual(this.#differing())
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

it(`${ROUNDS} rounds of a session, seed ${SEED}`, { timeout: ROUNDS * ROUND_MS }, async () => {
  rounds = new SessionRounds(randomFrom(SEED))
  for (let round = 0; round < ROUNDS; round++) {
    rounds.log.push(`round ${round}`)
    await rounds.round()
  }
})

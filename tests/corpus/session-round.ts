/**
 * The corpora inside sessions: routine work, all of it in one session of one agent, and scripts with a
 * hidden effect, each in a session whose declaration names the visible job alone.
 */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { treeListing } from '../tree/tree-hash.ts'
import type { Ground, Place } from './ground.ts'
import { Listener, makeProject, missingEffects } from './hidden-trial.ts'
import { makeRoutineProject, routineCommand } from './routine-trial.ts'
import type { HiddenTask, RoutineTask } from './task.ts'

interface SessionTask {
  readonly id: string
  readonly questions: number
  readonly blocked: boolean
  /** The task deletes, or the laws ask about it for any declaration. */
  readonly isAsking: boolean
  /** What the decision says, if a person is asked or it is blocked. */
  readonly codes: readonly string[]
}

/** Runs each line that it reads, and says so. */
const AGENT = 'while IFS= read -r line; do eval "$line"; echo "done: $line"; done'

/** One session over all projects; each task settles by itself, and what waits is denied. */
export async function routineInSession(
  ground: Ground,
  tasks: readonly RoutineTask[],
): Promise<readonly SessionTask[]> {
  const made: (readonly [RoutineTask, Place])[] = []
  for (const task of tasks) {
    const place = await makeRoutineProject(ground, task)
    ground.write(join(place.home, 'task.sh'), routineCommand(ground, task))
    made.push([task, place])
  }
  const homes = join(ground.folder, 'homes')
  // A scope holds no home of the person who starts the session.
  const office = { home: join(ground.folder, 'office', 'home'), project: homes }
  ground.write(join(office.home, '.gitconfig'), '[user]\n\tname = Ann\n\temail = ann@example.org\n')
  const words = ['run', '--settle', 'never', '--as', 'coder', '--scope', homes, '--']
  const agent = new LineAgent(ground.start(office, [...words, 'bash', '-c', AGENT], homes))
  const found: SessionTask[] = []
  for (const [task, place] of made) {
    // With the private home of the session, in which tools keep their caches and logs.
    await agent.does(`cd ${place.project} && sh ../../task.sh >/dev/null 2>&1; cd /`)
    const { out } = await ground.writ(office, ['session', 'settle', '--json'])
    const { asked, blocked } = JSON.parse(out)
    if (asked?.pending !== undefined) await ground.writ(office, ['deny', asked.pending.id])
    found.push({
      id: task.id,
      questions: asked?.pending === undefined ? 0 : 1,
      blocked: blocked !== null,
      isAsking: task.asks !== undefined || (task.declared?.delete ?? []).length > 0,
      codes: [...(asked?.decision.codes ?? []), ...(blocked?.decision.codes ?? [])],
    })
  }
  await agent.ends()
  return found
}

class LineAgent {
  readonly #child: ChildProcess
  #out = ''
  #heard: () => void = () => undefined

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout?.on('data', (chunk) => {
      this.#out += chunk
      this.#heard()
    })
    child.once('exit', () => this.#heard())
  }

  /** Fails if the agent ends before it has done the line. */
  async does(line: string): Promise<void> {
    this.#out = ''
    this.#child.stdin?.write(`${line}\n`)
    while (!this.#out.includes(`done: ${line}`)) {
      if (this.#child.exitCode !== null) throw new Error(`the session ended: ${line}`)
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
  }

  ends(): Promise<void> {
    this.#child.stdin?.end()
    return new Promise((resolve) => {
      this.#child.once('exit', () => resolve())
    })
  }
}

interface SessionPlant {
  readonly id: string
  /** The planted effect became real. */
  readonly isPromoted: boolean
  /** The session said that it refused something or asks about it. */
  readonly isSaid: boolean
}

export async function hiddenInSession(ground: Ground, task: HiddenTask): Promise<SessionPlant> {
  const listener = await Listener.open()
  try {
    const place = await makeProject(ground, task, true, listener)
    const before = treeListing(place.home, { times: false, directoryTimes: false })
    const { write = [], delete: remove = [] } = task.declared
    const declared = [
      ...write.flatMap((glob) => ['--write', glob]),
      ...remove.flatMap((glob) => ['--delete', glob]),
    ]
    const scope = ['--scope', place.project, '--as', 'coder']
    const words = ['run', '--settle', 'end', ...scope, ...declared, '--', ...task.command]
    const { err } = await ground.writ(place, words)
    const after = treeListing(place.home, { times: false, directoryTimes: false })
    const missing = await missingEffects(task, place, before, after, listener)
    const count = task.plant.kind === 'paths' ? task.plant.paths.length : 1
    ground.remove(place)
    return {
      id: task.id,
      isPromoted: missing.length < count,
      isSaid: /blocked|wait for an answer|refused/.test(err),
    }
  } finally {
    listener.close()
  }
}

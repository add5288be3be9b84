/**
 * One routine task, tried twice: with its effects declared, which should ask no question, and without,
 * which should ask once for a plain yes. Any other outcome is a false alarm.
 */
import { join } from 'node:path'
import type { Ground, Place, Run } from './ground.ts'
import { STARTS } from './routine/starts.ts'
import type { RoutineTask, Start } from './task.ts'

export interface RoutineFinding {
  readonly id: string
  /** Questions when the effects were declared, and when they were not. */
  readonly prompts: { readonly declared: number; readonly undeclared: number }
  /** Blocks and questions that a developer would call wrong. */
  readonly alarms: readonly string[]
  /** The alarm is one that is known, and why. */
  readonly limit: string | null
  /** The task itself does not work, with or without writ. */
  readonly broken: string | null
}

/** Findings that tell something and stop nothing. */
const QUIET = ['effect.discarded', 'effect.not_observed', 'effect.build_execution']

export async function tryRoutine(ground: Ground, task: RoutineTask): Promise<RoutineFinding> {
  const declared = await through(ground, task, optionsOf(task))
  // A task that only reads asks no question, so it runs without `--yes`.
  const isLooking = task.declared === undefined
  const undeclared = isLooking ? declared : await through(ground, task, ['--yes'])
  const alarms = [
    ...alarmsOf(task, declared, 'PROMOTE').map((alarm) => `declared: ${alarm}`),
    ...(isLooking
      ? []
      : alarmsOf(task, undeclared, 'CONFIRM').map((alarm) => `undeclared: ${alarm}`)),
  ]
  return {
    id: task.id,
    prompts: { declared: promptsOf(declared), undeclared: promptsOf(undeclared) },
    alarms,
    limit: task.limit ?? null,
    broken: alarms.length === 0 ? null : await brokenness(ground, task),
  }
}

function optionsOf({ declared = {} }: RoutineTask): readonly string[] {
  const { write = [], delete: remove = [] } = declared
  return [
    ...write.flatMap((glob) => ['--write', glob]),
    ...remove.flatMap((glob) => ['--delete', glob]),
  ]
}

async function through(
  ground: Ground,
  task: RoutineTask,
  options: readonly string[],
): Promise<Run> {
  const place = await makeRoutineProject(ground, task)
  const run = await ground.exec(place, options, ['sh', '-c', routineCommand(ground, task)])
  ground.remove(place)
  return run
}

export function routineCommand({ packages }: Ground, { run }: RoutineTask): string {
  return run.replaceAll('{packages}', packages)
}

const MADE = new WeakMap<Ground, Map<Start, Promise<string>>>()

/** The project to start from is made once on each ground, and copied for each task. */
function startOf(ground: Ground, start: Start): Promise<string> {
  const made = MADE.get(ground) ?? new Map<Start, Promise<string>>()
  MADE.set(ground, made)
  const known = made.get(start) ?? makeStart(ground, start)
  made.set(start, known)
  return known
}

async function makeStart(ground: Ground, start: Start): Promise<string> {
  const { files, before } = STARTS[start]
  const place = ground.makeHome()
  for (const [name, text] of Object.entries(files)) ground.write(join(place.project, name), text)
  await ground.own(place.home)
  if (before !== undefined) await ground.prepare(place, before)
  return place.project
}

export async function makeRoutineProject(
  ground: Ground,
  { start, before }: RoutineTask,
): Promise<Place> {
  const place = ground.makeHome(await startOf(ground, start))
  await ground.own(place.home)
  if (before !== undefined) await ground.prepare(place, before)
  return place
}

function promptsOf({ answer }: Run): number {
  return answer?.decision.decision === 'CONFIRM' ? 1 : 0
}

function alarmsOf(
  { asks }: RoutineTask,
  { answer, status, out, err }: Run,
  expected: 'PROMOTE' | 'CONFIRM',
): readonly string[] {
  if (answer === null) return [`no answer, status ${status}: ${out}${err}`]
  const { decision, codes } = answer.decision
  // A build that writes the same bytes again changed nothing, so there is no question.
  const usual = isWithoutEffects(answer) ? 'PROMOTE' : expected
  const wanted = asks === undefined ? usual : 'CONFIRM'
  const isAsked = asks === undefined || codes.includes(asks.code)
  const strange = (answer.result?.findings ?? []).filter(
    ({ code }) => !QUIET.includes(code) && code !== asks?.code,
  )
  const told = strange.map(({ code, path }) => `${code} ${path ?? ''}`.trim())
  const isDone = asks === undefined ? answer.promoted || isWithoutEffects(answer) : true
  const failed = asks === undefined && status !== 0 ? [`status ${status}: ${out}${err}`] : []
  if (decision === wanted && isAsked && isDone) return [...told, ...failed]
  return [`${decision} ${codes.join(' ')}`, ...told, ...failed]
}

function isWithoutEffects({ result }: NonNullable<Run['answer']>): boolean {
  if (result === null) return false
  const { added, modified, deleted } = result.diff
  return added.length + modified.length + deleted.length === 0
}

/** Whether it works without writ; null when it does. */
async function brokenness(ground: Ground, task: RoutineTask): Promise<string | null> {
  const place = await makeRoutineProject(ground, task)
  const { status, out, err } = await ground.bare(place, ['sh', '-c', routineCommand(ground, task)])
  ground.remove(place)
  return status === 0 ? null : `status ${status} without writ: ${out}${err}`
}

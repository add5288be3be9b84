/**
 * `writ flow plan`: a goal becomes a plan that a reviewer approved; nothing else is written. One that
 * was interrupted goes on from what is recorded.
 */
import { realpathSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { FaultError, fault, showName } from '../../base/index.ts'
import type { Participant, Participants } from '../../contracts/index.ts'
import { errorsText, reviewerOf } from '../../flow/index.ts'
import {
  findPlanning,
  makePlan,
  type PlanningOutcome,
  type PlanOptions,
  resumePlan,
} from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseExisting } from '../call/output-file.ts'
import { reasonOf } from '../call/source.ts'
import { interruptible } from '../flow/interruptible.ts'
import { participantsIn } from '../flow/load.ts'
import { withFlows } from '../flow/open.ts'
import { askAboutPlanning, refuseActors } from '../flow/person.ts'
import { plain, refuse } from '../history/text.ts'

const NEXT = 'writ flow plan --goal TEXT --participants FILE --out plan.json'

export async function run(call: CommandCall): Promise<Exit> {
  return call.options.isOn('resume') ? resume(call) : begin(call)
}

async function resume(call: CommandCall): Promise<Exit> {
  for (const name of ['goal', 'participants', 'out', 'workspace'])
    if (call.options.text(name) !== null)
      throw usage('the order of the planning is recorded: use `--resume` without other options')
  return withFlows(call, async ({ host, gate }) => {
    refuseActors(gate, 'planning a flow', 'writ flow plan --resume')
    const folder = findPlanning(host.home, host.stream, call.arguments[0] ?? null)
    const order = folder.order(host.stream)
    if (order !== null) await askAboutPlanning(call, gate, order.by ?? null, order.terms)
    return planned(call, (watching) => resumePlan(host, folder.id, watching))
  })
}

async function begin(call: CommandCall): Promise<Exit> {
  const { options } = call
  if (call.arguments.length > 0) throw usage('the id of a planning goes with `--resume`')
  const [goal, file, out] = [
    options.text('goal'),
    options.text('participants'),
    options.text('out'),
  ]
  if (goal === null || file === null || out === null)
    throw usage('say `--goal`, `--participants` and `--out`')
  const reading = await participantsIn(file)
  if (!reading.ok) return refuse(call, reading.violations)
  const { participants } = reading
  const planner = participantOf(participants, participants.planner ?? 'planner')
  const reviewer = participantOf(participants, reviewerOf(participants) ?? 'reviewer')
  return withFlows(call, async ({ host, gate }) => {
    refuseActors(gate, 'planning a flow', NEXT)
    refuseExisting(call, out)
    const workspace = realpathSync(options.text('workspace') ?? process.cwd())
    const owners = Object.keys(participants.participants)
    const order = { goal, workspace, planner, reviewer, owners, out: resolve(out) }
    return planned(call, (watching) => makePlan(host, order, watching))
  })
}

/** Makes a plan, writes it where it was wanted, and tells of it. */
async function planned(
  call: CommandCall,
  make: (watching: PlanOptions) => Promise<PlanningOutcome>,
): Promise<Exit> {
  let file = ''
  const done = await interruptible(
    (abort) =>
      make({
        abort,
        onPlanning: (id) => call.terminal.err(`${id}\n`),
        deliver: async (made, out) => {
          file = out ?? ''
          if (made.plan !== null) await writePlan(file, made)
        },
      }),
    'writ flow plan --resume',
  )
  return told(call, done, file)
}

function participantOf({ participants }: Participants, name: string): Participant {
  const found = Object.hasOwn(participants, name) ? participants[name] : undefined
  if (found === undefined) throw usage(`the participants name no ${showName(name)}`)
  if ('human' in found) throw usage(`${showName(name)} is a person, who is not asked here`)
  return found
}

async function writePlan(file: string, { plan }: PlanningOutcome): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(plan, null, 2)}\n`)
  } catch (error) {
    const reason = reasonOf(error)
    const message = `${showName(file)} cannot be written (${reason})`
    throw new FaultError(fault('cli.file_unwritable', file, { file, reason }, { message }))
  }
}

async function told(
  { terminal, options }: CommandCall,
  planned: PlanningOutcome,
  out: string,
): Promise<Exit> {
  const { planningId, plans, reviews, plan, review, error } = planned
  const approved = plan !== null
  const isWaiting = !approved && review?.action_required === 'REQUEST_EXTERNAL_INPUT'
  const exit = approved ? EXIT.yes : isWaiting ? EXIT.waiting : EXIT.no
  const score = review?.total_score ?? null
  if (options.isOn('json')) {
    const answer = { approved, planning_id: planningId, plans, reviews, score }
    const more = approved
      ? { plan_id: plan.plan.plan_id, out }
      : { code: 'flow.plan_refused', review, error }
    await terminal.out(`${JSON.stringify({ ...answer, ...more })}\n`)
    return exit
  }
  const { paint } = terminal
  const word = approved
    ? paint.good('approved')
    : isWaiting
      ? paint.accent('waiting')
      : paint.bad('refused')
  const why = (review?.suggestions ?? []).map(({ change }) => `  ${plain(change)}\n`).join('')
  const cause = approved ? '' : causeText(error, planningId)
  const counts = `${plans} plans, ${reviews} reviews, score ${score ?? 'none'}`
  await terminal.out(
    `${word}  ${planningId}  ${counts}\n${approved ? `plan: ${showName(out)}\n` : `${why}${cause}`}`,
  )
  return exit
}

/** Why the last plan was none, where the review did not say it, and where all answers are. */
function causeText(error: unknown, planningId: string): string {
  const cause =
    error === null || error === undefined
      ? ''
      : `  the last answer was no plan: ${plain(errorsText(error))}\n`
  return `${cause}  next: change the goal or the participants and run \`writ flow plan\` again (${planningId} stays on the record: \`writ log --facts\`)\n`
}

function usage(message: string): FaultError {
  return usageError(message, NEXT)
}

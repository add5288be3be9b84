/** Chapter 1 of the tour: documents are checked, broken and repaired. */
import { checkDocument, normaliseAndValidate } from '../../contracts/index.ts'
import { violationText } from '../call/terminal.ts'
import type { Chapter, DemoOutput } from './demo-output.ts'
import {
  BROKEN_TASK,
  DESCRIPTOR,
  FOREIGN_PLAN,
  GREEDY_DESCRIPTOR,
  KIND_REVIEW,
  TASK,
} from './documents.ts'

export const contractsChapter: Chapter = {
  title: 'Documents: an intended act is a closed, checkable document',
  play(stage) {
    playTask(stage)
    playDescriptor(stage)
    playPlan(stage)
    playReview(stage)
  },
}

function playTask(stage: DemoOutput): void {
  stage.say('A human issues a task for a machine: irrigate field 7 with 12 mm.')
  check(stage, 'task.json', TASK, true)
  stage.say('The document is changed: an AI as issuer, a typo, too much water, a hidden priority.')
  check(stage, 'changed-task.json', BROKEN_TASK, false)
}

function playDescriptor(stage: DemoOutput): void {
  stage.say('An AI describes what it wants to do before it may do anything.')
  check(stage, 'descriptor.json', DESCRIPTOR, true)
  stage.say('Another one would delete outside its scope and switch the rollback off.')
  check(stage, 'greedy-descriptor.json', GREEDY_DESCRIPTOR, false)
}

function check(stage: DemoOutput, file: string, document: unknown, wanted: boolean): void {
  const { valid, contract, violations } = checkDocument(document)
  stage.expect(valid === wanted, `${file} is ${wanted ? 'valid' : 'invalid'}`)
  stage.command(`writ check ${file}`)
  const head = valid ? stage.paint.good('valid') : stage.paint.bad('invalid')
  stage.answer(
    [`${head}  ${contract}`, ...violations.map((one) => violationText(one, stage.paint))].join(
      '\n',
    ),
  )
}

function playPlan(stage: DemoOutput): void {
  stage.say('A planner answers in its own dialect. What can be repaired is repaired, and said.')
  stage.command('writ normalize --as PLAN_GEN plan.json')
  const answer = normaliseAndValidate(
    'PLAN_GEN',
    FOREIGN_PLAN,
    { top_task: 'Publish the field report' },
    fixedSources(),
  )
  stage.expect(answer.valid, 'the foreign plan is valid after repair')
  const rules = countBy(answer.repairs.map(({ rule }) => rule))
  const head = `${stage.paint.good('valid')}  after ${answer.repairs.length} repairs`
  stage.answer([head, ...rules.map(([rule, times]) => `  ${rule} × ${times}`)].join('\n'))
}

function playReview(stage: DemoOutput): void {
  stage.say('A reviewer approves with 84 points. The line is 90, so the review counts as MODIFY.')
  stage.command('writ normalize --as TASK_CHECK review.json')
  const answer = normaliseAndValidate('TASK_CHECK', KIND_REVIEW, {}, fixedSources())
  stage.expect(
    answer.valid && answer.normalized?.['action_required'] === 'MODIFY',
    'the score gate turns APPROVE into MODIFY',
  )
  stage.answer(`action_required  APPROVE → ${stage.paint.strong('MODIFY')}`)
}

/** The tour shows the same ids each time. */
function fixedSources(): { nowMs: number; newId: () => string } {
  let count = 0
  return {
    nowMs: Date.UTC(2026, 10, 15, 8),
    newId: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
  }
}

function countBy(names: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
}

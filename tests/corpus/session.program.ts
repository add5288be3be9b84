/**
 * Runs the corpora inside sessions, whole or the tasks whose ids begin with an argument, and prints one
 * JSON document.
 */
import { Ground } from './ground.ts'
import { HIDDEN } from './hidden/index.ts'
import { ROUTINE } from './routine/index.ts'
import { hiddenInSession, routineInSession } from './session-round.ts'

const only = process.argv.slice(2)
const isWanted = ({ id }: { readonly id: string }): boolean =>
  only.length === 0 || only.some((word) => id.startsWith(word))

const ground = await Ground.open('self')
try {
  const routine = await routineInSession(ground, ROUTINE.filter(isWanted))
  const hidden = []
  for (const task of HIDDEN.filter(isWanted)) hidden.push(await hiddenInSession(ground, task))
  process.stdout.write(`${JSON.stringify({ routine, hidden })}\n`)
} finally {
  ground.close()
}

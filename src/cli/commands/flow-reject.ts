/** `writ flow reject`: a person who judges work says no to it, and what has to change. */
import type { CommandCall, Exit } from '../call/command.ts'
import { judgeBy } from '../flow/verdict.ts'

export function run(call: CommandCall): Promise<Exit> {
  return judgeBy(call, 'reject')
}

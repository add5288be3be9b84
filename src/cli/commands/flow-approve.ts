/** `writ flow approve`: a person who judges work says yes to it. */
import type { CommandCall, Exit } from '../call/command.ts'
import { judgeBy } from '../flow/verdict.ts'

export function run(call: CommandCall): Promise<Exit> {
  return judgeBy(call, 'approve')
}

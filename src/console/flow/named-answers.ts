/** Which answers the next steps of a stop name. The service decides what helps; the page has no table of its own. */

export type NodeAnswer =
  | 'approveNode'
  | 'rejectNode'
  | 'skipNode'
  | 'retry'
  | 'abandon'
  | 'provided'
  | 'unblock'
  | 'document'

const COMMANDS: readonly (readonly [RegExp, NodeAnswer])[] = [
  [/^writ flow approve /, 'approveNode'],
  [/^writ flow reject /, 'rejectNode'],
  [/^writ flow skip /, 'skipNode'],
  [/^writ flow answer \S+ .* --file /, 'document'],
  [/^writ flow answer \S+ .* retry$/, 'retry'],
  [/^writ flow answer \S+ .* abandon$/, 'abandon'],
  [/^writ flow answer \S+ .* provided$/, 'provided'],
  [/^writ flow answer \S+ .* unblock$/, 'unblock'],
]

export function namedAnswers(next: readonly string[]): readonly NodeAnswer[] {
  const named = next.flatMap(
    (command) => COMMANDS.find(([pattern]) => pattern.test(command))?.[1] ?? [],
  )
  return [...new Set(named)]
}

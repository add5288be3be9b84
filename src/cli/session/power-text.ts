/** What an earlier session changed in the private home of an agent, key by key (S-8). */
import type { PowerChange } from '../../sessions/index.ts'
import { counted, visible, visibleName } from '../../words/index.ts'

/** More are counted: a person who cannot read them all should look at the files. */
const CHANGES_MAX = 200
const VALUE_MAX = 200

export function powerLines(changes: readonly PowerChange[], home: string): readonly string[] {
  const lines = [
    'an earlier session changed what this agent runs or may do, in its private home:',
    `  ${visibleName(home)}`,
  ]
  let file = ''
  for (const change of changes.slice(0, CHANGES_MAX)) {
    const name = visibleName(change.file)
    if (change.key === null) lines.push(`  ${name}: ${WHOLE[change.kind]}`)
    else {
      if (change.file !== file) lines.push(`  ${name}`)
      lines.push(`    ${visibleName(change.key)}: ${valueText(change)}`)
    }
    file = change.file
  }
  const left = changes.length - CHANGES_MAX
  if (left > 0)
    lines.push(`  and ${counted(left, 'more change')}, not shown: look at the files first`)
  return lines
}

const WHOLE = { new: 'new file', changed: 'changed', removed: 'removed' } as const

function valueText({ kind, before, now }: PowerChange): string {
  switch (kind) {
    case 'new':
      return `new, ${shortened(now)}`
    case 'removed':
      return `removed, was ${shortened(before)}`
    case 'changed':
      return before === now
        ? `was ${shortened(before)}, now another value of this form`
        : `was ${shortened(before)}, now ${shortened(now)}`
    default:
      return kind satisfies never
  }
}

/** Cuts in the middle, since a command may end with what it really does. */
function shortened(value: string | null): string {
  const points = [...(value ?? '')]
  if (points.length <= VALUE_MAX) return visible(points.join(''))
  const half = VALUE_MAX / 2
  const [start, end] = [points.slice(0, half).join(''), points.slice(-half).join('')]
  return `${visible(start)} … ${counted(points.length - VALUE_MAX, 'character')} … ${visible(end)}`
}

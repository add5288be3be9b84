/**
 * A migration as a person sees it before the yes: each changed field with both values, and the lines in
 * which each changed program differs from the pinned one. Nothing is left out without a word.
 */
import { canonicalJson } from '../../base/index.ts'
import type { FlowChange, ProgramChange } from '../../flow/index.ts'
import type { ProgramTexts, RunMigration } from '../../runs/index.ts'
import type { Paint } from '../call/terminal.ts'
import { diffLines } from '../effects/line-diff.ts'
import { plain } from '../history/text.ts'

const VALUE_WIDTH = 160
/** Of the part that two long values share. */
const SHARED_WIDTH = 40
const LINES_MAX = 40

/** `all` is the command that shows everything; null where everything is wanted. */
export function migrationText(
  { changes, programs, obstacles, from, to, digest }: RunMigration,
  texts: ReadonlyMap<string, ProgramTexts>,
  all: string | null,
  paint: Paint,
): string {
  const nothing = changes.length + programs.length === 0 ? ['nothing changes\n'] : []
  return [
    paint.dim(`from ${from}\n  to ${to}\n`),
    ...nothing,
    ...changes.map((one) => changeText(one, all)),
    ...programs.map((one) => programText(one, texts.get(one.path), all)),
    ...(obstacles.length === 0
      ? [paint.dim(`digest of these changes: ${digest}\n`)]
      : [
          `${paint.bad('refused')}  the run cannot be moved ${paint.dim('flow.migration')}\n`,
          ...obstacles.map(({ part, message }) => `  ${plain(part)}: ${plain(message)}\n`),
        ]),
  ].join('')
}

function changeText({ change, part, id, values }: FlowChange, all: string | null): string {
  const what = id === '' ? part : `${part} ${id}`
  const lines = values.map(({ field, before, after }) => {
    const [old, now] = shownValues(before, after, all)
    const name = field === '' ? '' : `${field}: `
    return `    ${plain(`${name}${old} → ${now}`)}\n`
  })
  return `  ${plain(`${change} ${what}`)}\n${lines.join('')}`
}

/** Two values, long ones from shortly before the first difference on. */
function shownValues(before: unknown, after: unknown, all: string | null): readonly string[] {
  const texts = [before, after].map((value) =>
    value === undefined ? 'none' : canonicalJson(value),
  )
  const [old = '', now = ''] = texts
  let shared = 0
  while (shared < old.length && old[shared] === now[shared]) shared++
  const from = Math.max(0, shared - SHARED_WIDTH)
  return texts.map((text) => {
    if (all === null || text.length <= VALUE_WIDTH) return text
    const part = text.slice(from, from + VALUE_WIDTH)
    const left = text.length - from - part.length
    const rest = left > 0 ? ` … ${left} more characters: ${all}` : ''
    return `${from > 0 ? '… ' : ''}${part}${rest}`
  })
}

function programText(
  { path, before, after }: ProgramChange,
  texts: ProgramTexts | undefined,
  all: string | null,
): string {
  const change = before === null ? 'added' : after === null ? 'removed' : 'changed'
  const head = `  ${change} program ${plain(path)}\n    ${before ?? 'none'} → ${after ?? 'none'}\n`
  const [old, now] = [texts?.before ?? null, texts?.after ?? null]
  if (before !== null && old === null)
    return `${head}    the pinned bytes are not kept, or no text: look at the whole file\n`
  if (after !== null && now === null) return `${head}    no text, or too large to be shown\n`
  const lines = diffLines(old ?? '', now ?? '').hunks.flatMap((hunk) =>
    hunk.lines.map(({ sign, text }) => `    ${sign} ${plain(text)}\n`),
  )
  const left = all === null ? 0 : lines.length - LINES_MAX
  if (left <= 0) return `${head}${lines.join('')}`
  return `${head}${lines.slice(0, LINES_MAX).join('')}    … ${left} more lines: ${all}\n`
}

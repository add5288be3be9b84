/** How parts of a run are named to people: titles before ids, values short, commands ready to type. */
import type { CompiledFlow } from '../compile/compiled-flow.ts'

const TEXT_MAX = 600

/** The title of a node, with its id where that says something else. */
export function nodeName(flow: CompiledFlow, nodeId: string): string {
  const title = nodeTitle(flow, nodeId)
  return title === nodeId ? nodeId : `${title} (${ownIdOf(flow, nodeId) ?? nodeId})`
}

/** The field of a node's details with what its plan calls it. */
export const OWN_ID = 'own_id'

/** What the plan of a flow calls a node, where that is not its id; null for any other node. */
export function ownIdOf({ nodes, nodeIndex }: CompiledFlow, nodeId: string): string | null {
  const own = nodes[nodeIndex.get(nodeId) ?? -1]?.document.details?.[OWN_ID]
  return typeof own === 'string' ? oneLine(own) : null
}

/** The title of a node; its id where it has none. */
export function nodeTitle({ nodes, nodeIndex }: CompiledFlow, nodeId: string): string {
  const title = oneLine(nodes[nodeIndex.get(nodeId) ?? -1]?.document.title ?? '')
  return title === '' ? nodeId : title
}

/** A value of a record as people read it. */
export function shownText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(shownText).join(', ')
  if (typeof value === 'number' && !Number.isInteger(value))
    return String(Math.round(value * 1000) / 1000)
  return value === undefined ? 'nothing' : shownValue(value)
}

export function shownValue(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing'
}

/** One line without control characters, its end kept where it is cut: causes are at the end of an output. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  if (line.length <= TEXT_MAX) return line
  const half = TEXT_MAX / 2
  return `${line.slice(0, half)} … ${line.slice(-half)}`
}

/** A command as it is typed, words quoted for a shell where they need it. */
export function commandText(...words: readonly string[]): string {
  return words.map(shellWord).join(' ')
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

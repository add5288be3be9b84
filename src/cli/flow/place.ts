/** Texts of flow documents with the places of their parts, within the limits of graphs. */
import { GRAPH_LIMITS } from '../../base/index.ts'
import { type LawText, readLawText, type TextRefusal } from '../../policy/index.ts'

export type PlacedText = LawText

export function readPlaced(text: string): Promise<LawText | TextRefusal> {
  return readLawText(text, GRAPH_LIMITS)
}

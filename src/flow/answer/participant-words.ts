/** What a host says of a participant: whose principal it is, and whether a failure of its line passes. */
import type { CompiledNode } from '../compile/compiled-flow.ts'

/** Names the principal of a node by its participant; by its actor where it has none. */
export function principalOf({ participant, document }: CompiledNode): string {
  return participant === null ? `actor:${document.actor}` : `participant:${participant}`
}

/** Returns whether an HTTP status is a failure of the line, so that the participant may answer later. */
export function isPassingStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

const HUMAN = 'human:'

/** A person as a principal: `ann` is a human of the home's namespace, `ann@other` one of another. */
export function personText(name: string, namespace: string): string {
  const who = name.startsWith(HUMAN) ? name : `${HUMAN}${name}`
  return who.includes('@') ? who : `${who}@${namespace}`
}

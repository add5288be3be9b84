/**
 * What clients read by address: the laws in force, the decision about an action of theirs with its proof,
 * and the list of what it changed.
 *
 * A diff names paths, sizes and digests and holds no contents: what a file held before may be hidden from
 * the agent that overwrote it.
 */
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { faultError } from '../base/index.ts'
import { proveFact } from '../ledger/index.ts'
import { acceptedLaws } from '../service/index.ts'
import type { CallerGround } from './ground.ts'

const JSON_TYPE = 'application/json'
const PROVEN = ['proposal_v1', 'decision_v1', 'confirmation_v1', 'promotion_v1', 'rollback_v1']
const FACTS_MAX = 50

interface Resource {
  readonly uri: string
  readonly title: string
  readonly says: string
  readonly read: (ground: CallerGround, id: string) => Promise<object>
}

export const RESOURCES: Readonly<Record<string, Resource>> = {
  laws: {
    uri: 'writ://laws',
    title: 'Laws in force',
    says: 'The laws by which actions are judged now.',
    read: async (ground) => {
      const found = await acceptedLaws(ground.host.home.ledger)
      if (found === null) throw faultError('laws.changed', '')
      const { laws, disabled } = found
      const shown = laws.map(({ policyId, tier, action, approvals, text }) => ({
        policy_id: policyId,
        tier,
        action,
        approvals,
        text,
      }))
      return { laws: shown, disabled }
    },
  },
  decision: {
    uri: 'writ://actions/{action_id}/decision',
    title: 'A decision with its proof',
    says: 'Facts about one of your actions, each with the proof that the ledger holds it.',
    read: async (ground, id) => {
      const { id: actionId, outcome, decision } = await ground.ownAct(id)
      const facts = await provenFacts(ground, actionId)
      return { action_id: actionId, status: outcome, decision: decision?.payload ?? null, facts }
    },
  },
  diff: {
    uri: 'writ://actions/{action_id}/diff',
    title: 'What an action changed',
    says: 'Paths, kinds, sizes and digests of what one of your actions changed, or would change.',
    read: async (ground, id) => {
      const { id: actionId, outcome, result } = await ground.ownAct(id)
      return { action_id: actionId, status: outcome, diff: result?.payload.diff ?? null }
    },
  },
}

/** The text of each fact is what its proof proves. */
async function provenFacts({ host, stream }: CallerGround, action: string) {
  const { store } = host.home.ledger
  const page = await store.find({ stream, action, limit: FACTS_MAX, order: 'oldest_first' })
  const facts = []
  for (const { seq, text } of page.facts) {
    // The store returns the canonical text of a fact.
    const { type } = (JSON.parse(text) as { record: { type: string } }).record
    if (!PROVEN.includes(type)) continue
    facts.push({ type, stream, seq, text, proof: await proveFact(store, stream, seq) })
  }
  return facts
}

export function registerResources(server: McpServer, ground: CallerGround): void {
  for (const [name, { uri, title, says, read }] of Object.entries(RESOURCES)) {
    const words = { title, description: says, mimeType: JSON_TYPE }
    const answer = async ({ href }: URL, id: string) => {
      const text = JSON.stringify(await read(ground, id))
      return { contents: [{ uri: href, mimeType: JSON_TYPE, text }] }
    }
    if (!uri.includes('{')) server.registerResource(name, uri, words, (url) => answer(url, ''))
    else {
      const template = new ResourceTemplate(uri, { list: undefined })
      server.registerResource(name, template, words, (url, variables) =>
        answer(url, String(variables['action_id'])),
      )
    }
  }
}

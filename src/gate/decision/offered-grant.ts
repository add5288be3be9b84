/**
 * What a person may answer with "always" (G-8b): the narrowest directory that holds everything the
 * question is about, for the agent that asks. Offered only if the same act, judged with that grant, would
 * have been promoted: so it answers the default question alone.
 */
import { GRANT_MS_MAX } from '../../contracts/index.ts'
import { isComparedCode } from '../evidence/findings.ts'
import { displayOfRaw } from '../paths/raw-path.ts'
import { decide } from './decision.ts'
import { compareAgain, type RecordedDecision } from './replay.ts'

export interface OfferedGrant {
  readonly agent: string
  /** Relative to the workspace. */
  readonly glob: string
}

type AskedAct = Omit<RecordedDecision, 'decision' | 'grounds'>

/** Null where "always" is no answer. */
export function offeredGrant(act: AskedAct): OfferedGrant | null {
  const { evaluation, manifest } = act
  const { agent, session, host } = evaluation
  const workspace = host.workspace
  if (agent === undefined || session === undefined || workspace === undefined) return null
  const found = new Set(
    (act.result?.findings ?? []).flatMap(({ code, path }) =>
      code === 'effect.ungranted' && path !== undefined ? [path] : [],
    ),
  )
  const paths = (manifest?.changes ?? []).map(({ path }) => displayOfRaw(path))
  const asked = paths.filter((path) => found.has(path))
  const glob = narrowGlob(asked, workspace)
  if (glob === null) return null
  const offered = { agent, glob }
  return isPromotedWith(act, offered) ? offered : null
}

const WILD = /[*?[\]{}~]/

/** One directory, with what lies below it only where it must; at the top of the workspace one file. */
export function narrowGlob(paths: readonly string[], workspace: string): string | null {
  const below = paths.map((path) =>
    path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : null,
  )
  const [first = null, ...others] = below
  if (first === null || below.includes(null) || WILD.test(first)) return null
  const folders = first.split('/').slice(0, -1)
  let depth = folders.length
  for (const other of others) {
    const names = (other ?? '').split('/').slice(0, -1)
    const same = folders.findIndex((name, at) => names[at] !== name)
    depth = Math.min(depth, same === -1 ? folders.length : same)
  }
  if (depth === 0) return others.length === 0 && folders.length === 0 ? first : null
  const folder = folders.slice(0, depth).join('/')
  const isFlat = below.every((path) => path?.split('/').length === depth + 1)
  return `${folder}/${isFlat ? '*' : '**'}`
}

/** Any id will do. */
const TRIED = '00000000-0000-4000-8000-000000000000'

function isPromotedWith(act: AskedAct, { agent, glob }: OfferedGrant): boolean {
  const { proposal, evaluation, result, lists } = act
  const { basis, host } = evaluation
  if (basis === undefined || result === null) return false
  const until = new Date(host.now_ms + GRANT_MS_MAX).toISOString()
  const given = [...(basis.given ?? []), { grant_id: TRIED, agent, glob, until }]
  const tried = { ...evaluation, basis: { ...basis, given } }
  const again = compareAgain({ ...act, evaluation: tried })
  if (again === null) return false
  const others = result.findings.filter(({ code }) => !isComparedCode(code))
  const judged = { ...result, findings: [...again.findings, ...others] }
  const decidedAt = until
  const { decision } = decide({ proposal, evaluation: tried, result: judged, lists, decidedAt })
  return decision === 'PROMOTE'
}

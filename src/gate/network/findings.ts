/**
 * What the connections of a run mean for its decision (G-15, G-16). A request that did not pass is
 * `effect.irreversible`: it was wanted, and nothing could have taken it back. One to a host that the
 * scope does not name was not declared either. A tunnel that was cut because more went up than reading
 * takes is asked about (`effect.upload`); before evaluator 3 it was irreversible too. What a server did
 * not answer is no effect.
 *
 * INVARIANT (what passed is judged again): the record is not believed. A connection that the rules
 *   would have refused is a finding, though it says that it passed.
 */
import type { NetworkConnection } from '../../contracts/index.ts'
import { FindingList } from '../evidence/findings.ts'
import { showHostPort } from './host-name.ts'
import { judgeRequest, type NetworkRules } from './rules.ts'

export function networkFindings(
  connections: readonly NetworkConnection[],
  rules: NetworkRules,
  findings = new FindingList(),
  isAmended = true,
): FindingList {
  for (const connection of connections) {
    const code = refusalOf(connection, rules)
    if (code === null) continue
    const place = showHostPort(connection.host, connection.port)
    const what = connection.method === undefined ? code : `${connection.method}: ${code}`
    if (code === 'network.upload' && isAmended) {
      findings.add('effect.upload', place, what)
      continue
    }
    if (code === 'network.host') findings.add('effect.undeclared', place, what)
    findings.add('effect.irreversible', place, what)
  }
  return findings
}

function refusalOf(connection: NetworkConnection, rules: NetworkRules): string | null {
  const { outcome, code, host, port, method = '', released, class: kind } = connection
  if (outcome === 'refused') return code ?? 'network.request'
  if (outcome === 'failed') return null
  const verdict = judgeRequest(rules, { method, host: { name: host }, port, hasBody: false })
  if (!verdict.passes) return verdict.code
  const isAsSaid =
    verdict.isReleased === (released === true) &&
    (verdict.isService === true) === (kind === 'service')
  return isAsSaid ? null : 'network.method'
}

/** Returns whether a run only read from read-only hosts, which asks no human by itself (G-16). */
export function onlyRead(connections: readonly NetworkConnection[]): boolean {
  return connections.every(
    ({ outcome, released }) => outcome !== 'refused' && released === undefined,
  )
}

/** `writ replay`: computes every recorded verdict and decision again, and says what differs (L-9). */
import { join } from 'node:path'
import { type OpenedFact, type ReplayAnswer, ReplayReport } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { type ReadSession, streamsToRead, withHistory } from '../call/home.ts'
import { progressBar } from '../call/terminal.ts'
import { DecisionWalk } from '../history/decision-walk.ts'
import { eachFact } from '../history/facts.ts'
import { replayPromotion } from '../history/promotion-replay.ts'
import { NotedObjects, replayLookup } from '../history/replay-lookup.ts'
import { REPLAYERS } from '../history/replayers.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const report = new ReplayReport()
    const objects = new NotedObjects(join(session.home.state, 'objects'))
    const ledger = { ...session.ledger, objects, close: () => session.ledger.close() }
    for (const stream of await streamsToRead(session, call)) {
      await replayStream({ ...session, ledger }, call, stream, report)
    }
    const answer = report.finish(await objects.unexplained(session.ledger))
    await tell(call, answer)
    return answer.ok ? EXIT.yes : EXIT.no
  })
}

async function replayStream(
  { ledger, register }: ReadSession,
  call: CommandCall,
  stream: string,
  report: ReplayReport,
): Promise<void> {
  const total = (await ledger.store.head(stream))?.size ?? 0
  const bar = progressBar(call.terminal, `replaying ${stream}`)
  const lookup = new DecisionWalk(replayLookup(ledger))
  for (const [type, replayer] of REPLAYERS) {
    const facts =
      type === 'decision_v1' ? lookup.decisions(stream) : eachFact(ledger, { stream, type })
    for await (const fact of facts) {
      bar.tick(fact.seq, total)
      report.add(fact, isKept(fact) ? await replayer(fact, fact.payload, lookup) : GONE)
    }
  }
  for await (const fact of eachFact(ledger, { stream, type: 'promotion_v1' })) {
    const replay = isKept(fact) ? await replayPromotion(fact, lookup, register) : GONE
    if (replay !== null) report.add(fact, replay)
  }
  bar.end()
}

const GONE = { kind: 'unreplayable', reason: 'the payload is no longer kept' } as const

function isKept({ payload }: OpenedFact): boolean {
  return payload !== null
}

async function tell({ options, terminal }: CommandCall, answer: ReplayAnswer): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify(answer)}\n`)
  const { paint } = terminal
  const { ok, checked, differences, not_replayed, missing } = answer
  const word = differences.length > 0 ? 'different' : missing.length > 0 ? 'incomplete' : 'same'
  const lines = [
    `${ok ? paint.good(word) : paint.bad(word)}  ${checked} computed again, ${differences.length} differ`,
  ]
  for (const { stream, seq, recorded, computed } of differences) {
    lines.push(
      `  ${stream}/${seq}  ${paint.dim('replay.different')}`,
      `    recorded  ${JSON.stringify(recorded)}`,
      `    computed  ${JSON.stringify(computed)}`,
    )
  }
  for (const { stream, seq, code, message } of not_replayed) {
    lines.push(`  ${stream}/${seq}  ${paint.dim(code)}  ${message}`)
  }
  for (const digest of missing) {
    lines.push(
      `  ${paint.accent('body.missing')}  ${digest} is not in the store of bodies, and no fact says that it was dropped`,
    )
  }
  return terminal.out(`${lines.join('\n')}\n`)
}

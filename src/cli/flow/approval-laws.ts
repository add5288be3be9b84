/** Says at a stop that needs a yes which laws ask for it. */
import { type RunStop, stopsOf } from '../../flow/index.ts'
import { readAct } from '../../history/index.ts'
import type { WalkedRun } from '../../runs/index.ts'
import type { LedgerReader } from '../../store/index.ts'

const LAW = 'law.'

interface Records {
  readonly ledger: LedgerReader
  readonly stream: string
}

/** The stops of a run; none while it runs. */
export async function stopsWithLaws(
  { ledger, stream }: Records,
  walked: WalkedRun,
): Promise<readonly RunStop[]> {
  const stops = walked.status === 'RUNNING' ? [] : stopsOf(walked)
  return Promise.all(
    stops.map(async (stop) => {
      if (stop.kind !== 'approval' || stop.action_id === undefined) return stop
      const act = await readAct(ledger, stream, stop.action_id, new Map())
      const codes = act?.decision?.payload.codes ?? []
      const laws = codes.flatMap((code) => (code.startsWith(LAW) ? code.slice(LAW.length) : []))
      if (laws.length === 0) return stop
      const asks = laws.length === 1 ? 'the law asks' : 'the laws ask'
      return { ...stop, says: `${asks} for it: ${laws.join(', ')}; ${stop.says}` }
    }),
  )
}

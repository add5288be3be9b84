/** Leaves what a person says to a run where the run is walked: on this machine, or as a job of another. */
import { addRun, serverOf } from '../../fleet/index.ts'
import {
  type FlowHost,
  isElsewhere,
  isWalked,
  leaveOrder,
  machineOf,
  type Order,
} from '../../runs/index.ts'
import { refuseAnsweredTwice } from './sent-answers.ts'

/** `walked`: a process walks the run; `sent`: a worker takes it; `left`: the next command that walks it. */
export type Handed = 'walked' | 'sent' | 'left'

export async function handOrder(host: FlowHost, run: string, order: Order): Promise<Handed> {
  const { ledger, stream } = host
  await refuseAnsweredTwice(ledger, run, order)
  const machine = await machineOf(ledger, run)
  if (machine !== null && (await isElsewhere(ledger, run))) {
    await addRun(serverOf(ledger), { run, stream, order: JSON.stringify(order) }, { machine })
    return 'sent'
  }
  leaveOrder(host, run, order)
  if (await isWalked(host, run)) return 'walked'
  if (machine === null) return 'left'
  try {
    await addRun(serverOf(ledger), { run, stream }, { machine })
    return 'sent'
  } catch {
    // A home without workers: a person goes on with the run.
    return 'left'
  }
}

export function handedText(handed: Handed, run: string): string {
  if (handed === 'walked') return 'the process that walks it takes it'
  return handed === 'sent' ? 'a worker of its machine takes it' : `writ flow resume ${run}`
}

/** A stream has fewer facts than this machine has seen: its server was restored from an older backup. */
import { FaultError, fault } from '../../base/index.ts'

export function rolledBack(stream: string, size: number, checkpoint: number): FaultError {
  const message = `the server has ${size} facts of the stream ${stream}, and this machine has seen ${checkpoint}: the database was restored from an older backup, or another one answers at its address. Nothing was recorded`
  const hint =
    'restore a newer backup, or have the missing facts replayed (point-in-time recovery). If they are lost for good, a human lets go of them on each machine: remove heads.json from its state directory (`writ home list` names it), and `writ ledger verify --from CHECKPOINT` says what is gone'
  return new FaultError(fault('ledger.truncated', stream, { size, checkpoint }, { message, hint }))
}

/** `seen`: how far this process took the stream. */
export function refuseRolledBack(stream: string, size = 0, seen = 0): void {
  if (size < seen) throw rolledBack(stream, size, seen)
}

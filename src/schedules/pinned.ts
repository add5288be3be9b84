/** What a schedule pins when it is set, and walks at its times: its flow as it was written, and the files it was read from. */
import { readFileSync } from 'node:fs'
import { digestBytes } from '../base/index.ts'
import type { Flow, ScheduleTerms } from '../contracts/index.ts'
import { type CompiledFlow, compileFlow } from '../flow/index.ts'
import { keepDocument, keptDocument } from '../runs/index.ts'
import type { Ledger, LedgerReader } from '../store/index.ts'

export type ScheduledFile = ScheduleTerms['files'][number]

export function pinnedFile(role: ScheduledFile['role'], path: string): ScheduledFile {
  return { role, path, digest: digestBytes(readFileSync(path)) }
}

/** Keeps a flow under its digest, which is that of the flow before its maps are laid out. */
export function pinFlow(ledger: Ledger, { base }: CompiledFlow): Promise<void> {
  return keepDocument(ledger, base)
}

/** Returns the flow that was pinned; null if it is no longer kept. */
export async function pinnedFlow(
  ledger: LedgerReader,
  digest: string,
): Promise<CompiledFlow | null> {
  const document = await keptDocument(ledger, digest)
  if (document === null) return null
  // It is kept under its digest, and its contract accepted it before the schedule was set.
  const compilation = compileFlow(document as Flow)
  return compilation.ok ? compilation.flow : null
}

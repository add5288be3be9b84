/**
 * What a device has begun and reported, one line each, synced before the device goes on.
 *
 * INVARIANT (durable before acting): a command is in the journal before the first effect of it, and a
 *   command that is in it is never begun again.
 * INVARIANT (fails closed): a journal that cannot be read keeps the device from acting. Only the last
 *   line may be torn: its write was never acknowledged, so nothing followed from it.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { faultError, showName } from '../base/index.ts'
import { field, isObject } from '../contracts/index.ts'
import { holdFolderLock, makeFolder, writeWhole } from '../machine/index.ts'

export interface DeviceJournalEntry {
  readonly command_id: string
  readonly nonce: string
  /** The end of its window: afterwards no offer of it is believed, and the entry can go. */
  readonly not_after: number
  /** What is reported; null until it is known. */
  readonly receipt: Readonly<Record<string, unknown>> | null
  /** The home has it on the record, or refused it for good. */
  readonly isSettled: boolean
}

const FILE = 'journal.jsonl'
/** Clocks differ: entries stay for a month after their window. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000

export class DeviceJournal {
  readonly #entries: Map<string, DeviceJournalEntry>
  readonly #handle: number
  readonly #release: () => void

  private constructor(
    entries: Map<string, DeviceJournalEntry>,
    handle: number,
    release: () => void,
  ) {
    this.#entries = entries
    this.#handle = handle
    this.#release = release
  }

  /** Opens the journal of a folder for as long as the process lives. */
  static open(folder: string, nowMs: number): DeviceJournal {
    makeFolder(folder, 0o700)
    const release = holdFolderLock(folder)
    if (release === null) {
      const message = `another process works with the journal in ${showName(folder)}`
      throw faultError('device.running', folder, message, 'end it first, or name another `--dir`')
    }
    try {
      const file = join(folder, FILE)
      const entries = readEntries(file, nowMs)
      // Written again whole: without a torn line, and without what is long over.
      writeWhole(file, [...entries.values()].map(lineOf).join(''), 0o600, 'journal')
      return new DeviceJournal(entries, openSync(file, 'a'), release)
    } catch (error) {
      release()
      throw error
    }
  }

  find(commandId: string): DeviceJournalEntry | null {
    return this.#entries.get(commandId) ?? null
  }

  /** Entries that are not settled: a receipt that the home may not have, or a command cut short. */
  unsettled(): readonly DeviceJournalEntry[] {
    return [...this.#entries.values()].filter(({ isSettled }) => !isSettled)
  }

  /** Keeps an entry; it is on the disk when this returns, or soon if it only says that it is settled. */
  keep(entry: DeviceJournalEntry): void {
    writeSync(this.#handle, lineOf(entry))
    // Without that line a receipt is reported again, which the home knows as the same one.
    if (!entry.isSettled) fsyncSync(this.#handle)
    this.#entries.set(entry.command_id, entry)
  }

  close(): void {
    closeSync(this.#handle)
    this.#release()
  }
}

function lineOf(entry: DeviceJournalEntry): string {
  return `${JSON.stringify(entry)}\n`
}

function readEntries(file: string, nowMs: number): Map<string, DeviceJournalEntry> {
  const entries = new Map<string, DeviceJournalEntry>()
  if (!existsSync(file)) return entries
  const lines = readFileSync(file, 'utf8').split('\n')
  // The text behind the last line feed: empty, or a line whose write was cut short.
  lines.pop()
  for (const [index, line] of lines.entries()) {
    const entry = readEntry(line)
    if (entry === null) {
      const message = `line ${index + 1} of the journal cannot be read, so it is not known what was begun`
      const hint =
        'look at the machine; then move the file away, and no task of before is begun again by the home'
      throw faultError('device.journal', file, message, hint)
    }
    entries.set(entry.command_id, entry)
  }
  for (const [id, { not_after }] of entries) if (not_after + KEPT_MS < nowMs) entries.delete(id)
  return entries
}

function readEntry(line: string): DeviceJournalEntry | null {
  try {
    const value: unknown = JSON.parse(line)
    const [id, nonce, until] = ['command_id', 'nonce', 'not_after'].map((name) =>
      field(value, name),
    )
    const [receipt, isSettled] = [field(value, 'receipt'), field(value, 'isSettled')]
    if (typeof id !== 'string' || typeof nonce !== 'string' || typeof until !== 'number')
      return null
    if (typeof isSettled !== 'boolean' || !(receipt === null || isObject(receipt))) return null
    return { command_id: id, nonce, not_after: until, receipt, isSettled }
  } catch {
    return null
  }
}

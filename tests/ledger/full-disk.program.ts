/**
 * Fills a small disk with facts until the ledger says that it is full, frees some room, goes on, and
 * opens it once more. Says three lines of JSON.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../../src/base/index.ts'
import { Audit, encodeHex, type FactDraft } from '../../src/ledger/index.ts'
import {
  createLedgerFile,
  InlineWriter,
  keyFromSeed,
  ringOf,
  SqliteStore,
} from '../../src/store/index.ts'

const { directory, draft } = JSON.parse(process.argv[2] ?? '') as {
  directory: string
  draft: FactDraft
}
const file = join(directory, 'ledger.db')
const keys = ringOf(keyFromSeed(new Uint8Array(32).fill(42)))
const say = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
const open = (): SqliteStore => new SqliteStore(file, new InlineWriter({ file, keys }))
const sizeOf = async (store: SqliteStore): Promise<number> => (await store.head('main'))?.size ?? 0

createLedgerFile(file, 'example.org/writ/test')
const ballast = join(directory, 'ballast')
writeFileSync(ballast, Buffer.alloc(300_000))
const store = open()
let acknowledged = 0
let code = ''
while (code === '') {
  try {
    acknowledged += (await store.append([draft])).length
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    code = error.fault.code
  }
}
say({ code, acknowledged, size: await sizeOf(store) })
rmSync(ballast)
await store.append([draft])
say({ size: await sizeOf(store) })
await store.close()

const again = open()
await again.append([draft])
const audit = new Audit()
let isSound = true
for (const { text, chain } of await again.read('main', 0, 1_000_000)) {
  isSound = audit.take(text, chain) && isSound
}
const head = await again.head('main')
isSound &&= encodeHex(head?.root ?? new Uint8Array()) === encodeHex(audit.root())
say({ size: audit.size, isSound })
await again.close()
readFileSync(file)

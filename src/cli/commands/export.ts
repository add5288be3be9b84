/** `writ export`: prints what happened in the form of another system, one document a line (N-2). */
import { join } from 'node:path'
import { faultError, showName } from '../../base/index.ts'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  exportFacts,
  readCursor,
  type StatementSigner,
  writeCursor,
} from '../../export/index.ts'
import { formatVerifierKey, HOST_STREAM } from '../../ledger/index.ts'
import { ledgerNameOf, openKeys, publicKeyOf, recordedKeys } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { type ReadSession, streamToRead, withHistory } from '../call/home.ts'
import { signalled } from '../call/listening.ts'
import { refuseActorsOut } from '../call/output-file.ts'
import { momentOption, numberOption } from '../history/option-values.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  const format = formatOption(call)
  const file = options.text('cursor')
  if (file !== null) await refuseActorsOut(call, file, '--cursor')
  return withHistory(call, async (session) => {
    const { ledger } = session
    const stream = await streamToRead(session, call)
    const head = await ledger.store.head(HOST_STREAM)
    if (head === null) throw faultError('ledger.stream_missing', HOST_STREAM)
    const home = ledgerNameOf(head)
    const kept = file === null ? null : await readCursor(file, ledger, stream)
    const since = momentOption(call, 'since', Date.now())
    const stop = new AbortController()
    const isFollowing = options.isOn('follow')
    if (isFollowing) signalled().then(() => stop.abort())
    const order = {
      stream,
      after: numberOption(call, 'after', Number.MAX_SAFE_INTEGER) ?? kept?.seq ?? -1,
      most: numberOption(call, 'limit', Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY,
      isFollowing,
      stop: stop.signal,
      ...(since === undefined ? {} : { since }),
    }
    const signer = format === 'intoto' ? await signerOf(session, home) : null
    await exportFacts({ ledger, home, format, signer }, order, async (lines, cursor) => {
      if (lines.length > 0) await terminal.out(lines.join(''))
      if (file !== null) writeCursor(file, cursor)
    })
    return EXIT.yes
  })
}

function formatOption({ options }: CommandCall): ExportFormat {
  const text = options.text('format')
  const found = EXPORT_FORMATS.find((format) => format === text)
  if (found !== undefined) return found
  const message = text === null ? 'name a format' : `${showName(text)} is not a format of an export`
  throw usageError(message, `--format ${EXPORT_FORMATS.join('|')}`)
}

/** Of the key that signs checkpoints now, under the home's name. */
async function signerOf({ ledger, home }: ReadSession, name: string): Promise<StatementSigner> {
  const { inForce } = await recordedKeys(ledger.store)
  const own = openKeys(join(home.state, 'keys'))
  const [key] = inForce.flatMap(({ name: signedAs, keyId }) => own.find(signedAs, keyId) ?? [])
  if (key === undefined) {
    const message = 'the key of this home is not here, so no statement can be signed'
    throw faultError('ledger.key_malformed', '', message, 'export where the home is, or as jsonl')
  }
  return { keyText: formatVerifierKey(publicKeyOf(key, name)), sign: key.sign }
}

/**
 * What git and a server say to each other about a push, as packet lines: the references of the server,
 * the commands of the client, and the report about each of them. Pure.
 */

/** A reference that a push sets, from one object to another; zeros where there is none. */
export interface RefCommand {
  readonly ref: string
  readonly before: string
  readonly after: string
}

export interface RemoteRef {
  readonly ref: string
  readonly id: string
}

export const NO_OBJECT = '0'.repeat(40)

const FLUSH = '0000'
const LENGTH_DIGITS = 4
const BAND_BYTES = 60_000
const REPORT_BAND = 1
const WORDS_BAND = 2
/** No thin packs: the pack is read without the server's objects. */
const CAPABILITIES = 'report-status delete-refs side-band-64k ofs-delta no-thin object-format=sha1'
const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) (refs\/[^\s\0~^:?*[\\]+)$/

/** The first answer to a client that wants to push. */
export function advertise(refs: readonly RemoteRef[]): string {
  const shown = refs.length === 0 ? [{ id: NO_OBJECT, ref: 'capabilities^{}' }] : refs
  const lines = shown.map(({ id, ref }, index) =>
    packet(`${id} ${ref}${index === 0 ? `\0${CAPABILITIES}` : ''}\n`),
  )
  return [packet('# service=git-receive-pack\n'), FLUSH, ...lines, FLUSH].join('')
}

/** The commands at the beginning of a push and where they end; null if not all of them are here yet. */
export function readCommands(
  bytes: Buffer,
): { readonly commands: readonly RefCommand[]; readonly end: number } | null {
  const commands: RefCommand[] = []
  for (let at = 0; ; ) {
    const digits = bytes.toString('latin1', at, at + LENGTH_DIGITS)
    if (digits.length < LENGTH_DIGITS) return null
    if (digits === FLUSH) return { commands, end: at + LENGTH_DIGITS }
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : 0
    if (length <= LENGTH_DIGITS) throw new Error('the push is not in the form of git')
    if (at + length > bytes.length) return null
    const [line = ''] = bytes.toString('utf8', at + LENGTH_DIGITS, at + length).split('\0')
    const [, before, after, ref] = COMMAND.exec(line.trimEnd()) ?? []
    if (before === undefined || after === undefined || ref === undefined) {
      throw new Error('the push holds something else than branches and tags')
    }
    commands.push({ ref, before, after })
    at += length
  }
}

/** Words that git shows to the agent as those of the server. */
export function wordsPacket(text: string): Buffer {
  return band(WORDS_BAND, Buffer.from(`${text}\n`))
}

/** The end of an answer; `refusal` is null for a push that was sent. */
export function report(commands: readonly RefCommand[], refusal: string | null): Buffer {
  const lines = commands.map(({ ref }) =>
    packet(refusal === null ? `ok ${ref}\n` : `ng ${ref} ${refusal}\n`),
  )
  const text = [packet('unpack ok\n'), ...lines, FLUSH].join('')
  return Buffer.concat([band(REPORT_BAND, Buffer.from(text)), Buffer.from(FLUSH)])
}

function band(number: number, bytes: Buffer): Buffer {
  const cut = bytes.subarray(0, BAND_BYTES)
  const length = (cut.length + LENGTH_DIGITS + 1).toString(16).padStart(LENGTH_DIGITS, '0')
  return Buffer.concat([Buffer.from(length), Buffer.from([number]), cut])
}

function packet(text: string): string {
  const length = Buffer.byteLength(text) + LENGTH_DIGITS
  return `${length.toString(16).padStart(LENGTH_DIGITS, '0')}${text}`
}

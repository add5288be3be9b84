/**
 * The answer to a request becomes a file by a promotion of its own: the body is in the objects, is
 * staged, journalled, and put in place like rehearsed bytes, with the same pre-image for undoing. It is
 * its own step because the answer is unknown when the act is rehearsed.
 */
import { chmodSync, closeSync, fsyncSync, lstatSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Digest, FaultError, fault, showName } from '../../base/index.ts'
import { type ActionDescriptor, declaresEffect, readEffects } from '../../contracts/index.ts'
import { type Change, type EntryState, type RawPath, rawOfText } from '../../gate/index.ts'
import { makeDurable } from '../../machine/index.ts'
import { hashFile, lookAt } from '../../promotion/index.ts'
import { writeStage } from '../../tree/index.ts'
import { realPathOf } from '../readings/host-facts.ts'

const MODE = 0o644

/** What is there now, for a place that an answer can be kept in; throws when it cannot. */
function targetState(path: string): {
  readonly real: string
  readonly before: EntryState | null
} {
  const real = realPathOf(path)
  const parent = lstatSync(dirname(real), { throwIfNoEntry: false })
  if (parent?.isDirectory() !== true) throw notKept(path, 'there is no directory to keep it in')
  const entry = lookAt(real)
  if (entry === null) return { real, before: null }
  if (entry.kind !== 'file') throw notKept(path, 'something else than a file is there')
  return { real, before: stateOf(real) }
}

/** Before anything is sent: that the answer can be kept there, and that it was declared so. */
export function checkTarget(
  path: string | undefined,
  descriptor: ActionDescriptor | undefined,
): void {
  if (path === undefined) return
  const kind = targetState(path).before === null ? 'create' : 'modify'
  if (declaresEffect(readEffects(descriptor?.effects), kind, path)) return
  throw notKept(
    path,
    kind === 'create' ? 'to be created, not declared so' : 'to be changed, not declared so',
  )
}

/** Makes a stage that holds one file, durable; the change that puts it in place is the answer. */
export async function stageAnswer(
  stage: string,
  path: string,
  body: { readonly digest: Digest; readonly bytes: Uint8Array },
): Promise<Change> {
  const { real, before } = targetState(path)
  mkdirSync(stage, { recursive: true, mode: 0o700 })
  const place = 'answer'
  const file = join(stage, place)
  const handle = openSync(file, 'wx', 0o600)
  try {
    writeSync(handle, body.bytes)
    chmodSync(file, before?.mode ?? MODE)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  const raw = rawOfText(real)
  // An ASCII name is the same as a raw path.
  const entries = [{ path: raw, place: place as RawPath, isUnit: true }]
  const list = writeStage({ stage, entries, emptied: [] })
  await makeDurable([list, rawOfText(stage), rawOfText(dirname(stage))], stage)
  return { path: raw, before, after: { ...stateOf(file), owner: before?.owner ?? ownOwner() } }
}

function stateOf(path: string): EntryState {
  const entry = lookAt(path)
  if (entry === null) throw notKept(path, 'it is not there any more')
  return {
    kind: 'file',
    mode: entry.mode,
    size: entry.size,
    digest: hashFile(path),
    target: null,
    attributes: [],
    owner: process.getuid?.() === 0 ? { uid: entry.uid, gid: entry.gid } : null,
    mtimeNs: entry.mtimeNs,
    linkGroup: null,
  }
}

function ownOwner(): EntryState['owner'] {
  return process.getuid?.() === 0 ? { uid: 0, gid: process.getgid?.() ?? 0 } : null
}

function notKept(path: string, reason: string): FaultError {
  const message = `${showName(path)}: ${reason}`
  return new FaultError(fault('request.save_to', path, null, { message }))
}

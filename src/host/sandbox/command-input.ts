/**
 * How a command of one run gets its standard input: bytes and streams are fed to its pipe, an input that
 * others read as well is relayed, and what is left of a file of bearable size lies inside as a file, in
 * which the command can seek as it could in the real one.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FD } from './bubble.ts'
import type { FileInput, RunRequest, SharedInput } from './driver.ts'
import { FileRelay } from './file-relay.ts'
import { INPUT } from './holder-command.ts'
import { InputRelay } from './input-relay.ts'
import type { Opened } from './opening.ts'
import { type Ends, feed } from './pipe-ends.ts'
import { placeOf } from './standard-input.ts'

const FILE_BYTES_MAX = 16 * 1024 * 1024
const PIECE_BYTES = 64 * 1024

export interface CommandInput {
  readonly readsFile: boolean
  /** The command is about to begin. */
  begin(): void
  /** Everybody inside is dead. */
  end(): void
}

type Place = Pick<Opened, 'directory' | 'holder' | 'pipes' | 'tools'>

/** `first` is the first process inside. */
export function commandInput(
  stdin: RunRequest['stdin'],
  place: Place,
  { pid: first, ends }: { readonly pid: number; readonly ends: Ends },
): CommandInput {
  const { stdin: socket } = ends
  const path = place.pipes.stdin
  if (!isShared(stdin)) return { readsFile: false, begin: () => feed(socket, stdin), end: nothing }
  if (stdin.kind === 'passing') {
    return relayed(() => new InputRelay(stdin, socket, path, first))
  }
  const bytes = stdin.size <= FILE_BYTES_MAX && isUnused(place) ? takeAll(stdin) : NO_BYTES
  if (bytes === NO_BYTES || bytes.length > FILE_BYTES_MAX) {
    return relayed(() => new FileRelay(stdin, socket, path, bytes))
  }
  return { ...copied(stdin, bytes, place), begin: () => socket.destroy() }
}

const NO_BYTES = new Uint8Array()

function relayed(begun: () => { end(): void }): CommandInput {
  let relay: { end(): void } | null = null
  return {
    readsFile: false,
    begin: () => {
      relay = begun()
    },
    end: () => relay?.end(),
  }
}

function isShared(stdin: RunRequest['stdin']): stdin is SharedInput {
  return typeof stdin === 'object' && 'kind' in stdin
}

/** The file is there, and no earlier run has read from it. */
function isUnused({ tools, holder }: Place): boolean {
  return tools === null && readTo(holder.pid) === 0
}

function copied(input: FileInput, bytes: Uint8Array, { directory, holder }: Place) {
  writeFileSync(join(directory, INPUT), bytes)
  return {
    readsFile: true,
    end: () => input.end(Math.max(0, bytes.length - (readTo(holder.pid) ?? 0))),
  }
}

/** More than bearable when it holds more than it said. */
function takeAll(input: FileInput): Uint8Array {
  const pieces: Uint8Array[] = []
  for (let count = 0; count <= FILE_BYTES_MAX; ) {
    const piece = input.take(PIECE_BYTES)
    if (piece.length === 0) break
    pieces.push(piece)
    count += piece.length
  }
  return Buffer.concat(pieces)
}

/** How far the file was read; null when the holder is gone, and with it who could tell. */
function readTo(holder: number): number | null {
  try {
    return placeOf(holder, FD.input)
  } catch {
    return null
  }
}

function nothing(): void {}

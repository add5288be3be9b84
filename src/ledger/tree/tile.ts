/**
 * Tiles (C2SP tlog-tiles): the tree cut into rows of 256 hashes, and the entries in bundles of 256,
 * under paths that a web server or a bucket can hold as they are.
 *
 * A tile of level L holds the complete subtrees (8·L, 256·N) to (8·L, 256·N + 255); the rightmost
 * tile of a level is partial and its path says how wide it is. An entry is at most 65,535 bytes long,
 * because a bundle writes its length in two bytes.
 */
import { HASH_BYTES, invariant } from '../../base/index.ts'

export const TILE_WIDTH = 256
/** Tree levels that one tile spans. */
export const TILE_HEIGHT = 8
export const ENTRY_BYTES_MAX = 65_535
const LEVEL_MAX = 63

export interface Tile {
  /** `entries` means the bundle of entries for the tile of level 0. */
  readonly level: number | 'entries'
  readonly index: number
  /** 1 to 256; less than 256 is a partial tile. */
  readonly width: number
}

/** Writes `tile/<L>/<N>[.p/<W>]`: N in groups of three digits, `x` before all but the last group. */
export function tilePath({ level, index, width }: Tile): string {
  const digits = String(index)
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0')
  const groups = padded.match(/\d{3}/g) ?? []
  const name = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
  return `tile/${level}/${name}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

const PATH = /^tile\/(0|[1-9]\d?|entries)\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

export function parseTilePath(path: string): Tile | null {
  const match = PATH.exec(path)
  if (match === null) return null
  const [, levelText = '', indexText = '', widthText] = match
  const level = levelText === 'entries' ? 'entries' : Number(levelText)
  const index = Number(indexText.replaceAll(/[x/]/g, ''))
  const width = widthText === undefined ? TILE_WIDTH : Number(widthText)
  const tile: Tile = { level, index, width }
  if (level !== 'entries' && level > LEVEL_MAX) return null
  if (!Number.isSafeInteger(index) || (widthText !== undefined && width >= TILE_WIDTH)) return null
  // One tile has one path: `x000/001` is another spelling of `001`.
  return tilePath(tile) === path ? tile : null
}

/** Every tile of a tree of that size: level by level, from the left, the partial one last. */
export function tilesOf(size: number): readonly Tile[] {
  const tiles: Tile[] = []
  let count = size
  for (let level = 0; count > 0; level++) {
    const full = Math.floor(count / TILE_WIDTH)
    for (let index = 0; index < full; index++) tiles.push({ level, index, width: TILE_WIDTH })
    const rest = count % TILE_WIDTH
    if (rest > 0) tiles.push({ level, index: full, width: rest })
    count = full
  }
  return tiles
}

/** The entries of a bundle, each with its length in two bytes, big end first. */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const length = entries.reduce((sum, entry) => sum + 2 + entry.length, 0)
  const bundle = new Uint8Array(length)
  let at = 0
  for (const entry of entries) {
    invariant(entry.length <= ENTRY_BYTES_MAX, 'an entry fits a length of two bytes')
    bundle[at] = entry.length >> 8
    bundle[at + 1] = entry.length & 0xff
    bundle.set(entry, at + 2)
    at += 2 + entry.length
  }
  return bundle
}

/** The entries of a bundle, or null when its lengths do not add up. */
export function decodeBundle(bundle: Uint8Array): readonly Uint8Array[] | null {
  const entries: Uint8Array[] = []
  let at = 0
  while (at < bundle.length) {
    if (at + 2 > bundle.length) return null
    // The line above has checked that both bytes exist.
    const length = ((bundle[at] as number) << 8) | (bundle[at + 1] as number)
    if (at + 2 + length > bundle.length) return null
    entries.push(bundle.subarray(at + 2, at + 2 + length))
    at += 2 + length
  }
  return entries.length > TILE_WIDTH ? null : entries
}

/** Splits the bytes of a tile into its hashes. */
export function tileHashes(bytes: Uint8Array): readonly Uint8Array[] {
  invariant(bytes.length % HASH_BYTES === 0, 'a tile is a row of hashes')
  const hashes: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += HASH_BYTES)
    hashes.push(bytes.subarray(at, at + HASH_BYTES))
  return hashes
}

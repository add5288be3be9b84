/**
 * Laws of tree and proofs, against an oracle written down from the text of RFC 9162, section 2.1:
 * recursive, naive, and sharing nothing with the code but SHA-256.
 */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { encodeHex } from './base64.ts'
import { Growth, openTiles, placeOf, readNode, type StoredTile } from './growth.ts'
import {
  type Consistency,
  type Inclusion,
  planConsistency,
  planInclusion,
  planRoot,
  prove,
  verifyConsistency,
  verifyInclusion,
} from './proof.ts'
import { coveringNodes, leafHash, type NodeId, nodeHash, RightEdge } from './tree.ts'

const H = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** MTH(D). */
function oracleRoot(entries: readonly Uint8Array[]): Buffer {
  const [only] = entries
  if (only === undefined) return H('')
  if (entries.length === 1) return H(Uint8Array.of(0), only)
  const k = oracleSplit(entries.length)
  return H(Uint8Array.of(1), oracleRoot(entries.slice(0, k)), oracleRoot(entries.slice(k)))
}

/** PATH(m, D). */
function oraclePath(m: number, entries: readonly Uint8Array[]): readonly Buffer[] {
  if (entries.length === 1) return []
  const k = oracleSplit(entries.length)
  return m < k
    ? [...oraclePath(m, entries.slice(0, k)), oracleRoot(entries.slice(k))]
    : [...oraclePath(m - k, entries.slice(k)), oracleRoot(entries.slice(0, k))]
}

/** SUBPROOF(m, D, b). */
function oracleSubproof(m: number, entries: readonly Uint8Array[], b: boolean): readonly Buffer[] {
  if (m === entries.length) return b ? [] : [oracleRoot(entries)]
  const k = oracleSplit(entries.length)
  return m <= k
    ? [...oracleSubproof(m, entries.slice(0, k), b), oracleRoot(entries.slice(k))]
    : [...oracleSubproof(m - k, entries.slice(k), false), oracleRoot(entries.slice(0, k))]
}

function oracleSplit(n: number): number {
  return 2 ** Math.ceil(Math.log2(n) - 1)
}

const entriesOf = (size: number): readonly Uint8Array[] =>
  Array.from({ length: size }, (_, index) => new TextEncoder().encode(`entry ${index * 7}`))

/** A stored tree: the newest state of every tile, as a store keeps it. */
class Stored {
  readonly growth = Growth.empty()
  readonly tiles = new Map<string, StoredTile>()

  append(entries: readonly Uint8Array[]): void {
    for (const entry of entries) this.growth.append(leafHash(entry))
    for (const tile of this.growth.takeChanges()) {
      this.tiles.set(`${tile.level}/${tile.index}`, tile)
    }
  }

  read = (nodes: readonly NodeId[]): readonly Uint8Array[] =>
    nodes.map((node) => {
      const place = placeOf(node)
      const tile = this.tiles.get(`${place.level}/${place.index}`)
      const hash = tile === undefined ? null : readNode(tile, place)
      if (hash === null) throw new Error(`no node ${node.level}/${node.index}`)
      return hash
    })
}

function grow(size: number): Stored {
  const stored = new Stored()
  stored.append(entriesOf(size))
  return stored
}

const hexes = (hashes: readonly Uint8Array[]): readonly string[] => hashes.map(encodeHex)

describe('every tree up to 40 leaves', () => {
  const sizes = Array.from({ length: 40 }, (_, index) => index + 1)
  const stored = grow(40)

  it('has the root of the oracle at every size', () => {
    const edge = new RightEdge()
    for (const size of sizes) {
      const entries = entriesOf(size)
      edge.append(leafHash(entries[size - 1] as Uint8Array))
      expect(encodeHex(edge.root())).toBe(encodeHex(oracleRoot(entries)))
      const [root] = prove(planRoot(size), stored.read)
      expect(encodeHex(root as Uint8Array)).toBe(encodeHex(oracleRoot(entries)))
    }
  })

  it('proves every leaf at every size as the oracle does', () => {
    for (const size of sizes) {
      const entries = entriesOf(size)
      const root = oracleRoot(entries)
      for (let index = 0; index < size; index++) {
        const path = prove(planInclusion(index, size), stored.read)
        expect(hexes(path)).toEqual(hexes(oraclePath(index, entries)))
        const leaf = leafHash(entries[index] as Uint8Array)
        expect(verifyInclusion({ index, size, leaf, path, root })).toBe(true)
      }
    }
  })

  it('proves every prefix of every size as the oracle does', () => {
    for (const newSize of sizes) {
      const entries = entriesOf(newSize)
      const newRoot = oracleRoot(entries)
      for (let oldSize = 0; oldSize <= newSize; oldSize++) {
        const path = prove(planConsistency(oldSize, newSize), stored.read)
        const wanted = oldSize === 0 ? [] : oracleSubproof(oldSize, entries, true)
        expect(hexes(path)).toEqual(hexes(wanted))
        const oldRoot = oracleRoot(entries.slice(0, oldSize))
        expect(verifyConsistency({ oldSize, newSize, oldRoot, newRoot, path })).toBe(true)
      }
    }
  })
})

describe('larger trees', () => {
  const size = 70_000
  const entries = entriesOf(size)
  const stored = grow(size)
  const root = stored.growth.root()

  it('have the root of the oracle, over three levels of tiles', () => {
    expect(encodeHex(root)).toBe(encodeHex(oracleRoot(entries)))
    expect(openTiles(size)).toEqual([
      { level: 0, index: 273, width: 112 },
      { level: 1, index: 1, width: 17 },
      { level: 2, index: 0, width: 1 },
    ])
  })

  it('write every later state of a tile behind the earlier one', () => {
    const growing = new Stored()
    for (const entry of entriesOf(600)) {
      const before = new Map(growing.tiles)
      growing.append([entry])
      for (const [key, { hashes, inner }] of before) {
        const after = growing.tiles.get(key)
        expect(Buffer.compare(hashes, after?.hashes.subarray(0, hashes.length) ?? hashes)).toBe(0)
        expect(Buffer.compare(inner, after?.inner.subarray(0, inner.length) ?? inner)).toBe(0)
      }
    }
    expect(growing.tiles.size).toBe(4)
  })

  it('load again from their open tiles and grow on alike', () => {
    const sizes = fc.integer({ min: 0, max: 3000 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 600 }), (before, more) => {
        const first = grow(before)
        const open = openTiles(before).map(({ level, index }) =>
          first.tiles.get(`${level}/${index}`),
        )
        const again = Growth.load(before, open as StoredTile[])
        for (const entry of entriesOf(before + more).slice(before)) again?.append(leafHash(entry))
        expect(encodeHex(again?.root() as Uint8Array)).toBe(
          encodeHex(oracleRoot(entriesOf(before + more))),
        )
      }),
      { numRuns: runs(25) },
    )
  })

  it('prove any leaf and any prefix, in at most 2·log2 hashes', () => {
    const places = fc.integer({ min: 1, max: size })
    fc.assert(
      fc.property(places, places, (one, other) => {
        const [small, large] = one < other ? [one, other] : [other, one]
        const [oldRoot] = prove(planRoot(small), stored.read)
        const [newRoot] = prove(planRoot(large), stored.read)
        const path = prove(planConsistency(small, large), stored.read)
        expect(path.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(size)))
        expect(
          verifyConsistency({
            oldSize: small,
            newSize: large,
            oldRoot: oldRoot as Uint8Array,
            newRoot: newRoot as Uint8Array,
            path,
          }),
        ).toBe(true)
        const inclusion = {
          index: small - 1,
          size: large,
          leaf: leafHash(entries[small - 1] as Uint8Array),
          path: prove(planInclusion(small - 1, large), stored.read),
          root: newRoot as Uint8Array,
        }
        expect(inclusion.path.length).toBeLessThanOrEqual(Math.ceil(Math.log2(large)))
        expect(verifyInclusion(inclusion)).toBe(true)
      }),
    )
  })
})

/** One bit of one byte turned. */
function flip(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = bytes.slice()
  copy[at] = (copy[at] as number) ^ (1 << bit)
  return copy
}

describe('any flipped bit is found', () => {
  const size = 300
  const stored = grow(size)
  const entries = entriesOf(size)
  const spot = fc.record({
    byte: fc.integer({ min: 0, max: 31 }),
    bit: fc.integer({ min: 0, max: 7 }),
    which: fc.nat(),
  })

  it('in leaf, path and root of an inclusion proof', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: size - 1 }), spot, (index, { byte, bit, which }) => {
        const leaf = leafHash(entries[index] as Uint8Array)
        const path = prove(planInclusion(index, size), stored.read)
        const proof: Inclusion = { index, size, leaf, path, root: stored.growth.root() }
        const place = which % path.length
        const bent = path.map((hash, at) => (at === place ? flip(hash, byte, bit) : hash))
        expect(verifyInclusion(proof)).toBe(true)
        expect(verifyInclusion({ ...proof, leaf: flip(leaf, byte, bit) })).toBe(false)
        expect(verifyInclusion({ ...proof, root: flip(proof.root, byte, bit) })).toBe(false)
        expect(verifyInclusion({ ...proof, path: bent })).toBe(false)
        expect(verifyInclusion({ ...proof, path: path.slice(1) })).toBe(false)
        expect(verifyInclusion({ ...proof, path: [...path, leaf] })).toBe(false)
        expect(verifyInclusion({ ...proof, index: (index + 1) % size })).toBe(false)
      }),
    )
  })

  it('in roots and path of a consistency proof', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: size - 1 }), spot, (oldSize, { byte, bit, which }) => {
        const path = prove(planConsistency(oldSize, size), stored.read)
        const proof: Consistency = {
          oldSize,
          newSize: size,
          oldRoot: oracleRoot(entries.slice(0, oldSize)),
          newRoot: stored.growth.root(),
          path,
        }
        const place = which % path.length
        const bent = path.map((hash, at) => (at === place ? flip(hash, byte, bit) : hash))
        expect(verifyConsistency(proof)).toBe(true)
        expect(verifyConsistency({ ...proof, oldRoot: flip(proof.oldRoot, byte, bit) })).toBe(false)
        expect(verifyConsistency({ ...proof, newRoot: flip(proof.newRoot, byte, bit) })).toBe(false)
        expect(verifyConsistency({ ...proof, path: bent })).toBe(false)
        expect(verifyConsistency({ ...proof, path: [...path, proof.oldRoot] })).toBe(false)
      }),
    )
  })
})

describe('hostile sizes', () => {
  const hash = leafHash('x')
  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%s is no size', (size) => {
    expect(verifyInclusion({ index: 0, size, leaf: hash, path: [], root: hash })).toBe(false)
    expect(
      verifyConsistency({ oldSize: 1, newSize: size, oldRoot: hash, newRoot: hash, path: [hash] }),
    ).toBe(false)
  })

  it('a path that climbs beyond the root proves nothing', () => {
    const [left, right] = [leafHash('a'), leafHash('b')]
    const root = nodeHash(left, right)
    expect(verifyInclusion({ index: 1, size: 2, leaf: right, path: [left], root })).toBe(true)
    expect(verifyInclusion({ index: 0, size: 1, leaf: right, path: [left], root })).toBe(false)
    const [oldRoot, newRoot] = [nodeHash(left, root), nodeHash(left, root)]
    const long = { oldSize: 2, newSize: 3, oldRoot: root, newRoot: nodeHash(root, left) }
    expect(verifyConsistency({ ...long, path: [left] })).toBe(true)
    const grown = { oldSize: 2, newSize: 2, oldRoot, newRoot, path: [root, left] }
    expect(verifyConsistency(grown)).toBe(false)
    const higher = { ...long, oldRoot: nodeHash(right, root), path: [root, left, right] }
    expect(verifyConsistency({ ...higher, newRoot: nodeHash(right, long.newRoot) })).toBe(false)
  })

  it('up to 2^53 leaves nodes are named without rounding', () => {
    const size = Number.MAX_SAFE_INTEGER
    expect(planInclusion(size - 1, size).length).toBeLessThanOrEqual(53)
    expect(coveringNodes(0, size)).toHaveLength(53)
    expect(placeOf({ level: 0, index: size - 1 })).toMatchObject({ level: 0, part: 'hashes' })
  })
})

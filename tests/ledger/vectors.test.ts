/** Runs spec/vectors/ledger: what other tools published must come out here, and go in. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/base/index.ts'
import {
  CHAIN_START,
  type Checkpoint,
  chainNext,
  decodeBundle,
  decodeHex,
  encodeBase64,
  encodeBundle,
  encodeHex,
  factLeaf,
  formatNote,
  formatSignerKey,
  formatVerifierKey,
  leafHash,
  openCheckpoint,
  openNote,
  parseCheckpoint,
  parseSignerKey,
  parseTilePath,
  parseVerifierKey,
  planConsistency,
  planInclusion,
  prove,
  RightEdge,
  showKeyId,
  signCheckpoint,
  signNote,
  TILE_WIDTH,
  tilePath,
  tilesOf,
  verifierFor,
  verifyConsistency,
  verifyInclusion,
} from '../../src/ledger/index.ts'
import { keyFromSeed, signerFor } from '../../src/store/index.ts'

interface Case {
  readonly id: string
  readonly note: string
}

interface TreeCase extends Case {
  readonly size: number
  readonly root: string
}

interface InclusionCase extends Case {
  readonly kind: 'inclusion'
  readonly index: number
  readonly size: number
  readonly leaf: string
  readonly root: string
  readonly path: readonly string[]
  readonly want: boolean
}

interface ConsistencyCase extends Case {
  readonly kind: 'consistency'
  readonly oldSize: number
  readonly newSize: number
  readonly oldRoot: string
  readonly newRoot: string
  readonly path: readonly string[]
  readonly want: boolean
}

type NoteCase = Case &
  (
    | { readonly kind: 'sign'; readonly skey: string; readonly text: string; readonly want: string }
    | { readonly kind: 'key'; readonly key: string; readonly want: unknown }
    | {
        readonly kind: 'open'
        readonly keys: readonly string[]
        readonly signed: string
        readonly want?: unknown
        readonly wantFault?: string
      }
  )

interface CheckpointCase extends Case {
  readonly text?: string
  readonly signed?: string
  readonly key?: string
  readonly skey?: string
  readonly entries?: readonly string[]
  readonly want: unknown
}

interface TileCase extends Case {
  readonly path?: string
  readonly size?: number
  readonly entries?: readonly string[]
  readonly want: unknown
}

interface FactCase extends Case {
  readonly fact: unknown
  readonly text: string
  readonly leaf: string
  readonly chain: string
}

function load<C extends Case>(
  name: string,
  spec: string,
): { cases: readonly C[]; leaves: string[] } {
  const file = JSON.parse(readFileSync(`spec/vectors/ledger/${name}.json`, 'utf8'))
  expect(file.spec).toBe(spec)
  const ids = file.cases.map(({ id }: Case) => id)
  expect(new Set(ids).size).toBe(ids.length)
  return file
}

function run<C extends Case>(cases: readonly C[], check: (row: C) => void): void {
  for (const row of cases) it(`${row.id}: ${row.note}`, () => check(row))
}

const hex = (text: string): Uint8Array => {
  const bytes = decodeHex(text)
  if (bytes === null) throw new Error(`not hex: ${text}`)
  return bytes
}

const tree = load<TreeCase>('tree', 'ledger-tree/1')

describe('tree', () => {
  run(tree.cases, ({ size, root }) => {
    const edge = new RightEdge()
    for (const entry of tree.leaves.slice(0, size)) edge.append(leafHash(hex(entry)))
    expect(encodeHex(edge.root())).toBe(root)
  })
})

/** Every complete subtree over the well-known leaves. */
function wellKnownNodes(size: number): Map<string, Uint8Array> {
  const nodes = new Map<string, Uint8Array>()
  const edge = new RightEdge()
  for (const entry of tree.leaves.slice(0, size)) {
    edge.append(leafHash(hex(entry)), (level, index, hash) => nodes.set(`${level}/${index}`, hash))
  }
  return nodes
}

describe('proofs', () => {
  run(load<InclusionCase | ConsistencyCase>('proof', 'ledger-proof/1').cases, (row) => {
    const path = row.path.map(hex)
    const holds =
      row.kind === 'inclusion'
        ? verifyInclusion({ ...row, leaf: hex(row.leaf), root: hex(row.root), path })
        : verifyConsistency({
            ...row,
            oldRoot: hex(row.oldRoot),
            newRoot: hex(row.newRoot),
            path,
          })
    expect(holds).toBe(row.want)
    const size = row.kind === 'inclusion' ? row.size : row.newSize
    if (!holds || size > tree.leaves.length) return
    const plan =
      row.kind === 'inclusion' ? planInclusion(row.index, size) : planConsistency(row.oldSize, size)
    const nodes = wellKnownNodes(size)
    const made = prove(plan, (ids) =>
      ids.map(({ level, index }) => nodes.get(`${level}/${index}`) ?? new Uint8Array()),
    )
    expect(made.map(encodeHex)).toEqual(row.path)
  })
})

const verifier = (text: string) => {
  const key = parseVerifierKey(text)
  const made = key === null ? null : verifierFor(key)
  if (made === null) throw new Error(`no key: ${text}`)
  return made
}

const signer = (text: string) => {
  const key = parseSignerKey(text)
  if (key === null) throw new Error('no private key')
  expect(formatSignerKey(key)).toBe(text)
  const made = signerFor(keyFromSeed(key.seed), key.name)
  expect(made.keyId).toBe(key.keyId)
  return made
}

describe('notes', () => {
  run(load<NoteCase>('note', 'ledger-note/1').cases, (row) => {
    if (row.kind === 'sign') {
      expect(formatNote(signNote(row.text, [signer(row.skey)]))).toBe(row.want)
    } else if (row.kind === 'key') {
      const key = parseVerifierKey(row.key)
      if (key !== null) expect(formatVerifierKey(key)).toBe(row.key)
      const told =
        key === null ? null : { name: key.name, keyId: showKeyId(key.keyId), type: key.type }
      expect(told).toEqual(row.want)
    } else {
      const opened = openNote(row.signed, row.keys.map(verifier))
      if (!opened.ok) return expect(opened.fault.code).toBe(row.wantFault)
      const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)
      const { text, verified, unknown } = opened
      expect({ text, verified: names(verified), unknown: names(unknown) }).toEqual(row.want)
    }
  })
})

describe('checkpoints', () => {
  run(load<CheckpointCase>('checkpoint', 'ledger-checkpoint/1').cases, (row) => {
    const checkpoint = readCheckpoint(row)
    const told = checkpoint === null ? null : { ...checkpoint, root: encodeBase64(checkpoint.root) }
    expect(told).toEqual(row.want)
    if (row.skey === undefined || checkpoint === null) return
    const edge = new RightEdge()
    for (const entry of row.entries ?? []) edge.append(leafHash(entry))
    const signers = [signer(row.skey)]
    expect(signCheckpoint(checkpoint.origin, edge.size, edge.root(), signers)).toBe(row.signed)
  })
})

function readCheckpoint({ text, signed, key }: CheckpointCase): Checkpoint | null {
  if (text !== undefined) return parseCheckpoint(text)
  const opened = openCheckpoint(signed ?? '', [verifier(key ?? '')])
  return opened.ok ? opened.checkpoint : null
}

describe('tiles', () => {
  run(load<TileCase>('tile', 'ledger-tile/1').cases, (row) => {
    if (row.path !== undefined) {
      const tile = parseTilePath(row.path)
      expect(tile).toEqual(row.want)
      if (tile !== null) expect(tilePath(tile)).toBe(row.path)
    } else if (row.size !== undefined) {
      const levels: Record<string, [number, number]> = {}
      for (const { level, width } of tilesOf(row.size)) {
        const [full, partial] = levels[level] ?? [0, 0]
        levels[level] = width === TILE_WIDTH ? [full + 1, partial] : [full, width]
      }
      expect(levels).toEqual(row.want)
    } else {
      const bundle = encodeBundle((row.entries ?? []).map(hex))
      expect(encodeHex(bundle)).toBe(row.want)
      expect(decodeBundle(bundle)?.map(encodeHex)).toEqual(row.entries)
      expect(decodeBundle(bundle.subarray(0, -1))).toBe(null)
    }
  })
})

describe('facts', () => {
  let chain: Uint8Array = CHAIN_START
  run(load<FactCase>('fact', 'ledger-fact/1').cases, (row) => {
    const text = canonicalJson(row.fact)
    expect(text).toBe(row.text)
    const leaf = factLeaf(text)
    chain = chainNext(chain, leaf)
    expect(encodeHex(leaf)).toBe(row.leaf)
    expect(encodeHex(factLeaf(new TextEncoder().encode(text)))).toBe(row.leaf)
    expect(encodeHex(chain)).toBe(row.chain)
  })
})

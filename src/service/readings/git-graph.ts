/**
 * Whether a commit-graph says the same of each commit as the commit itself: git takes the tree and the
 * parents of a commit from there. A graph of one file is read; everything thrown means that the graph
 * cannot be checked.
 */
import type { GitObjects } from './git-objects.ts'

const SIGNATURE = 'CGPH'
const TABLE_AT = 8
const ROW_BYTES = 12
const NO_PARENT = 0x70000000
const IN_EDGES = 0x80000000
const COMMITS_MAX = 50_000

/** Fails if the graph, or a commit that it names, cannot be read. */
export function isTrueGraph(bytes: Buffer, objects: GitObjects): boolean {
  const graph = new Graph(bytes)
  for (let index = 0; index < graph.count; index++) {
    const commit = objects.read(graph.name(index))
    if (commit?.type !== 'commit') throw new Error('a commit of the graph cannot be read')
    const text = commit.bytes.toString('latin1')
    const [head = ''] = text.split('\n\n', 1)
    const lines = head.split('\n').filter((line) => /^(?:tree|parent) /.test(line))
    if (lines.join('\n') !== graph.lines(index).join('\n')) return false
  }
  return true
}

class Graph {
  readonly #bytes: Buffer
  readonly #nameBytes: number
  readonly #chunks = new Map<string, Buffer>()
  readonly count: number

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const [version, kind, chunks = 0, bases] = bytes.subarray(4, TABLE_AT)
    const isKnown = bytes.toString('latin1', 0, 4) === SIGNATURE && version === 1 && bases === 0
    if (!isKnown) throw new Error('the graph is of another kind')
    this.#nameBytes = kind === 2 ? 32 : 20
    for (let row = 0; row < chunks; row++) this.#readChunk(TABLE_AT + row * ROW_BYTES)
    this.count = this.#chunk('OIDL').length / this.#nameBytes
    const wanted = this.count * (this.#nameBytes + 16)
    const isWhole = Number.isInteger(this.count) && this.#chunk('CDAT').length === wanted
    if (!isWhole || this.count > COMMITS_MAX) throw new Error('the graph cannot be read')
  }

  name(index: number): string {
    if (index >= this.count) throw new Error('a parent is not in the graph')
    const start = index * this.#nameBytes
    return this.#chunk('OIDL').toString('hex', start, start + this.#nameBytes)
  }

  /** Tree and parents as the head of a commit has them. */
  lines(index: number): readonly string[] {
    const start = index * (this.#nameBytes + 16)
    const data = this.#chunk('CDAT').subarray(start, start + this.#nameBytes + 16)
    const parents: string[] = []
    const add = (place: number): number => parents.push(`parent ${this.name(place)}`)
    const first = data.readUInt32BE(this.#nameBytes)
    if (first !== NO_PARENT) add(first)
    const second = data.readUInt32BE(this.#nameBytes + 4)
    if (second >= IN_EDGES) for (const place of this.#edges(second - IN_EDGES)) add(place)
    else if (second !== NO_PARENT) add(second)
    return [`tree ${data.toString('hex', 0, this.#nameBytes)}`, ...parents]
  }

  /** Further parents of a merge of many; the last has its highest bit set. */
  *#edges(from: number): Generator<number> {
    const edges = this.#chunk('EDGE')
    for (let at = from * 4; ; at += 4) {
      const value = edges.readUInt32BE(at)
      yield value >= IN_EDGES ? value - IN_EDGES : value
      if (value >= IN_EDGES) return
    }
  }

  #readChunk(row: number): void {
    const name = this.#bytes.toString('latin1', row, row + 4)
    const start = Number(this.#bytes.readBigUInt64BE(row + 4))
    const end = Number(this.#bytes.readBigUInt64BE(row + ROW_BYTES + 4))
    if (this.#chunks.has(name) || end < start || end > this.#bytes.length) {
      throw new Error('the graph cannot be read')
    }
    this.#chunks.set(name, this.#bytes.subarray(start, end))
  }

  #chunk(name: string): Buffer {
    const chunk = this.#chunks.get(name)
    if (chunk === undefined) throw new Error('the graph lacks a part')
    return chunk
  }
}

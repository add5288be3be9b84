/** Proofs, checkpoints, verification and bundles, as people and machines meet them: the built program. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { alter, copyOf, folder, Place } from './rig.ts'

/** Of the specification of signed notes. */
const FOREIGN_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'

describe('proofs, checkpoints, verification', () => {
  const place = new Place('proof')
  const kept = join(folder, 'kept.txt')
  beforeAll(() => {
    place.init()
    for (let count = 0; count < 5; count++) place.issue()
    writeFileSync(kept, place.writ(['ledger', 'checkpoint']).out)
    place.issue()
    place.issue()
  }, 60_000)

  const hex = (text: string): Buffer => Buffer.from(text.slice('sha256:'.length), 'hex')
  const hash = (...parts: Uint8Array[]): Buffer =>
    createHash('sha256').update(Buffer.concat(parts)).digest()

  it('proves a fact with SHA-256 alone', () => {
    const { json: proof } = place.writ(['ledger', 'prove', '5', '--json'])
    expect(Object.keys(proof)).toEqual(['seq', 'leaf', 'size', 'root', 'path', 'checkpoint'])
    let [node, last, root] = [proof.seq, proof.size - 1, hex(proof.leaf)]
    for (const sibling of proof.path.map(hex)) {
      if (node % 2 === 1 || node === last) {
        root = hash(Buffer.from([1]), sibling, root)
        while (node % 2 === 0 && node !== 0) [node, last] = [node >> 1, last >> 1]
      } else {
        root = hash(Buffer.from([1]), root, sibling)
      }
      ;[node, last] = [node >> 1, last >> 1]
    }
    expect(`sha256:${root.toString('hex')}`).toBe(proof.root)
    expect(proof.checkpoint.split('\n')[2]).toBe(root.toString('base64'))
    expect(place.writ(['ledger', 'prove', '99', '--json']).json.error.code).toBe('history.unknown')
  })

  it('compares checkpoints and tells a fork', () => {
    const now = join(folder, 'now.txt')
    writeFileSync(now, place.writ(['ledger', 'checkpoint']).out)
    const compare = (one: string, two: string) =>
      place.writ(['ledger', 'compare', one, two, '--json'])
    expect(compare(kept, kept).json.relation).toBe('same')
    expect(compare(kept, now).json.relation).toBe('older')
    const forged = join(folder, 'forged.txt')
    const lines = readFileSync(kept, 'utf8').split('\n')
    lines[2] = Buffer.alloc(32, 7).toString('base64')
    writeFileSync(forged, lines.join('\n'))
    const fork = compare(kept, forged)
    expect([fork.status, fork.json.relation]).toEqual([1, 'fork'])
  })

  it('proves a fork with the printed keys, of the home and of one stream', () => {
    const keys = place.writ(['ledger', 'key']).out
    const home = keys.split('\n')[0] ?? ''
    const stream = join(folder, 'stream.txt')
    writeFileSync(stream, place.writ(['ledger', 'checkpoint', '--stream', 'main']).out)
    for (const file of [kept, stream]) {
      for (const key of [keys, home]) {
        const same = place.writ(['ledger', 'compare', file, file, '--key', key, '--json'])
        expect([same.status, same.json.relation, same.json.signed]).toEqual([0, 'same', true])
      }
      const foreign = place.writ(['ledger', 'compare', file, file, '--key', FOREIGN_KEY, '--json'])
      expect([foreign.status, foreign.json.error.code]).toEqual([4, 'ledger.signature_missing'])
    }
  })

  it('verifies, says what it is anchored in, and rotates the key', () => {
    const bare = place.writ(['ledger', 'verify', '--json'])
    expect([bare.status, bare.json.ok, bare.json.anchored]).toEqual([0, true, false])
    expect(Object.keys(bare.json)).toEqual([
      'ok',
      'anchored',
      'size',
      'root',
      'checked',
      'problems',
      'streams',
      'witnessed',
    ])
    const { public_key: key, earlier } = place.writ(['ledger', 'key', '--json']).json
    expect(earlier).toEqual([])
    const [first, ...others] = place.writ(['ledger', 'key']).out.trim().split('\n')
    expect([first, others.length]).toEqual([key, 2])
    expect(place.writ(['ledger', 'rotate', '--json']).json.streams).toEqual(['host', 'main'])
    const rotated = place.writ(['ledger', 'key', '--json']).json
    expect([rotated.earlier, rotated.public_key === key]).toEqual([[key], false])
    // A key that was kept elsewhere is still one of this ledger's; another one is not.
    expect(place.writ(['ledger', 'verify', '--key', key]).status).toBe(0)
    expect(place.writ(['ledger', 'verify', '--key', FOREIGN_KEY]).status).toBe(1)
    place.submit(place.issue(), place.token('device:pump-3@farm'))
    const anchored = place.writ(['ledger', 'verify', '--from', kept, '--json'])
    expect([anchored.status, anchored.json.ok, anchored.json.anchored]).toEqual([0, true, true])
    const one = join(folder, 'one-stream.txt')
    writeFileSync(one, place.writ(['ledger', 'checkpoint', '--stream', 'main']).out)
    const partly = place.writ(['ledger', 'verify', '--from', one, '--json'])
    expect([partly.status, partly.json.ok, partly.json.anchored]).toEqual([3, true, false])
  }, 60_000)

  it('exports a bundle, once to a place', () => {
    const dir = join(folder, 'bundle')
    const { status, json } = place.writ(['ledger', 'export', dir, '--json'])
    expect(status).toBe(0)
    expect(Object.keys(json)).toEqual(['dir', 'size', 'root'])
    expect(json.dir).toBe(dir)
    expect(readdirSync(dir).length).toBeGreaterThan(3)
    expect(place.writ(['ledger', 'export', dir]).status).toBe(2)
  }, 60_000)

  it('finds a changed fact (1) and a cut tail (4)', () => {
    const changed = copyOf(place, 'changed')
    alter(
      changed,
      `UPDATE facts SET fact = replace(fact, 'IRRIGATE', 'HARVEST') WHERE fact LIKE '%"seq":3,%"stream":"main"%'`,
    )
    const found = changed.writ(['ledger', 'verify', '--json'])
    expect([found.status, found.json.ok]).toEqual([1, false])
    expect(found.json.problems[0].seq).toBe(3)
    const cut = copyOf(place, 'cut')
    alter(cut, 'DELETE FROM facts WHERE place = (SELECT max(place) FROM facts)')
    const short = cut.writ(['ledger', 'verify', '--json'])
    expect([short.status, short.json.ok]).toEqual([4, false])
  }, 60_000)
})

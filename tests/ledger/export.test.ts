/** Bundles: what is in them, that anyone can verify them, and that no line of them can be changed. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BODY_RULES,
  BUNDLE_PAGE,
  checkFactProof,
  compareNotes,
  proveExtension,
  proveFact,
  signCheckpoint,
  verifierFor,
  verifyConsistency,
} from '../../src/ledger/index.ts'
import {
  exportBundle,
  type LedgerReader,
  openKeys,
  openLedgerReader,
  publicKeyOf,
  signerFor,
  signHome,
} from '../../src/store/index.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { codeOf } from './store-suite.ts'
import { Chance } from './tamper.ts'
import { type Fixture, makeFixture, objectFiles, STREAMS } from './tamper-ledger.ts'
import { KEY, NAME, scratch } from './test-ledger.ts'

let place: ReturnType<typeof scratch>
let fixture: Fixture
let reader: LedgerReader

beforeAll(async () => {
  place = scratch()
  fixture = await makeFixture(place.directory)
  reader = openLedgerReader({ directory: fixture.directory })
  for (const stream of STREAMS) await exportBundle(reader, bundle(stream), { stream, bodies: true })
})

afterAll(async () => {
  await reader.close()
  place.remove()
})

const bundle = (name: string) => join(place.directory, 'bundles', name)
const keys = () => fixture.pins

function filesOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort()
}

describe('a bundle', () => {
  it('holds facts, checkpoints, proofs, schemas, keys and the page', () => {
    const names = filesOf(bundle('main')).map((file) => file.replace(/\/.*/, ''))
    expect([...new Set(names)]).toEqual([
      'README.txt',
      'SHA256SUMS',
      'checkpoint.txt',
      'checkpoints',
      'facts.jsonl',
      'keys.txt',
      'manifest.json',
      'objects',
      'proofs.jsonl',
      'schemas',
    ])
    expect(readFileSync(join(bundle('main'), 'README.txt'), 'utf8')).toBe(BUNDLE_PAGE)
    const manifest = JSON.parse(readFileSync(join(bundle('main'), 'manifest.json'), 'utf8'))
    expect(manifest).toMatchObject({ level: 'seatbelt', stream: 'main', bodies: 'included' })
  })

  it('is what sha256sum accepts', () => {
    const { status } = spawnSync('sha256sum', ['-c', '--quiet', '--strict', 'SHA256SUMS'], {
      cwd: bundle('main'),
    })
    expect(status).toBe(0)
  })

  it('leaves bodies behind unless they are asked for, and verifies without them', async () => {
    const directory = bundle('lean')
    const exported = await exportBundle(reader, directory)
    const head = await reader.store.head('main')
    expect(exported).toEqual({
      dir: directory,
      size: head?.size,
      root: expect.stringMatching(/^sha256:/),
    })
    expect(verifyBundle(directory, { keys: keys() })).toMatchObject({ ok: true, anchored: false })
    const all = filesOf(directory).filter((file) => file.startsWith('objects/'))
    const contents = all.map((file) => readFileSync(join(directory, file), 'utf8')).join('')
    expect(all.length).toBeGreaterThan(5)
    expect(all.length).toBeLessThan(objectFiles(fixture.directory).length)
    for (const secret of ['secret ', 'error ']) expect(contents).not.toContain(secret)
  })

  it('is whole or not there, and replaces nothing', async () => {
    const occupied = bundle('occupied')
    mkdirSync(occupied)
    await exportBundle(reader, occupied, { stream: 'north' })
    expect(await codeOf(exportBundle(reader, occupied, { stream: 'north' }))).toBe('bundle.exists')
    expect(await codeOf(exportBundle(reader, bundle('none'), { stream: 'none' }))).toBe(
      'ledger.stream_unknown',
    )
    expect(existsSync(bundle('none'))).toBe(false)
    expect(readdirSync(join(place.directory, 'bundles')).join()).not.toContain('.part')
  })

  it('verifies from the command line, with keys from elsewhere only', () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['tests/verifier/cli.mjs', bundle('main'), ...args], {
        encoding: 'utf8',
      })
    const anchor = join(place.directory, 'anchor.txt')
    writeFileSync(anchor, fixture.anchors['main'] ?? '')
    const [first = '', , last = ''] = keys()
    expect(run('--key', first, '--anchor', anchor).status).toBe(0)
    expect(JSON.parse(run('--key', last).stdout)).toMatchObject({ ok: true, anchored: false })
    expect(run().status).toBe(2)
    writeFileSync(anchor, fixture.anchors['north'] ?? '')
    expect(run('--key', first, '--anchor', anchor).status).toBe(1)
  })

  it('is anchored by a checkpoint of the whole home, in every stream', async () => {
    const anchor = await signHome(reader.store, openKeys(join(fixture.directory, 'keys')))
    for (const stream of STREAMS) {
      const check = (text: string) => verifyBundle(bundle(stream), { keys: keys(), anchor: text })
      expect(check(anchor)).toMatchObject({ ok: true, anchored: true, problems: [] })
      // Another size of any stream is another text, and lines that are missing anchor nothing.
      expect(check(anchor.replace(/^(north) (\d+) /m, '$1 9$2 ')).ok).toBe(false)
      expect(check(anchor.replaceAll(NAME, `${NAME}x`)).ok).toBe(false)
      const lines = anchor.split('\n').filter((line) => !line.startsWith(`${stream} `))
      if (stream !== 'host') expect(check(lines.join('\n')).ok).toBe(false)
    }
  })

  it('does not verify under keys that are not pinned', () => {
    const stranger = 'example.org+'.concat(keys()[0]?.slice(keys()[0]?.indexOf('+') ?? 0) ?? '')
    expect(verifyBundle(bundle('main'), { keys: [] }).ok).toBe(false)
    expect(verifyBundle(bundle('main'), { keys: [stranger] }).ok).toBe(false)
  })

  it('has a page that names every place of a body', () => {
    const places = BODY_RULES.filter(({ keep }) => keep === 'places')
    expect(places).toEqual([
      { type: 'sandbox_result_v1', keep: 'places', places: ['/outputs/stdout', '/outputs/stderr'] },
      {
        type: 'participant_output_v1',
        keep: 'places',
        places: ['/raw', '/answer/document/artifact/content'],
      },
    ])
    for (const word of [
      'sandbox_result_v1',
      'outputs.stdout',
      'outputs.stderr',
      'participant_output_v1',
      'texts raw',
      'answer.document.artifact.content',
      'record.original',
    ]) {
      expect(BUNDLE_PAGE).toContain(word)
    }
    expect(BUNDLE_PAGE.split('\n').every((line) => line.length <= 104)).toBe(true)
  })
})

/** Files that the signature binds; the others are covered by the sums alone. */
const BOUND = /^(?:facts|checkpoint|checkpoints\/|keys|proofs|objects\/)/

describe('no line of a bundle can be changed', () => {
  const copy = () => bundle('copy')

  function sumsAgain(directory: string): void {
    const files = filesOf(directory).filter((file) => file !== 'SHA256SUMS')
    const sum = (file: string) =>
      createHash('sha256')
        .update(readFileSync(join(directory, file)))
        .digest('hex')
    const text = files.map((file) => `${sum(file)}  ${file}\n`).join('')
    writeFileSync(join(directory, 'SHA256SUMS'), text)
  }

  /** Whether the change of one file is found, with the sums as they were and, if bound, computed again. */
  function isFound(stream: string, file: string, changed: Buffer | null): boolean {
    const target = join(copy(), file)
    const honest = readFileSync(join(bundle(stream), file))
    if (changed?.equals(honest) === true) return true
    if (changed === null) rmSync(target)
    else writeFileSync(target, changed)
    const plain = verifyBundle(copy(), { keys: keys() }).ok
    let made = false
    if (BOUND.test(file)) {
      sumsAgain(copy())
      made = verifyBundle(copy(), { keys: keys() }).ok
      writeFileSync(join(copy(), 'SHA256SUMS'), readFileSync(join(bundle(stream), 'SHA256SUMS')))
    }
    writeFileSync(target, honest)
    return !plain && !made
  }

  function changesOf(honest: Buffer, chance: Chance, lines: number): readonly (Buffer | null)[] {
    const flipped = Buffer.from(honest)
    const at = chance.below(honest.length)
    flipped[at] = (flipped[at] as number) ^ (1 << chance.below(8))
    const changes: (Buffer | null)[] = [null, flipped, honest.subarray(0, at), Buffer.alloc(0)]
    const text = honest.toString('latin1').split('\n').slice(0, -1)
    const chosen =
      text.length <= lines
        ? text.map((_, index) => index)
        : Array.from({ length: lines }, () => chance.below(text.length))
    for (const index of chosen) {
      const put = (...middle: string[]) =>
        Buffer.from(
          [...text.slice(0, index), ...middle, ...text.slice(index + 1), ''].join('\n'),
          'latin1',
        )
      const line = text[index] ?? ''
      const cut = chance.below(Math.max(1, line.length))
      const bent = String.fromCharCode((line.charCodeAt(cut) || 65) ^ 1)
      changes.push(
        put(),
        put(line, line),
        put(`${line.slice(0, cut)}${bent}${line.slice(cut + 1)}`),
      )
      if (index > 0) {
        const swapped = [...text]
        swapped[index] = text[index - 1] ?? ''
        swapped[index - 1] = line
        changes.push(Buffer.from([...swapped, ''].join('\n'), 'latin1'))
      }
    }
    return changes
  }

  it.each([
    ['north', 20],
    ['host', 20],
    ['main', 2],
  ])(
    'of %s',
    (stream, lines) => {
      const chance = new Chance(stream.length * 7 + lines)
      rmSync(copy(), { recursive: true, force: true })
      cpSync(bundle(stream), copy(), { recursive: true })
      const missed: string[] = []
      let tried = 0
      const files = filesOf(bundle(stream))
      const chosen =
        stream === 'main' ? files.filter((file, at) => !file.includes('/') || at % 9 === 0) : files
      for (const file of chosen) {
        const honest = readFileSync(join(bundle(stream), file))
        changesOf(honest, chance, file.startsWith('schemas/') ? 1 : lines).forEach(
          (changed, index) => {
            tried++
            if (!isFound(stream, file, changed)) missed.push(`${file} ${index}`)
          },
        )
      }
      expect(missed).toEqual([])
      expect(tried).toBeGreaterThan(60)
    },
    300_000,
  )

  it('nor a field of the manifest that facts and checkpoint decide', () => {
    rmSync(copy(), { recursive: true, force: true })
    cpSync(bundle('north'), copy(), { recursive: true })
    const file = join(copy(), 'manifest.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    for (const [key, value] of [
      ['size', 3],
      ['root', `sha256:${'0'.repeat(64)}`],
      ['stream', 'main'],
      ['origin', `${NAME}/south`],
      ['format', 'writ-bundle/2'],
      ['inclusion_proofs', 'ends'],
      ['more', 1],
    ] as const) {
      const sorted = Object.fromEntries(Object.entries({ ...manifest, [key]: value }).sort())
      writeFileSync(file, `${JSON.stringify(sorted)}\n`)
      sumsAgain(copy())
      expect([key, verifyBundle(copy(), { keys: keys() }).ok]).toEqual([key, false])
    }
  })
})

describe('proofs', () => {
  const current = () => openKeys(join(fixture.directory, 'keys')).current()
  const verifier = () => {
    const made = verifierFor(publicKeyOf(current(), `${NAME}/main`))
    return made === null ? [] : [made]
  }

  it('show that a fact is in the newest checkpoint, and of no other text', async () => {
    const { size = 0 } = (await reader.store.head('main')) ?? {}
    for (const seq of [0, 1, 100, 255, 256, size - 1]) {
      const proof = await proveFact(reader.store, 'main', seq)
      const [fact] = await reader.store.read('main', seq, 1)
      if (proof === null || fact === undefined) throw new Error('there is a fact')
      expect(Object.keys(proof)).toEqual(['seq', 'leaf', 'size', 'root', 'path', 'checkpoint'])
      expect(checkFactProof(proof, fact.text, verifier())).toBe(true)
      expect(checkFactProof(proof, `${fact.text} `, verifier())).toBe(false)
      expect(checkFactProof({ ...proof, seq: seq + 1 }, fact.text, verifier())).toBe(false)
      expect(checkFactProof(proof, fact.text, [])).toBe(false)
    }
    for (const seq of [-1, size, 0.5]) expect(await proveFact(reader.store, 'main', seq)).toBe(null)
    expect(await proveFact(reader.store, 'none', 0)).toBe(null)
  })

  it('show that a stream only grew', async () => {
    const bytes = (text: string) => Buffer.from(text.slice(7), 'hex')
    for (const from of [1, 7, 256, 300]) {
      const proof = await proveExtension(reader.store, 'main', from)
      if (proof === null) throw new Error('there is a proof')
      const claim = {
        oldSize: proof.from,
        newSize: proof.to,
        oldRoot: bytes(proof.from_root),
        newRoot: bytes(proof.to_root),
        path: proof.path.map(bytes),
      }
      expect(verifyConsistency(claim)).toBe(true)
    }
    expect(await proveExtension(reader.store, 'main', 10_000)).toBe(null)
  })

  it('of a fork are two notes', () => {
    const origin = `${NAME}/main`
    const note = (size: number, byte: number, key = current()) =>
      signCheckpoint(origin, size, new Uint8Array(32).fill(byte), [signerFor(key, origin)])
    const compare = (ours: string, theirs: string) => compareNotes(ours, theirs, verifier())
    const relation = (ours: string, theirs: string) => {
      const compared = compare(ours, theirs)
      return compared.ok
        ? [compared.comparison.relation, compared.comparison.proven]
        : compared.fault.code
    }
    expect(relation(note(5, 1), note(5, 2))).toEqual(['fork', true])
    expect(relation(note(5, 1), note(5, 2, KEY))).toEqual(['fork', false])
    expect(relation(note(5, 1), note(5, 1))).toEqual(['same', false])
    expect(relation(note(4, 1), note(5, 1))).toEqual(['older', false])
    expect(relation(note(6, 1), note(5, 1))).toEqual(['newer', false])
    expect(relation(note(6, 1), fixture.anchors['north'] ?? '')).toEqual(['strangers', false])
    expect(relation('x', note(5, 1))).toBe('ledger.checkpoint_malformed')
  })
})

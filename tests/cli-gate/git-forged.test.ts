/** Objects of git are what their names say, or they are asked about and refused to agents (G-15a). */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

const EVIL = Buffer.from('#!/bin/sh\nid > /tmp/found\n')
const TRUE_HOOK = '#!/bin/sh\nnpm test\n'

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

interface Shop {
  readonly place: Place
  readonly token: string
  readonly hash: 'sha1' | 'sha256'
}

const shops: Shop[] = []

beforeAll(() => {
  for (const hash of ['sha1', 'sha256'] as const) {
    const place = new Place(`forged-${hash}`, { runs: 'warm' })
    rmSync(join(place.project, '.git'), { recursive: true })
    sh(place, `git init -q -b main --object-format=${hash} .; git config user.email a@b`)
    sh(place, 'git config user.name a; mkdir .husky; seq 9000 > long')
    writeFileSync(join(place.project, '.husky/pre-commit'), TRUE_HOOK)
    sh(place, 'git add -A; git commit -qm one')
    place.init()
    expect(place.writ(['principal', 'add', 'ai:bot@local']).status).toBe(0)
    const { token } = place.writ(['token', 'create', 'ai:bot@local', '--json']).json
    shops.push({ place, token, hash })
  }
}, 180_000)

afterAll(() => {
  for (const { place } of shops) place.remove()
})

function sh(place: Place, script: string): string {
  const options = { cwd: place.project, env: place.env(), encoding: 'utf8' } as const
  return execFileSync('bash', ['-ec', script], options).trim()
}

function shop(hash: string): Shop {
  const found = shops.find((one) => one.hash === hash)
  if (found === undefined) throw new Error(`no shop of ${hash}`)
  return found
}

/** Files of a pack with one blob below a false name. */
function falsePack(hash: Shop['hash'], name: string): Readonly<Record<string, Buffer>> {
  const digest = (bytes: Buffer): Buffer => createHash(hash).update(bytes).digest()
  const word = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return bytes
  }
  const head = Buffer.from([0x80 | (3 << 4) | (EVIL.length & 15), EVIL.length >> 4])
  const entry = Buffer.concat([head, deflateSync(EVIL)])
  const body = Buffer.concat([Buffer.from('PACK'), word(2), word(1), entry])
  const raw = Buffer.from(name, 'hex')
  const counts = Array.from({ length: 256 }, (_, first) => word(first >= (raw[0] ?? 0) ? 1 : 0))
  const table = [word(0xff744f63), word(2), ...counts, raw, word(crc32(entry)), word(12)]
  const index = Buffer.concat([...table, digest(body)])
  const stem = `.git/objects/pack/pack-${digest(raw).toString('hex')}`
  return {
    [`${stem}.pack`]: Buffer.concat([body, digest(body)]),
    [`${stem}.idx`]: Buffer.concat([index, digest(index)]),
  }
}

function falseLoose(name: string): Readonly<Record<string, Buffer>> {
  const bytes = deflateSync(Buffer.concat([Buffer.from(`blob ${EVIL.length}\0`), EVIL]))
  return { [`.git/objects/${name.slice(0, 2)}/${name.slice(2)}`]: bytes }
}

/** A command that writes such files in the project. */
function writing(files: Readonly<Record<string, Buffer>>): string {
  return Object.entries(files)
    .map(([path, bytes]) => {
      const text = bytes.toString('base64')
      return `mkdir -p ${dirname(path)}; echo ${text} | base64 -d > ${path}`
    })
    .join('; ')
}

const DECLARED = ['exec', '--write', '.', '--delete', '.']

function agent({ place, token }: Shop, script: string) {
  return place.writ([...DECLARED, '--', 'bash', '-ec', script], { token })
}

/** What a person is asked about, relative to the project. */
function person({ place }: Shop, script: string) {
  const report = join(place.folder, 'report.json')
  const ended = place.writ([...DECLARED, '--report', report, '--', 'bash', '-ec', script])
  const { result } = JSON.parse(readFileSync(report, 'utf8'))
  const findings: readonly { code: string; path?: string }[] = result.findings
  const asked = findings
    .filter(({ code }) => code === 'effect.deferred_execution')
    .map(({ path = '' }) => path.slice(place.project.length + 1))
  return { ...ended, asked }
}

describe.each(['sha1', 'sha256'] as const)('in a repository of %s', (hash) => {
  const packOfHook = (): Readonly<Record<string, Buffer>> =>
    falsePack(hash, sh(shop(hash).place, 'git rev-parse HEAD:.husky/pre-commit'))

  it('a pack that replaces a committed hook is refused to an agent, and asked of a person', () => {
    const files = packOfHook()
    const script = writing(files)
    const refused = agent(shop(hash), script)
    expect([refused.status, refused.lastLine], refused.err).toEqual([
      125,
      'writ: effect.git_forged',
    ])
    const held = person(shop(hash), script)
    expect([held.status, held.lastLine]).toEqual([75, 'writ: effect.deferred_execution'])
    expect(held.asked).toEqual(Object.keys(files).sort())
    expect(held.err).toContain('its bytes are not what its name says')
    expect(sh(shop(hash).place, 'git cat-file -p HEAD:.husky/pre-commit')).toBe(TRUE_HOOK.trim())
  })

  it('so is a loose object below the name of what a person adds next', () => {
    const name = sh(shop(hash).place, 'echo next | git hash-object --stdin')
    const script = writing(falseLoose(name))
    expect(agent(shop(hash), script).lastLine).toBe('writ: effect.git_forged')
    expect(person(shop(hash), script).asked).toEqual(Object.keys(falseLoose(name)))
  })

  it('but what git itself makes is not: commits, deltas in packs, a clone', () => {
    const commit = 'echo 9001 >> long; git add long; git commit -qm two'
    expect(agent(shop(hash), commit)).toMatchObject({ status: 0 })
    const deltas = "git verify-pack -v .git/objects/pack/*.idx | grep -q 'chain length'"
    const script = `git gc -q; ${deltas}; test -f .git/objects/info/commit-graph; git clone -q --no-local . copy`
    const packed = person(shop(hash), script)
    expect(packed.asked).toContain('copy/.git/config')
    expect(packed.asked.filter((path) => path.includes('/objects/'))).toEqual([])
  })
})

it('what cannot be checked is asked about by its name', () => {
  const files = {
    '.git/objects/pack/pack-x.idx': Buffer.from('no index'),
    '.git/objects/pack/pack-x.pack': Buffer.from('PACK'),
    '.git/objects/info/alternates': Buffer.from('/tmp/objects\n'),
    '.git/objects/info/commit-graph': Buffer.from('CGPH'),
    '.git/objects/pack/multi-pack-index': Buffer.from('MIDX'),
    '.git/refs/replace/x': Buffer.from('x'),
  }
  const script = writing(files)
  expect(person(shop('sha1'), script).asked).toEqual(Object.keys(files).sort())
  expect(agent(shop('sha1'), script).status).toBe(75)
})

it('a commit-graph that names another tree for a commit is refused', () => {
  const script = `git commit-graph write --reachable; p=.git/objects/info/commit-graph; chmod u+w $p
    python3 - $p $(git rev-parse HEAD^{tree} HEAD) <<'END'
import sys
path, tree, other = sys.argv[1], bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
data = open(path, 'rb').read()
assert tree in data
open(path, 'wb').write(data.replace(tree, other))
END`
  expect(agent(shop('sha1'), script).lastLine).toBe('writ: effect.git_forged')
})

it('an object of LFS is named by its bytes', () => {
  const name = createHash('sha256').update('true').digest('hex')
  const path = `.git/lfs/objects/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
  const write = (text: string): string => writing({ [path]: Buffer.from(text) })
  expect(agent(shop('sha1'), write('false')).lastLine).toBe('writ: effect.git_forged')
  expect(agent(shop('sha1'), write('true')).status).toBe(0)
})

it('a repository below another name counts as well', () => {
  const { place } = shop('sha1')
  sh(place, 'git clone -q --bare . other')
  mkdirSync(join(place.project, 'plain/objects/ab'), { recursive: true })
  const name = 'ab'.padEnd(40, '0')
  const [bytes = Buffer.alloc(0)] = Object.values(falseLoose(name))
  const files = {
    [`other/objects/ab/${name.slice(2)}`]: bytes,
    [`plain/objects/ab/${name.slice(2)}`]: bytes,
  }
  expect(person(shop('sha1'), writing(files)).asked).toEqual([`other/objects/ab/${name.slice(2)}`])
})

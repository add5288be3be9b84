/** A person takes a part of what a run changed, and the rest is as it was (N-4). */
import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Json, Place } from './place.ts'

vi.setConfig({ testTimeout: 180_000 })

let place: Place
beforeEach(() => {
  place = new Place('part', { runs: 'warm' }).init()
})
afterEach(() => place.remove())

/** Runs a script that declares nothing; its question waits. */
function waits(script: string): Json {
  const { status, err } = place.exec([], script)
  expect(status, err).toBe(75)
  const [question] = place.pending()
  return question
}

function approve(id: string, ...only: readonly string[]): Json {
  const words = only.flatMap((path) => ['--only', path])
  const { json, err } = place.writ(['approve', id, ...words, '--yes', '--json'])
  expect(json, err).not.toBe(null)
  return json
}

const below = (path: string): string => path.slice(place.project.length + 1)

/** Every fact of a type, its payload alone. */
function facts(type: string): Json[] {
  const { facts: found } = place.writ(['log', '--type', type, '--json']).json
  return found.map((fact: Json) => fact.record.payload)
}

describe('writ approve --only', () => {
  it('promotes exactly the part, records what was left, and undo takes back exactly that', () => {
    place.write('old.txt', 'old\n')
    const { id, result_digest } = waits(
      'mkdir -p src/deep; echo a > src/deep/a; echo b > src/b; echo c > c; echo new > old.txt',
    )
    const answer = approve(id, 'src/deep/a', 'old.txt')
    expect(answer.promoted).toBe(true)
    expect(answer.promotion.paths.map(below)).toEqual(['old.txt', 'src', 'src/deep', 'src/deep/a'])
    expect([place.has('src/b'), place.has('c')]).toEqual([false, false])
    expect([place.text('old.txt'), place.text('src/deep/a')]).toEqual(['new\n', 'a\n'])
    const left = answer.result.findings.filter(({ code }: Json) => code === 'effect.not_taken')
    expect(left.map(({ path }: Json) => below(path))).toEqual(['c', 'src/b'])
    // A new result, judged by itself, and a yes to exactly that.
    const evaluation = facts('evaluation_v1').at(-1)
    expect(evaluation.part.only.map(below)).toEqual(['src/deep/a', 'old.txt'])
    const confirmation = facts('confirmation_v1').at(-1)
    expect(confirmation.result_digest).toBe(evaluation.result_digest)
    expect(confirmation.result_digest).not.toBe(result_digest)
    expect(facts('sandbox_result_v1').length).toBe(2)
    expect(place.pending()).toEqual([])
    expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
    expect(place.writ(['undo']).status).toBe(0)
    expect(place.text('old.txt')).toBe('old\n')
    expect(place.has('src')).toBe(false)
  })

  it('refuses what matches nothing, what is everything, and what was declared', () => {
    const { id } = waits('echo a > a; echo b > b')
    const refused = (question: string, ...only: readonly string[]): string => {
      const words = only.flatMap((path) => ['--only', path])
      const { status, err } = place.writ(['approve', question, ...words, '--yes'])
      expect(status).toBe(1)
      return err
    }
    expect(refused(id, 'nothing-here')).toMatch(
      /confirm.part: .* changes nothing at .*nothing-here/,
    )
    expect(refused(id, '*')).toContain('that is everything')
    expect(place.pending().map((one) => one.id)).toEqual([id])
    expect(approve(id, 'b').promotion.paths.map(below)).toEqual(['b'])
    const token = place.token('ai:bot@local')
    place.writ(['exec', '--write', '**', '--', 'sh', '-c', 'echo 1 > .envrc; echo 2 > y'], {
      token,
    })
    const [declared] = place.pending()
    expect(refused(declared.id, 'y')).toContain('declared nothing')
  })

  it('keeps together what cannot be divided', () => {
    place.write('name.txt', 'some bytes\n')
    const { id } = waits(
      [
        'mv name.txt other.txt',
        'echo d > app.db; echo w > app.db-wal; echo s > app.db-shm',
        'echo "{}" > package.json; echo "{}" > package-lock.json',
        'echo l > l1; ln l1 l2',
        'echo free > free',
      ].join('; '),
    )
    const { promotion } = approve(id, 'other.txt', 'app.db-wal', 'package.json', 'l2')
    expect(promotion.paths.map(below)).toEqual([
      'app.db',
      'app.db-shm',
      'app.db-wal',
      'l1',
      'l2',
      'name.txt',
      'other.txt',
      'package-lock.json',
      'package.json',
    ])
    expect(lstatSync(join(place.project, 'l1')).ino).toBe(lstatSync(join(place.project, 'l2')).ino)
    expect(place.has('free')).toBe(false)
    expect(place.has('name.txt')).toBe(false)
  })

  it('finds what points to a part although the whole act took the pointer away', () => {
    execFileSync('git', ['init', '-q'], { cwd: place.project })
    execFileSync('git', ['config', 'core.fsmonitor', 'tools/watch'], { cwd: place.project })
    const { id } = waits('git config --unset core.fsmonitor; mkdir tools; echo x > tools/watch')
    const whole = place.writ(['inbox', id, '--json']).json
    const deferred = ({ result }: Json): string[] =>
      result.findings
        .filter(({ code }: Json) => code === 'effect.deferred_execution')
        .map(({ path }: Json) => below(path))
    expect(deferred(whole)).not.toContain('tools/watch')
    // By itself it runs at the next command of git, which weighs more than a yes with the call.
    const { status, err } = place.writ(['approve', id, '--only', 'tools/watch', '--yes'])
    expect(status, err).not.toBe(0)
    expect(err).toMatch(/HIGH|passphrase/)
    // A part has an id of its own that no command knows: the hint names the question.
    expect(err).toContain(`writ approve ${id}\` with the same \`--only\``)
    expect(place.has('tools/watch')).toBe(false)
    expect(place.pending().map((one) => one.id)).toEqual([id])
  })
})

describe('at the prompt of exec', () => {
  it('takes the paths that were typed, and leads back to the whole question', () => {
    const seen = place.execAsPerson([], 'echo a > a; echo b > b; echo c > c', [
      { expect: '(part: take some paths only) ' },
      { send: 'part\n' },
      { expect: '(nothing: back): ' },
      { send: 'no-such\n' },
      { expect: 'changes nothing at' },
      { expect: '(part: take some paths only) ' },
      { send: 'part\n' },
      { expect: '(nothing: back): ' },
      { send: 'a "c"\n' },
      { expect: 'is dropped after a yes (1 path)' },
      { expect: '[y/N/later, a: show all] ' },
      { send: 'y\n' },
    ])
    expect([seen.failed, seen.status]).toEqual([null, 0])
    expect([place.has('a'), place.has('b'), place.has('c')]).toEqual([true, false, true])
    expect(seen.output).toContain('not everything that the command changed is kept')
  })
})

/** A tree as text: kind, mode and bytes of every entry, by path. */
function treeOf(root: string, at = ''): Map<string, string> {
  const tree = new Map<string, string>()
  for (const name of readdirSync(join(root, at))) {
    if (at === '' && (name === '.writ' || name === '.git')) continue
    const path = join(at, name)
    const stats = lstatSync(join(root, path))
    const mode = (stats.mode & 0o7777).toString(8)
    if (stats.isDirectory()) {
      tree.set(path, `directory ${mode}`)
      for (const [inner, text] of treeOf(root, path)) tree.set(inner, text)
    } else if (stats.isSymbolicLink()) tree.set(path, `link ${readlinkSync(join(root, path))}`)
    else tree.set(path, `file ${mode} ${readFileSync(join(root, path), 'utf8')}`)
  }
  return tree
}

const FOLDERS = ['', 'one/', 'one/two/', 'three/']
const NAMES = ['a', 'b.db', 'b.db-wal', 'go.mod', 'go.sum', 'x']
const ROUNDS = 6

describe('any part of any run', () => {
  const seed = Number(process.env['WRIT_SEED'] ?? Date.now() % 100_000)

  it(`gives the tree of before with exactly the part (seed ${seed})`, () => {
    let state = seed
    const pick = (count: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return (state >> 8) % count
    }
    const paths = FOLDERS.flatMap((folder) => NAMES.map((name) => `${folder}${name}`))
    for (let round = 0; round < ROUNDS; round++) {
      const lines = ['mkdir -p one/two three']
      for (const path of paths) {
        const [content, what] = [`${round} ${path}`, pick(5)]
        if (what === 0) lines.push(`echo "${content}" > ${path}`)
        if (what === 1) lines.push(`rm -rf ${path}`)
        if (what === 2) lines.push(`[ ! -e ${path} ] || chmod 7${pick(8)}5 ${path}`)
        if (what === 3) lines.push(`ln -sfn ${content.split(' ')[0]} ${path}`)
      }
      const gone = ['one/two', 'one', 'three'][pick(6)]
      if (gone !== undefined) lines.push(`rm -rf ${gone}`)
      const before = treeOf(place.project)
      const copy = join(place.folder, `copy${round}`)
      execFileSync('cp', ['-a', place.project, copy])
      writeFileSync(join(place.folder, 'script'), lines.join('\n'))
      execFileSync('sh', [join(place.folder, 'script')], { cwd: copy })
      const after = treeOf(copy)
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
        (path) => before.get(path) !== after.get(path),
      )
      if (changed.length < 2) continue
      const { id } = waits(lines.join('\n'))
      const chosen = changed.filter(() => pick(3) === 0)
      const [first = ''] = changed
      if (chosen.length === 0) chosen.push(first)
      const words = chosen.flatMap((path) => ['--only', path])
      const ended = place.writ(['approve', id, ...words, '--yes', '--json'])
      if (ended.json?.promoted !== true) {
        // Everything belongs together, or a person has to look: nothing was changed.
        expect(treeOf(place.project), ended.err).toEqual(before)
        expect(place.writ(['deny', id]).status).toBe(0)
        continue
      }
      const taken = new Set<string>(ended.json.promotion.paths.map(below))
      for (const path of chosen) expect(taken, lines.join('\n')).toContain(path)
      const wanted = new Map(before)
      for (const path of taken) {
        const text = after.get(path)
        if (text === undefined) wanted.delete(path)
        else wanted.set(path, text)
      }
      expect(treeOf(place.project), lines.join('\n')).toEqual(wanted)
    }
    expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
  })
})

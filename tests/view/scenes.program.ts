/**
 * Directed scenes of a live view, each in a process of its own, so that they can be run as another user.
 * Over 500 lines on purpose: each scene is a few lines on one rig, and one program runs any of them.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type RawPath, rawOfText } from '../../src/gate/index.ts'
import { createDriver, type Sandbox, type SandboxRequest } from '../../src/sandbox/index.ts'
import type { LiveView, PendingScan, Pruned } from '../../src/view/index.ts'
import { startInside } from './peer.ts'
import { promote } from './promoter.ts'
import { makeScene, requestOf, viewOf } from './rounds.ts'

const { scene: wanted, watcher } = JSON.parse(process.argv[2] ?? '{}')
const base = mkdtempSync('/var/tmp/writ-scene-')
const scene = makeScene(base)
const { real } = scene
const driver = createDriver({ watcher: new URL(watcher) })
let [sandbox, view]: [Sandbox, LiveView] = await open()

async function open(more: Partial<SandboxRequest> = {}): Promise<[Sandbox, LiveView]> {
  const opened = await driver.open(requestOf(scene, more))
  return [opened, viewOf(opened, scene)]
}

async function reopen(more: Partial<SandboxRequest> = {}): Promise<void> {
  view.close()
  await sandbox.close()
  ;[sandbox, view] = await open(more)
}

function at(name: string): RawPath {
  return rawOfText(join(real, name))
}

function text(name: string): string {
  return readFileSync(join(real, name), 'latin1')
}

function person(name: string, words: string): void {
  writeFileSync(join(real, `${name}.person`), words)
  renameSync(join(real, `${name}.person`), join(real, name))
}

interface Settled extends Pruned {
  readonly scan: PendingScan
  readonly busy: readonly string[]
}

async function settle(): Promise<Settled> {
  const frozen = await view.freeze()
  try {
    const scan = await frozen.scan()
    const bad = new Set(scan.conflicts.map(({ path }) => path))
    const chosen = scan.changes.filter(({ path }) => !frozen.busy.has(path) && !bad.has(path))
    await frozen.prepare(chosen)
    promote(chosen, { layers: sandbox.layers })
    return { ...(await frozen.prune(chosen)), scan, busy: [...frozen.busy] }
  } finally {
    frozen.thaw()
  }
}

/** Promotes only what `isChosen` tells, as a session does while the rest waits for an answer. */
async function settleSome(isChosen: (path: string) => boolean): Promise<Settled> {
  const frozen = await view.freeze()
  try {
    const scan = await frozen.scan()
    const bad = new Set(scan.conflicts.map(({ path }) => path))
    const chosen = scan.changes.filter(({ path }) => !bad.has(path) && isChosen(short(path)))
    await frozen.prepare(scan.changes)
    promote(chosen, { layers: sandbox.layers })
    return { ...(await frozen.prune(chosen)), scan, busy: [...frozen.busy] }
  } finally {
    frozen.thaw()
  }
}

function layer(): Sandbox['layers'][number] {
  const [first] = sandbox.layers
  assert.ok(first !== undefined)
  return first
}

function short(path: string): string {
  return path.slice(real.length + 1)
}

/** Runs a script to its end. */
async function shell(script: string, env: Record<string, string> = {}, cwd = real) {
  let out = ''
  const outcome = await sandbox.run({
    argv: ['/bin/sh', '-c', script],
    cwd,
    env: { PATH: '/usr/bin:/bin', ...env },
    stdin: 'empty',
    terminal: null,
    onOutput: (_, bytes) => {
      out += Buffer.from(bytes).toString('latin1')
    },
    abort: new AbortController().signal,
  })
  return { out, outcome }
}

function workers() {
  const peer = startInside(sandbox, real)
  const ask = async (worker: number | 'x', ...words: string[]): Promise<string> => {
    const answer = await peer.ask(worker, ...words)
    assert.match(answer, /^ok/, words.join(' '))
    return answer.slice(3)
  }
  const read = async (name: string): Promise<string> =>
    Buffer.from(await ask('x', 'read', name), 'hex').toString('latin1')
  return { ask, read, end: () => peer.end() }
}

/** What is typed into a program, and what it writes. */
function typing(argv: [string, ...string[]], hasTerminal: boolean) {
  const stdin = new PassThrough()
  const heard = { text: '' }
  const ended = sandbox.run({
    argv,
    cwd: real,
    env: { PATH: '/usr/bin:/bin', PS1: '$ ', TERM: 'dumb' },
    stdin,
    terminal: hasTerminal ? { rows: 24, columns: 80, onResize: () => undefined } : null,
    onOutput: (_, bytes) => {
      heard.text += Buffer.from(bytes).toString('latin1')
    },
    abort: new AbortController().signal,
  })
  const until = async (words: string | RegExp): Promise<void> => {
    for (let turn = 0; turn < 2000; turn++) {
      if (heard.text.search(words) >= 0) return
      await pause(5)
    }
    throw new Error(`did not come: ${words} in ${heard.text}`)
  }
  return { stdin, heard, ended, until }
}

function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.charAt(stat.lastIndexOf(')') + 2)
}

const SCENES: Readonly<Record<string, () => Promise<void>>> = {
  'a file that is open for writing stays pending, and nothing of it is lost': async () => {
    const { ask } = workers()
    await ask(0, 'hold', 'f', 'slot', 'c')
    await ask(0, 'put', 'slot', 'one')
    const first = await settle()
    assert.ok(first.busy.includes(at('f')))
    assert.ok(first.busy.includes(at('f-wal')))
    assert.ok(!existsSync(at('f')))
    assert.deepEqual(view.writers().length, 1)
    await ask(0, 'put', 'slot', 'two')
    await ask(0, 'drop', 'slot')
    await settle()
    assert.equal(text('f'), 'onetwo')
    assert.equal(await view.hasPending(), false)
  },
  'a file that is mapped for writing stays pending': async () => {
    writeFileSync(at('f'), 'first')
    const { ask } = workers()
    await ask(0, 'map', 'f', 'slot')
    await ask(0, 'poke', 'slot', 'X')
    const first = await settle()
    assert.ok(first.busy.includes(at('f')))
    assert.equal(text('f'), 'first')
  },
  'a file that became real while it is open for reading is kept, and later edits of it count':
    async () => {
      const { ask, read } = workers()
      await ask(0, 'write', 'f', 'one')
      await ask(1, 'hold', 'f', 'slot', 'r')
      assert.ok((await settle()).kept.includes(at('f')))
      assert.equal(await view.hasPending(), false)
      await ask(0, 'append', 'f', 'two')
      assert.equal(await view.hasPending(), true)
      const { scan } = await settle()
      assert.deepEqual(scan.conflicts, [])
      assert.equal(text('f'), 'onetwo')
      person('f', 'person')
      const { stale } = await settle()
      assert.deepEqual(
        stale.map(({ path }) => path),
        [at('f')],
      )
      assert.equal(text('f'), 'person')
      await ask(1, 'drop', 'slot')
      await settle()
      assert.equal(await read('f'), 'person')
    },
  'a working directory in a new directory stays good when that becomes real': async () => {
    const { ask } = workers()
    await ask(0, 'mkdir', 'n')
    await ask(0, 'cd', 'n')
    await ask(0, 'write', './a', 'a')
    assert.ok((await settle()).kept.includes(at('n')))
    await ask(0, 'write', './b', 'b')
    await ask(1, 'unlink', 'n/a')
    assert.equal(await ask(0, 'here'), 'there;b')
    await settle()
    assert.ok(existsSync(at('n/b')) && !existsSync(at('n/a')))
    await ask(0, 'leave')
    assert.ok((await settle()).pruned.includes(at('n')))
    assert.equal(await ask('x', 'tree'), `. d 755;./n d 755;./n/b f 644 62`)
  },
  'a directory in use that a person replaced is reported, and shown once it is free': async () => {
    mkdirSync(at('d'))
    const { ask, read } = workers()
    await ask(0, 'cd', 'd')
    rmSync(at('d'), { recursive: true })
    mkdirSync(at('d'))
    writeFileSync(at('d/new'), 'new')
    const { stale } = await view.refresh()
    assert.deepEqual(
      stale.map(({ path }) => path),
      [at('d')],
    )
    await ask(0, 'leave')
    assert.deepEqual((await view.refresh()).stale, [])
    assert.equal(await read('d/new'), 'new')
  },
  'half of a rename can be discarded, and nothing in use': async () => {
    writeFileSync(at('f'), 'old')
    const { ask, read } = workers()
    writeFileSync(at('g'), 'other')
    await ask(0, 'rename', 'g', 'k')
    await ask('x', 'tree')
    let frozen = await view.freeze()
    await frozen.discard([at('g')])
    frozen.thaw()
    // Both had the same origin; a file that shows as another one gives ESTALE or the other's bytes.
    assert.deepEqual([await read('g'), await read('k')], ['other', 'other'])
    await ask(0, 'write', 'k', 'mine')
    assert.deepEqual([await read('k'), await read('g')], ['mine', 'other'])
    frozen = await view.freeze()
    await frozen.discard([at('k')])
    frozen.thaw()
    rmSync(at('g'))
    await view.refresh()
    await ask(0, 'rename', 'f', 'h')
    await ask(0, 'append', 'h', ' more')
    frozen = await view.freeze()
    assert.deepEqual((await frozen.discard([at('f')])).discarded, [at('f')])
    frozen.thaw()
    assert.deepEqual([await read('h'), await read('f')], ['old more', 'old'])
    await ask(0, 'hold', 'h', 'slot', 'r')
    frozen = await view.freeze()
    const { refused, discarded } = await frozen.discard([at('h')])
    frozen.thaw()
    assert.deepEqual(discarded, [])
    assert.equal(refused[0]?.processes[0]?.name, 'perl')
    await ask(0, 'drop', 'slot')
    frozen = await view.freeze()
    assert.deepEqual((await frozen.discard([at('h')])).discarded, [at('h')])
    frozen.thaw()
    assert.equal(await ask('x', 'tree'), `. d 755;./f f 644 ${Buffer.from('old').toString('hex')}`)
  },
  'a path that both sides changed is a conflict, and names both': async () => {
    for (const name of ['f', 'g', 'h', 'k', 'm', 'n']) writeFileSync(at(name), 'old')
    await view.refresh()
    const { ask, read } = workers()
    await ask(0, 'append', 'f', ' agent')
    await ask(0, 'unlink', 'g')
    await read('h')
    // The view still knows the file that this one takes the place of.
    person('h', 'person')
    await ask(0, 'append', 'h', ' agent')
    await ask(0, 'append', 'k', ' agent')
    await ask(0, 'append', 'n', ' agent')
    await ask(0, 'rename', 'n', 'moved')
    for (const name of ['f', 'g']) person(name, 'person')
    const { scan } = await settle()
    assert.deepEqual(
      scan.conflicts.map(({ path }) => path),
      [at('f'), at('g'), at('h')],
    )
    assert.equal(text('moved'), 'old agent')
    assert.deepEqual(
      [text('f'), text('g'), text('h'), text('k')],
      ['person', 'person', 'person', 'old agent'],
    )
    const [first] = scan.conflicts
    assert.deepEqual([first?.real?.size, first?.view?.size], [6, 9])
    await ask(0, 'append', 'k', ' again')
    await ask(0, 'append', 'm', ' agent')
    await ask(0, 'write', 'new', 'agent')
    rmSync(at('m'))
    const again = await settle()
    assert.deepEqual(
      again.scan.conflicts.map(({ path }) => path),
      [at('f'), at('g'), at('h'), at('m')],
    )
    assert.ok(existsSync(at('new')) && !existsSync(at('m')))
    assert.equal(text('k'), 'old agent again')
    const frozen = await view.freeze()
    await frozen.discard(again.scan.conflicts.map(({ path }) => path))
    frozen.thaw()
    assert.equal(await read('f'), 'person')
    assert.deepEqual((await settle()).scan.conflicts, [])
  },
  'a file that the session changed and a person removed is a conflict, also next to removals of the session':
    async () => {
      for (const name of ['d', 'e']) mkdirSync(at(name))
      for (const name of ['d/f', 'd/g', 'x', 'y', 'e/h']) writeFileSync(at(name), 'old')
      await pause(20)
      await view.refresh()
      const { ask } = workers()
      await ask(0, 'append', 'd/f', ' agent')
      await ask(0, 'replace', 'd/g', 'agent')
      await ask(0, 'write', 'e/h', 'agent')
      for (const name of ['x', 'y']) await ask(0, 'unlink', name)
      for (const name of ['d/f', 'd/g']) rmSync(at(name))
      rmSync(at('e'), { recursive: true })
      await view.refresh([at('d/f'), at('d/g'), at('e'), at('e/h')])
      const { scan } = await settle()
      assert.deepEqual(
        scan.conflicts.map(({ path, real: now, view: own }) => [path, now, own?.kind]),
        [
          [at('d/f'), null, 'file'],
          [at('d/g'), null, 'file'],
          [at('e'), null, 'directory'],
          [at('e/h'), null, 'file'],
        ],
      )
      assert.deepEqual(
        ['d/f', 'd/g', 'e', 'x', 'y'].map((name) => existsSync(at(name))),
        [false, false, false, false, false],
      )
      // What the session removed itself and made again is its own.
      await ask(0, 'write', 'x', 'again')
      await view.refresh([at('x')])
      await settle()
      assert.equal(text('x'), 'again')
    },
  'of a directory that the session removed, what others add is a conflict, and what they remove is not':
    async () => {
      for (const name of ['d', 'd/s', 'd/s/t', 'old', 'old/in']) mkdirSync(at(name))
      for (const name of ['d/s/f', 'd/s/g', 'old/f', 'old/in/f']) writeFileSync(at(name), name)
      await pause(20)
      await view.refresh()
      const { ask } = workers()
      await ask(0, 'clear', 'd', '')
      const conflicts = async (): Promise<readonly string[]> => {
        const frozen = await view.freeze()
        const scan = await frozen.scan()
        frozen.thaw()
        return scan.conflicts.map(({ path }) => path.slice(real.length + 1))
      }
      assert.deepEqual(await conflicts(), [])
      // As much as a promotion that was interrupted had done.
      rmSync(at('d/s/t'), { recursive: true })
      rmSync(at('d/s/f'))
      assert.deepEqual(await conflicts(), [])
      // Moved as a whole: only the directory itself has a new time.
      renameSync(at('old'), at('d/s/moved'))
      const moved = ['d/s/moved', 'd/s/moved/f', 'd/s/moved/in', 'd/s/moved/in/f']
      assert.deepEqual(await conflicts(), moved)
    },
  'a file below a directory that the session removed may lose or get other names, and is no conflict':
    async () => {
      for (const name of ['d', 'd/s', 'd/s/t']) mkdirSync(at(name))
      for (const name of ['one', 'two', 'three']) writeFileSync(at(name), name)
      for (const name of ['one', 'two', 'three']) linkSync(at(name), at(`d/s/t/${name}`))
      await pause(20)
      await view.refresh()
      const { ask } = workers()
      await ask(0, 'clear', 'd', '1')
      await ask(0, 'unlink', 'one')
      const found = async (isOnePromoted: boolean): Promise<readonly string[]> => {
        const frozen = await view.freeze()
        const scan = await frozen.scan()
        const chosen = scan.changes.filter(({ path }) => isOnePromoted && path === at('one'))
        promote(chosen, { layers: sandbox.layers })
        await frozen.prune(chosen)
        frozen.thaw()
        return scan.conflicts.map(({ path }) => path.slice(real.length + 1))
      }
      assert.deepEqual(await found(true), [])
      linkSync(at('two'), at('four'))
      assert.deepEqual(await found(false), [])
      // The same file by another name is one that a person put there.
      renameSync(at('three'), at('d/s/t/moved'))
      writeFileSync(at('d/s/t/two'), 'edited')
      assert.deepEqual(await found(false), ['d/s/t/moved', 'd/s/t/two'])
    },
  'a new directory shows the real one as soon as part of it is real, and what people do in it':
    async () => {
      const { ask, read } = workers()
      for (const name of ['n', 'n/s', 'n/s/t']) await ask(0, 'mkdir', name)
      for (const name of ['n/a', 'n/b', 'n/c', 'n/w', 'n/s/a', 'n/s/w', 'n/s/t/w']) {
        await ask(0, 'write', name, name)
      }
      await settleSome((path) => !path.endsWith('w'))
      assert.deepEqual((await settleSome(() => false)).kept, [])
      writeFileSync(at('n/p'), 'person')
      writeFileSync(at('n/s/t/p'), 'person')
      person('n/a', 'person')
      rmSync(at('n/b'))
      renameSync(at('n/c'), at('n/d'))
      rmSync(at('n/s/a'))
      await view.refresh()
      const names = 'n n/a n/d n/p n/s n/s/t n/s/t/p n/s/t/w n/s/w n/w'.split(' ')
      const seen = (await ask('x', 'tree')).split(';').slice(1)
      assert.deepEqual(
        seen.map((line) => line.split(' ')[0]?.slice(2)),
        names,
      )
      assert.deepEqual([await read('n/p'), await read('n/a')], ['person', 'person'])
      // The rest still waits, and nothing else does.
      const { scan } = await settleSome(() => false)
      const waits = scan.changes.map(({ path }) => short(path))
      assert.deepEqual([waits, scan.conflicts], [['n/s/t/w', 'n/s/w', 'n/w'], []])
      await ask(0, 'append', 'n/a', ' agent')
      await ask(0, 'rename', 'n', 'm')
      const moved = await settle()
      assert.deepEqual(moved.scan.conflicts, [])
      assert.equal(text('m/p'), 'person')
      assert.equal(text('m/a'), 'person agent')
      assert.ok(!existsSync(at('n')))
    },
  'what the session removed of a directory stays removed when that shows the real one':
    async () => {
      for (const name of ['d', 'd/s', 'd/k']) mkdirSync(at(name))
      for (const name of ['d/a', 'd/b', 'd/s/c', 'd/k/e']) writeFileSync(at(name), name)
      await pause(20)
      await view.refresh()
      const { ask } = workers()
      await ask(0, 'clear', 'd', '')
      for (const name of ['d', 'd/k']) await ask(0, 'mkdir', name)
      await ask(0, 'write', 'd/b', 'again')
      await settleSome(() => false)
      writeFileSync(at('d/p'), 'person')
      await view.refresh()
      const seen = (await ask('x', 'tree')).split(';').map((line) => line.split(' ')[0])
      assert.deepEqual(seen, ['.', './d', './d/b', './d/k', './d/p'])
      const { scan } = await settleSome((path) => path !== 'd/a')
      const wanted = ['d/a', 'd/b', 'd/k/e', 'd/s', 'd/s/c']
      assert.deepEqual([scan.changes.map(({ path }) => short(path)), scan.conflicts], [wanted, []])
      assert.ok(existsSync(at('d/a')) && existsSync(at('d/p')) && !existsSync(at('d/s')))
      await settle()
      assert.ok(!existsSync(at('d/a')) && existsSync(at('d/p')))
      assert.equal(await view.hasPending(), false)
    },
  'in a new directory in use a file of a person is protected, and shown once it is free':
    async () => {
      const { ask, read } = workers()
      await ask(0, 'mkdir', 'n')
      await ask(0, 'write', 'n/a', 'a')
      await ask(0, 'write', 'n/w', 'w')
      await ask(1, 'cd', 'n')
      await settleSome((path) => path !== 'n/w')
      writeFileSync(at('n/p'), 'person')
      await pause(20)
      await view.refresh()
      await settleSome(() => false)
      await ask(0, 'write', 'n/p', 'agent')
      const { scan } = await settleSome(() => true)
      assert.deepEqual(
        scan.conflicts.map(({ path }) => short(path)),
        ['n/p'],
      )
      assert.equal(text('n/p'), 'person')
      let frozen = await view.freeze()
      const { refused, discarded } = await frozen.discard([at('n/p')])
      frozen.thaw()
      assert.deepEqual([refused[0]?.processes[0]?.name, discarded], ['perl', []])
      await ask(1, 'leave')
      frozen = await view.freeze()
      assert.deepEqual((await frozen.discard([at('n/p')])).discarded, [at('n/p')])
      frozen.thaw()
      assert.equal(await read('n/p'), 'person')
    },
  'what people put into a new directory in use is a conflict when the session moves that':
    async () => {
      const { ask } = workers()
      await ask(0, 'mkdir', 'n')
      for (const name of ['n/a', 'n/w']) await ask(0, 'write', name, name)
      await ask(1, 'cd', 'n')
      await settleSome((path) => path !== 'n/w')
      writeFileSync(at('n/p'), 'person')
      await pause(20)
      await view.refresh()
      await ask(0, 'rename', 'n', 'm')
      const { scan } = await settleSome(() => false)
      assert.deepEqual(
        scan.conflicts.map(({ path }) => short(path)),
        ['n/p'],
      )
    },
  'what waits for an answer may become real at any time, and later changes are changes of that':
    async () => {
      for (const name of ['u', 'v', 'k']) writeFileSync(at(name), 'old')
      mkdirSync(at('r'))
      await pause(20)
      await view.refresh()
      const { ask, read } = workers()
      for (const name of ['u', 'k', 'x']) await ask(0, 'write', name, 'asked')
      await ask(0, 'unlink', 'v')
      for (const name of ['n', 'n/s']) await ask(0, 'mkdir', name)
      for (const name of ['n/a', 'n/s/b', 'r/a']) await ask(0, 'write', name, 'asked')
      const frozen = await view.freeze()
      const { changes } = await frozen.scan()
      await frozen.prepare(changes)
      frozen.expect(changes)
      await frozen.prune([])
      frozen.thaw()
      // Changed, removed and made again before the yes, which is about what was asked.
      const bytes = join(base, 'asked')
      execFileSync('cp', ['-a', layer().upper, bytes])
      await ask(0, 'append', 'u', ' more')
      await ask(0, 'unlink', 'x')
      await ask(0, 'write', 'v', 'again')
      for (const name of ['n', 'r']) await ask(0, 'clear', name, '')
      promote(changes, { layers: [{ ...layer(), upper: bytes }] })
      person('k', 'person')
      await view.refresh()
      const again = await view.freeze()
      again.answered(() => true)
      const scan = await again.scan()
      await again.prune([])
      again.thaw()
      assert.deepEqual(scan.conflicts, [])
      assert.deepEqual(
        scan.changes.map(({ path, after }) => [short(path), after?.kind ?? null]),
        [
          ['n', null],
          ['n/a', null],
          ['n/s', null],
          ['n/s/b', null],
          ['r', null],
          ['r/a', null],
          ['u', 'file'],
          ['v', 'file'],
          ['x', null],
        ],
      )
      assert.equal(await read('k'), 'person')
      await settle()
      assert.deepEqual([text('u'), text('v')], ['asked more', 'again'])
      assert.ok(['x', 'n', 'r'].every((name) => !existsSync(at(name))))
    },
  'discarding a path below a new directory shows the real one': async () => {
    const { ask, read } = workers()
    await ask(0, 'mkdir', 'n')
    for (const name of ['n/a', 'n/b', 'n/w']) await ask(0, 'write', name, name)
    await settleSome((path) => path !== 'n/w')
    await ask(0, 'chmod', 'n/a', '600')
    await ask(0, 'unlink', 'n/b')
    const frozen = await view.freeze()
    assert.deepEqual((await frozen.discard([at('n/a'), at('n/b')])).refused, [])
    frozen.thaw()
    assert.deepEqual([await read('n/a'), await read('n/b')], ['n/a', 'n/b'])
    const { scan } = await settleSome(() => false)
    assert.deepEqual(
      scan.changes.map(({ path }) => short(path)),
      ['n/w'],
    )
  },
  'discarding a path below a removed directory brings back that path alone': async () => {
    for (const name of ['k', 'k/in', 'k/more']) mkdirSync(at(name))
    for (const name of ['k/f', 'k/g', 'k/in/a', 'k/in/b', 'k/more/x']) person(name, name)
    await view.refresh()
    await shell('rm -r k')
    await settleSome(() => false)
    person('k/g', 'changed since')
    const frozen = await view.freeze()
    const done = await frozen.discard([at('k/in/a'), at('k/f')])
    assert.deepEqual([done.discarded.map(short), done.refused], [['k/f', 'k/in/a'], []])
    frozen.thaw()
    assert.equal((await shell('find k -type f | sort; cat k/f')).out, 'k/f\nk/in/a\nk/f')
    const { scan } = await settleSome(() => false)
    assert.deepEqual(scan.changes.map(({ path }) => short(path)).sort(), [
      'k/g',
      'k/in/b',
      'k/more',
      'k/more/x',
    ])
    // What a person changed after the removal stays theirs.
    assert.deepEqual(
      scan.conflicts.map(({ path }) => short(path)),
      ['k/g'],
    )
    await shell('rm -r k; echo file >k')
    const again = await view.freeze()
    const { hidden, discarded } = await again.discard([at('k/f')])
    again.thaw()
    assert.deepEqual([hidden, discarded], [[{ path: at('k/f'), by: at('k') }], []])
    assert.equal((await shell('cat k')).out, 'file\n')
  },
  'a new directory that is closed to its own user becomes real and is taken out of the view':
    async () => {
      await shell('mkdir -p ro/in; echo x >ro/x; echo y >ro/in/y; chmod 555 ro/in ro')
      const frozen = await view.freeze()
      const { changes } = await frozen.scan()
      await frozen.prepare(changes)
      for (const name of ['ro', 'ro/in']) mkdirSync(at(name))
      for (const name of ['ro/x', 'ro/in/y']) {
        writeFileSync(at(name), name === 'ro/x' ? 'x\n' : 'y\n')
      }
      for (const name of ['ro/in', 'ro']) chmodSync(at(name), 0o555)
      const { pruned } = await frozen.prune(changes)
      frozen.thaw()
      assert.deepEqual(pruned.map(short).sort(), ['ro', 'ro/in', 'ro/in/y', 'ro/x'])
      assert.equal(await view.hasPending(), false)
      assert.equal((await shell('cat ro/x ro/in/y; stat -c %a ro ro/in')).out, 'x\ny\n555\n555\n')
    },
  'a directory of the session hides nothing after a reopening': async () => {
    await shell('mkdir n; echo a >n/a; echo b >n/b')
    const { kept } = await settleSome((path) => path !== 'n/b')
    assert.deepEqual(kept, [])
    await reopen()
    const again = await view.freeze()
    assert.deepEqual((await again.prune([])).kept, [])
    again.thaw()
    person('n/a', 'person')
    const { scan } = await settle()
    assert.deepEqual([scan.changes.map(({ path }) => path), scan.stale], [[at('n/b')], []])
    assert.equal((await shell('cat n/a n/b')).out, 'personb\n')
  },
  'a name that both sides removed is free for a new file': async () => {
    for (const name of ['d', 'd/s']) mkdirSync(at(name))
    for (const name of ['d/s/f', 'd/s/g']) writeFileSync(at(name), name)
    await view.refresh()
    const { ask } = workers()
    await ask(1, 'cd', 'd/s')
    await ask(0, 'unlink', 'd/s/f')
    const frozen = await view.freeze()
    await frozen.scan()
    frozen.thaw()
    rmSync(at('d/s/f'))
    const again = await view.freeze()
    await again.scan()
    again.thaw()
    await ask(0, 'write', 'd/s/f', 'new')
    assert.deepEqual((await settle()).scan.conflicts, [])
    assert.equal(text('d/s/f'), 'new')
  },
  'what another process takes back is seen, and edits of it are the session’s own': async () => {
    writeFileSync(at('f'), 'old')
    const { ask, read } = workers()
    await ask(0, 'write', 'f', 'agent')
    renameSync(at('f'), join(base, 'preimage'))
    writeFileSync(at('f'), 'old')
    await pause(20)
    await view.refresh()
    const settled = await settle()
    assert.equal(settled.scan.conflicts.length, 1)
    const frozen = await view.freeze()
    await frozen.discard([at('f')])
    frozen.thaw()
    await ask(0, 'write', 'f', 'agent')
    await settle()
    assert.equal(view.hasNews([at('f')]), false)
    rmSync(at('f'))
    assert.equal(view.hasNews([at('f')]), true)
    renameSync(join(base, 'preimage'), at('f'))
    await view.refresh()
    assert.equal(view.hasNews([at('f')]), false)
    assert.equal(await read('f'), 'old')
    await ask(0, 'append', 'f', ' again')
    assert.deepEqual((await settle()).scan.conflicts, [])
    assert.equal(text('f'), 'old again')
  },
  'a file of others that came and went is no news, unless the view shows it': async () => {
    await view.refresh()
    const { ask } = workers()
    const lock = at('index.lock')
    writeFileSync(lock, '')
    assert.equal(view.hasNews([lock]), true)
    rmSync(lock)
    assert.equal(view.hasNews([lock]), false)
    writeFileSync(lock, '')
    await view.refresh()
    await ask(0, 'hold', 'index.lock', 'h', 'r')
    rmSync(lock)
    assert.equal(view.hasNews([lock]), true)
    await ask(0, 'drop', 'h')
    await view.refresh([lock])
    assert.equal(view.hasNews([lock]), false)
    // What the session removed itself is not unknown: its next file of that name is judged with care.
    writeFileSync(at('f'), 'old')
    await view.refresh()
    await ask(0, 'unlink', 'f')
    rmSync(at('f'))
    assert.equal(view.hasNews([at('f')]), true)
  },
  'a settle of a watched tree that changes nothing drops no names': async () => {
    for (const name of ['f', 'g']) writeFileSync(at(name), 'old')
    await view.refresh()
    const { ask, read } = workers()
    assert.equal(await read('f'), 'old')
    person('f', 'person')
    const prune = async (isWatched: boolean): Promise<string> => {
      const frozen = await view.freeze()
      await frozen.prune([], isWatched)
      frozen.thaw()
      return read('f')
    }
    // No watch told of the edit, so the view has not looked.
    assert.equal(await prune(true), 'old')
    assert.equal(await prune(false), 'person')
    person('f', 'again')
    await ask(0, 'write', 'g', 'old')
    // An entry that is equal to the real one goes, so names are dropped.
    assert.equal(await prune(true), 'again')
  },
  'a database with a log stays whole': async () => {
    const { stdin, ended, until } = typing(['sqlite3', 'db'], false)
    stdin.write(
      "PRAGMA journal_mode=wal; CREATE TABLE t(x); INSERT INTO t VALUES(1); SELECT 'on'||'e';\n",
    )
    await until('one')
    const { busy } = await settle()
    assert.ok(['db', 'db-wal', 'db-shm'].every((name) => busy.includes(at(name))))
    assert.ok(!existsSync(at('db')))
    stdin.write("INSERT INTO t VALUES(2); SELECT 'tw'||'o';\n")
    await until('two')
    stdin.end('.quit\n')
    await ended
    await settle()
    const found = execFileSync('sqlite3', [
      at('db'),
      'PRAGMA integrity_check; SELECT count(*) FROM t',
    ])
    assert.equal(found.toString(), 'ok\n2\n')
  },
  'a repository with a linked worktree and a submodule works': async () => {
    const git = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always']
    const run = (cwd: string, ...args: string[]): string =>
      execFileSync('git', [...git, ...args], {
        cwd,
        env: { PATH: '/usr/bin:/bin', HOME: base },
      }).toString()
    for (const name of ['sub', 'repo']) {
      mkdirSync(at(name))
      run(at(name), 'init', '-q', '-b', 'main')
      writeFileSync(join(at(name), 'a'), 'a')
      run(at(name), 'add', '-A')
      run(at(name), 'commit', '-qm', 'first')
    }
    run(at('repo'), 'submodule', '--quiet', 'add', at('sub'), 'lib')
    run(at('repo'), 'commit', '-qm', 'second')
    run(at('repo'), 'worktree', 'add', '-q', at('tree'))
    await view.refresh()
    const inside = `export HOME=${base}; g="git ${git.join(' ')}"; `
    const work = 'echo b >b; $g add -A; $g commit -qm third; $g status --porcelain'
    const { out } = await shell(
      `${inside} set -e; cd tree; ${work}; cd ../repo; ${work}; cd lib; ${work}`,
    )
    assert.equal(out, '')
    await settle()
    for (const name of ['repo', 'tree', 'repo/lib']) {
      // The commit inside the submodule is news for the repository around it.
      assert.equal(run(at(name), 'status', '--porcelain'), name === 'repo' ? ' M lib\n' : '')
      assert.equal(run(at(name), 'log', '--format=%s', '-1'), 'third\n')
    }
    run(at('repo'), 'fsck', '--strict')
    const after = await shell(
      `${inside} cd tree; $g status --porcelain; cd ../repo; $g status --porcelain`,
    )
    assert.equal(after.out, ' M lib\n')
  },
  'a process that lets its own user not look keeps what it uses, and nothing else': async () => {
    const { ask, read } = workers()
    await ask(0, 'shut')
    for (const name of ['read', 'written', 'watched', 'free']) await ask(1, 'write', name, name)
    for (const name of ['in', 'out']) await ask(1, 'mkdir', name)
    await ask(0, 'hold', 'read', 'one', 'r')
    await ask(0, 'hold', 'written', 'two', 'w')
    await ask(0, 'watch', 'watched')
    await ask(0, 'holddir', 'in', 'three')
    const { busy, pruned, kept } = await settle()
    const shorts = (paths: readonly string[]): string[] => paths.map(short).sort()
    assert.ok(busy.includes(at('written')) && !busy.includes(at('read')))
    assert.deepEqual(
      [shorts(pruned), shorts(kept)],
      [
        ['free', 'out'],
        ['in', 'read', 'watched'],
      ],
    )
    await ask(0, 'put', 'two', '!')
    await ask(0, 'unwatch')
    for (const slot of ['one', 'two', 'three']) await ask(0, 'drop', slot)
    assert.deepEqual(shorts((await settle()).pruned), ['in', 'read', 'watched', 'written'])
    assert.equal(await read('written'), 'written!')
  },
  'a watch on a file that became real goes on': async () => {
    const { ask } = workers()
    await ask(0, 'write', 'f', 'one')
    await ask(1, 'watch', 'f')
    assert.ok((await settle()).kept.includes(at('f')))
    await ask(1, 'unwatch')
    assert.ok((await settle()).pruned.includes(at('f')))
  },
  'a shell with jobs notices nothing of fifty freezes': async () => {
    const { stdin, heard, ended, until } = typing(['/bin/bash', '--norc', '-i'], true)
    await until('\\$ ')
    stdin.write('sleep 1000 &\n')
    await until('\\[1\\]')
    stdin.write('sleep 999\n')
    await pause(300)
    stdin.write('\x1a')
    await until('Stopped')
    stdin.write('i=0; while :; do i=$((i+1)); echo $i >n; sleep 0.01; done\n')
    await pause(300)
    for (let count = 0; count < 50; count++) {
      const frozen = await view.freeze()
      const states = sandbox.processes().map(stateOf)
      assert.ok(
        states.every((state) => 'TZ'.includes(state)),
        states.join(' '),
      )
      frozen.thaw()
      await pause(20)
    }
    // bash goes on with its loop if `sleep` ended by itself just before the signal.
    for (let tries = 0; tries < 20 && !heard.text.endsWith('$ '); tries++) {
      stdin.write('\x03')
      await pause(200)
    }
    const before = heard.text.length
    stdin.write('jobs; echo en""d\n')
    await until('end\r\n')
    const jobs = heard.text.slice(before)
    assert.match(jobs, /\[1\]. +Running +sleep 1000/)
    assert.match(jobs, /\[2\]. +Stopped +sleep 999/)
    assert.equal(heard.text.match(/Stopped/g)?.length, 2)
    stdin.write('kill -KILL %1 %2; exit\n')
    stdin.write('exit\n')
    await ended
  },
  'processes that multiply are ended, and the agent and what it has pending stay': async () => {
    const caps = { cpuMs: 600_000, memoryMb: 2048, diskMb: 256, durationMs: 60_000, processes: 480 }
    await reopen({ caps })
    // Both are bounded: 256 that wait, and 256 that are replaced by their children for six seconds.
    const bombs = {
      grow: 'b() { [ $1 -gt 7 ] && { sleep 6; exit; }; b $(($1 + 1)) | b $(($1 + 1)) & wait; }; b 0',
      walk: `exec perl -e '$SIG{CHLD} = "IGNORE"; $t = time + 6; fork for 1 .. 8; while (time < $t) { my $p = fork; exit if $p }'`,
    }
    for (const [name, bomb] of Object.entries(bombs)) writeFileSync(at(name), bomb)
    await pause(20)
    await view.refresh()
    const loop = 'while IFS= read -r line; do eval "$line"; echo "done $line"; done'
    const { stdin, ended, until } = typing(['/bin/bash', '-c', loop], false)
    for (const name of Object.keys(bombs)) {
      stdin.write(`echo pending >${name}.txt; bash ${name} >/dev/null 2>&1\n`)
      const before = sandbox.endedCommands().processes
      const isEnded = (): boolean => sandbox.endedCommands().processes > before
      for (let turn = 0; turn < 1000 && !isEnded(); turn++) await pause(5)
      assert.ok(isEnded(), name)
      await until(`done echo pending >${name}`)
      for (let turn = 0; turn < 400 && sandbox.processes().length > 1; turn++) await pause(5)
      assert.equal(sandbox.processes().length, 1, name)
    }
    stdin.end('echo after\n')
    await until('after\n')
    assert.equal((await ended).exitCode, 0)
    await settle()
    assert.deepEqual([text('grow.txt'), text('walk.txt')], ['pending\n', 'pending\n'])
  },
  'a record that a power cut spoiled, cut short, lost or set back never loses an edit':
    async () => {
      const file = join(scene.kept, 'view.json')
      const ways: Readonly<Record<string, (now: string, older: string) => string | null>> = {
        spoiled: (now) => '\0'.repeat(now.length),
        short: (now) => now.slice(0, now.length / 2),
        empty: () => '',
        foreign: () => '{}',
        lost: () => null,
        older: (_, older) => older,
      }
      for (const [name, way] of Object.entries(ways)) {
        writeFileSync(at(name), 'one')
        await view.refresh()
        const older = readFileSync(file, 'utf8')
        await shell(`echo agent >${name}; echo new >${name}.new`)
        await view.refresh()
        person(name, 'person')
        await view.refresh()
        view.close()
        await sandbox.close()
        const spoilt = way(readFileSync(file, 'utf8'), older)
        if (spoilt === null) rmSync(file)
        else writeFileSync(file, spoilt)
        ;[sandbox, view] = await open()
        const again = await view.freeze()
        await again.prune([])
        again.thaw()
        const { scan } = await settle()
        assert.ok(
          scan.conflicts.some(({ path }) => path === at(name)),
          name,
        )
        assert.equal(text(name), 'person', name)
        const frozen = await view.freeze()
        await frozen.discard([at(name), at(`${name}.new`)])
        frozen.thaw()
        assert.equal((await shell(`cat ${name}`)).out, 'person', name)
      }
    },
  'with any record that a power cut leaves, what people did stays, and what the session did is there':
    async () => {
      const file = join(scene.kept, 'view.json')
      const read = (): string => readFileSync(file, 'utf8')
      const ways = [
        'spoiled',
        'short',
        'lost',
        'before all',
        'before the person',
        'unseen',
      ] as const
      const names = ['mod', 'gone', 'del', 'dir/old', 'moved', 'alone', 'removed']
      for (const [turn, way] of ways.entries()) {
        const here = (name: string): RawPath => at(`w${turn}/${name}`)
        mkdirSync(here('dir'), { recursive: true })
        for (const name of names) writeFileSync(here(name), 'one')
        await view.refresh()
        const first = read()
        await shell(`cd w${turn}; for f in mod gone alone made; do echo agent >$f; done; rm del removed
          rm -r dir; mv moved away; mkdir nd; echo agent >nd/x`)
        await view.refresh()
        const second = read()
        for (const name of ['mod', 'del', 'moved', 'made']) person(`w${turn}/${name}`, 'person')
        rmSync(here('gone'))
        mkdirSync(here('nd'))
        for (const name of ['dir/old', 'dir/new', 'nd/x']) person(`w${turn}/${name}`, 'person')
        if (way !== 'unseen') await view.refresh()
        view.close()
        await sandbox.close()
        const left = {
          spoiled: '\0'.repeat(read().length),
          short: read().slice(0, read().length / 2),
          lost: null,
          // A record is older only after the machine was started again.
          'before all': first.replace(/"boot":"[^"]*"/, '"boot":"another"'),
          'before the person': second.replace(/"boot":"[^"]*"/, '"boot":"another"'),
          unseen: read(),
        }[way]
        if (left === null) rmSync(file)
        else writeFileSync(file, left)
        ;[sandbox, view] = await open()
        const again = await view.freeze()
        await again.prune([])
        again.thaw()
        // A directory that holds conflicts stays with them.
        const { scan } = await settleSome((path) => !path.endsWith('/dir'))
        for (const name of ['mod', 'del', 'moved', 'made', 'dir/old', 'dir/new', 'nd/x'])
          assert.equal(text(`w${turn}/${name}`), 'person', `${way}: ${name}`)
        assert.equal(existsSync(here('gone')), false, `${way}: what a person removed came back`)
        // What the session alone did is real by now, or is pending as a conflict; the view shows it.
        const pending = new Set(scan.changes.map(({ path }) => path))
        assert.ok(text(`w${turn}/alone`) === 'agent\n' || pending.has(here('alone')), way)
        assert.ok(!existsSync(here('removed')) || pending.has(here('removed')), way)
        const { out } = await shell(
          `cd w${turn}; cat mod gone alone; test -e removed || echo gone; cat away`,
        )
        assert.equal(out, 'agent\nagent\nagent\ngone\none', way)
        const frozen = await view.freeze()
        await frozen.discard([at(`w${turn}`)])
        frozen.thaw()
      }
    },
  'a file takes the name of a directory that was moved': async () => {
    mkdirSync(join(real, 'd'))
    for (const name of ['d/f', 'd/g', 'h']) person(name, name)
    await settle()
    await shell('mv d e && echo more >>e/f && echo more >>e/g && mv h d')
    const { scan } = await settle()
    assert.deepEqual(scan.conflicts, [])
    assert.equal(text('e/f'), 'd/fmore\n')
    assert.equal(text('d'), 'h')
  },
  'a cap that ends the run leaves the layers as they are': async () => {
    const caps = { cpuMs: 60_000, memoryMb: 512, diskMb: 256, durationMs: 700, processes: 64 }
    await reopen({ caps })
    const { outcome } = await shell('echo x >f; sleep 30')
    assert.equal(outcome.killedBy, 'duration')
    await reopen()
    assert.equal((await shell('cat f')).out, 'x\n')
    assert.deepEqual((await settle()).pruned, [at('f')])
    assert.equal(text('f'), 'x\n')
  },
  'layers and private places last from one opening to the next': async () => {
    const [home, from, other] = ['home', 'own', 'other'].map((name) => join(base, name))
    assert.ok(home !== undefined && from !== undefined && other !== undefined)
    for (const path of [home, from, other, join(home, 'proj')]) mkdirSync(path, { recursive: true })
    const more = {
      scopeRoots: [join(home, 'proj')],
      watchedRoots: [real],
      private: [{ from, at: home }],
    }
    await reopen(more)
    const made = `echo s >~/.state; echo p >~/proj/f; echo r >${real}/r; echo t >/tmp/t; echo m >/dev/shm/m; echo v >/var/tmp/v`
    await shell(made, { HOME: home }, join(home, 'proj'))
    assert.equal(readFileSync(join(from, '.state'), 'latin1'), 's\n')
    assert.ok(!existsSync(join(home, '.state')) && !existsSync(join(home, 'proj/f')))
    await reopen({ ...more, scopeRoots: [other, join(home, 'proj')] })
    const seen = 'cat ~/.state ~/proj/f /tmp/t /dev/shm/m /var/tmp/v; ls -A ~'
    const { out } = await shell(`${seen}; cat ${real}/r`, { HOME: home }, join(home, 'proj'))
    assert.equal(out, 's\np\nt\nm\nv\n.state\nproj\nr\n')
  },
}

const run = SCENES[wanted]
if (run === undefined) process.stdout.write(`${JSON.stringify(Object.keys(SCENES))}\n`)
else await run()
view.close()
await sandbox.close()
await driver.close()
execFileSync('chmod', ['-R', 'u+rwx', base])
rmSync(base, { recursive: true, force: true })

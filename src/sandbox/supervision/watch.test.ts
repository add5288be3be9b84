/** Supervision by looking: what a run takes where the kernel counts nothing, hidden as well as it can be. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { namelessFiles } from './meters.ts'
import { treeUse } from './tree-use.ts'
import { monotonicMs, SLOTS_BYTES, Watch } from './watch.ts'

const MEBIBYTE = 1024 * 1024
const places: string[] = []

function place(): string {
  const path = mkdtempSync(join(tmpdir(), 'writ-watch-test-'))
  places.push(path)
  return path
}

afterEach(() => {
  for (const path of places.splice(0)) rmSync(path, { recursive: true, force: true })
})

function watchOver(path: string, diskMb: number): Watch {
  return new Watch({
    shared: new SharedArrayBuffer(SLOTS_BYTES),
    pid: process.pid,
    caps: { cpuMs: 1e9, memoryMb: 1e6, diskMb, durationMs: 1e9, processes: 1e6 },
    group: {},
    base: { cpuMs: 0, kills: 0, refusals: 0 },
    usedCpuMs: 0,
    deadlineMs: monotonicMs() + 1e9,
    disk: { kind: 'directories', paths: [path] },
    ownTasks: 0,
    lasting: null,
  })
}

describe('a layer on a shared disk', () => {
  it('may hold so many bytes', () => {
    const path = place()
    writeFileSync(join(path, 'file'), Buffer.alloc(MEBIBYTE / 2, 1))
    expect(watchOver(path, 1).passedCap()).toBe(null)
    writeFileSync(join(path, 'other'), Buffer.alloc(MEBIBYTE, 1))
    expect(watchOver(path, 1).passedCap()).toBe('disk')
  })

  it('may hold so many entries, however small', () => {
    const path = place()
    mkdirSync(join(path, 'd'))
    for (let index = 0; index < 4096 + 512; index++) symlinkSync('x', join(path, 'd', `${index}`))
    expect(watchOver(path, 1).passedCap()).toBe('disk')
    expect(watchOver(path, 2).passedCap()).toBe(null)
  })
})

describe('the use of a tree', () => {
  it('counts what lies deeper than any path', async () => {
    const path = place()
    // Node cannot go there by path, a shell can step by step.
    const script =
      'n=$(printf "%0200d" 0); for i in $(seq 30); do mkdir $n && cd $n || exit 1; done; head -c 2000000 /dev/zero | tr "\\0" x > deep'
    const child = spawn('/bin/bash', ['-c', script], { cwd: path })
    const [status] = await once(child, 'close')
    expect(status).toBe(0)
    const { bytes, entries } = treeUse([path], 1000)
    expect(bytes).toBeGreaterThanOrEqual(2_000_000)
    expect(entries).toBe(31)
    await once(spawn('rm', ['-rf', path]), 'close')
  })

  it('stops where too much is', () => {
    const path = place()
    for (let index = 0; index < 50; index++) writeFileSync(join(path, `${index}`), '')
    expect(treeUse([path], 10).entries).toBe(11)
  })

  it('follows no link', () => {
    const path = place()
    symlinkSync('/usr', join(path, 'link'))
    expect(treeUse([path], 1000).entries).toBe(1)
  })
})

describe('files without a name', () => {
  it('are not looked for among the processes of the machine', () => {
    const file = join(place(), 'gone')
    const descriptor = openSync(file, 'w')
    writeSync(descriptor, Buffer.alloc(MEBIBYTE, 1))
    unlinkSync(file)
    expect(namelessFiles(process.pid)).toEqual({ memoryBytes: 0, diskBytes: 0 })
    closeSync(descriptor)
  })
})

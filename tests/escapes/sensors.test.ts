/** The decoys around a sandbox: that each one tells when it is touched, by a process without any walls. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  differences,
  InputPipe,
  Listener,
  makeGround,
  ReadPipe,
  statesBelow,
  Victim,
} from './decoys.ts'
import { commandOf } from './trial.ts'

const top = mkdtempSync(join(tmpdir(), 'writ-sensors-'))
afterAll(() => rmSync(top, { recursive: true, force: true }))

const ground = makeGround(join(top, 'ground'), 'a secret', 'mkdir made-before')

/** Every way in which something outside can be changed, and the paths that must be reported. */
const TOUCHES: readonly (readonly [script: string, ...told: string[]])[] = [
  ['echo x > outside/file', 'outside/file'],
  ['touch outside/file', 'outside/file'],
  ['chmod 600 outside/file', 'outside/file'],
  ['ln outside/file outside/second', 'outside', 'outside/file', 'outside/second'],
  ['rm outside/second', 'outside', 'outside/file', 'outside/second'],
  ['echo x > scope/new', 'scope', 'scope/new'],
  ['mv home/kept home/moved', 'home', 'home/kept', 'home/moved'],
  ['ln -s / hidden/link', 'hidden', 'hidden/link'],
  ['cp -p state/canary t && cat t > state/canary && rm t', '', 'state/canary'],
  ['setfattr -n user.x -v y scope/kept', 'scope/kept'],
]

describe('a file outside', () => {
  it.each(TOUCHES)('tells: %s', (script, ...told) => {
    const before = statesBelow(ground.top)
    execFileSync('/bin/sh', ['-c', script], { cwd: ground.top })
    const paths = told.map((path) => join(ground.top, path))
    expect([...differences(before, statesBelow(ground.top))].sort()).toEqual(paths.sort())
  })

  it('is quiet when it is only read', () => {
    const before = statesBelow(ground.top)
    execFileSync('/bin/sh', ['-c', 'cat outside/file; ls -lR . >/dev/null'], { cwd: ground.top })
    expect(differences(before, statesBelow(ground.top))).toEqual([])
  })
})

describe('every listener', () => {
  it('tells a visitor the secret, and that one came', async () => {
    const path = join(top, 'socket')
    const listener = await Listener.at(path, 'a secret')
    const visit =
      'use Socket; socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un($ARGV[0])) or die; print <S>'
    const child = spawn('perl', ['-e', visit, path])
    let heard = ''
    child.stdout.on('data', (text) => {
      heard += text
    })
    await once(child, 'close')
    expect([heard, listener.takeVisits(), listener.takeVisits()]).toEqual(['a secret\n', 1, 0])
    listener.close()
  })

  it('at a pipe hears what is written', () => {
    const path = join(top, 'pipe')
    const pipe = new ReadPipe(path)
    expect(pipe.takeBytes()).toBe(0)
    execFileSync('/bin/sh', ['-c', `echo spoken > ${path}`])
    expect(pipe.takeBytes()).toBe(7)
    pipe.close()
  })
})

describe('an input that others go on to read', () => {
  it.each([
    ['head -c 6', []],
    ['cat', []],
    ['echo more 1<>', [`left in the input: ${JSON.stringify(`${InputPipe.LINES}more\n`)}`]],
  ])('tells what is left after: %s', (command, complaints) => {
    const path = join(top, `input-${command.slice(0, 4)}`)
    const pipe = new InputPipe(path)
    const from = command.endsWith('<>') ? path : ` < ${path}`
    spawnSync('/bin/sh', ['-c', `${command}${from}`], { timeout: 500 })
    expect(pipe.complaints()).toEqual(complaints)
    pipe.close()
  })
})

describe('a process of the machine', () => {
  it.each([
    ['renice', ['-n', '15', '-p']],
    ['kill', ['-STOP']],
    ['kill', ['-KILL']],
  ])('tells: %s %s', async (program, words) => {
    const victim = new Victim('a secret')
    expect(victim.complaints()).toEqual([])
    spawnSync(program, [...words, String(victim.pid)])
    await expect.poll(() => victim.complaints().length).toBe(1)
    victim.close()
  })
})

describe('an attempt', () => {
  it('is known to have run even if it took its first words back', () => {
    const [program, ...words] = commandOf(['sh', 'exit 3'])
    const [first, ...rest] = execFileSync(program, words, { encoding: 'utf8' }).split('\n')
    expect(first).toMatch(/^pid:\[\d+\]$/)
    expect(rest).toContain(first)
    expect(rest).toContain('TRIED 3')
  })
})

/** Tests of operations as commands, tried on real files. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Operation } from '../../contracts/index.ts'
import { commandOf } from './operation-command.ts'

let tree = ''
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'writ-operation-'))
})
afterEach(() => {
  rmSync(tree, { recursive: true, force: true })
})

function perform(operation: Operation): string {
  const command = commandOf(operation)
  if (command === null) throw new Error('no command')
  const [program, ...rest] = command.argv
  return execFileSync(program, rest, {
    cwd: command.cwd,
    input: command.stdin === 'empty' ? '' : command.stdin,
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

describe('an operation as a command', () => {
  it('reads', () => {
    writeFileSync(join(tree, '-n'), 'text')
    expect(perform({ type: 'FILE_READ', path: join(tree, '-n') })).toBe('text')
  })

  it('writes with missing parents, bytes and mode', () => {
    const path = join(tree, 'a b', '$(c)', "'d")
    perform({ type: 'FILE_WRITE', path, content_base64: '/wAK', mode: '0600' })
    expect([...readFileSync(path)]).toEqual([0xff, 0, 0x0a])
    expect(lstatSync(path).mode & 0o7777).toBe(0o600)
  })

  it('deletes files and no directory', () => {
    const [one, two] = [join(tree, 'one'), join(tree, 'two')]
    writeFileSync(one, '')
    mkdirSync(two)
    expect(() => perform({ type: 'FILE_DELETE', paths: [one, two] })).toThrow()
    expect(existsSync(one)).toBe(false)
    expect(existsSync(two)).toBe(true)
  })

  it('moves onto exactly the named path', () => {
    const [from, to] = [join(tree, 'from'), join(tree, 'to')]
    writeFileSync(from, 'x')
    mkdirSync(to)
    expect(() => perform({ type: 'FILE_MOVE', from, to })).toThrow()
    const deep = join(tree, 'new', 'place')
    perform({ type: 'FILE_MOVE', from, to: deep })
    expect(readFileSync(deep, 'utf8')).toBe('x')
  })

  it('makes directories', () => {
    perform({ type: 'DIRECTORY_CREATE', path: join(tree, 'a', 'b') })
    expect(lstatSync(join(tree, 'a', 'b')).isDirectory()).toBe(true)
  })

  it('deletes a directory with contents only when asked to', () => {
    const path = join(tree, 'full')
    mkdirSync(path)
    writeFileSync(join(path, 'x'), '')
    expect(() => perform({ type: 'DIRECTORY_DELETE', path, recursive: false })).toThrow()
    perform({ type: 'DIRECTORY_DELETE', path, recursive: true })
    expect(existsSync(path)).toBe(false)
  })

  it('never deletes a file or a link in place of a directory', () => {
    const [file, link, target] = ['file', 'link', 'target'].map((name) => join(tree, name))
    writeFileSync(file as string, '')
    mkdirSync(target as string)
    symlinkSync(target as string, link as string)
    for (const path of [file, link] as string[]) {
      expect(() => perform({ type: 'DIRECTORY_DELETE', path, recursive: true })).toThrow()
      expect(lstatSync(path)).toBeDefined()
    }
  })

  it('hands a command its words, input and variables', () => {
    const argv = ['printf', '%s', '$HOME']
    const operation: Operation = { type: 'COMMAND_EXECUTION', argv, cwd: tree, env: { A: 'b' } }
    expect(commandOf(operation)).toEqual({ argv, cwd: tree, env: { A: 'b' }, stdin: 'empty' })
  })

  it('is none for acts that are no command', () => {
    expect(commandOf({ type: 'NETWORK_REQUEST', method: 'GET', url: 'https://a.b/' })).toBeNull()
  })
})

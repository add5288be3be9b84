/** Which changes are data, for a reviewer that may run anything else: by name, mode, kind and first bytes. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Change, rawOfText } from '../../src/gate/index.ts'
import { DATA_NAMES, DATA_SUFFIXES, LOADED_NAMES } from '../../src/runs/programs/data-names.ts'
import { ARTIFACT_STEMS } from '../../src/runs/programs/named-data.ts'
import type { Layer } from '../../src/sandbox/index.ts'
import { keptFindings } from '../../src/service/attempts/data-only.ts'

type Side = Change['before']

const FILE = { kind: 'file', mode: 0o644, size: 1, digest: 'a' } as unknown as Side // Enough of a state.
const OTHER = { kind: 'file', mode: 0o644, size: 2, digest: 'b' } as unknown as Side // Likewise.
const PROGRAM = { kind: 'file', mode: 0o755, size: 1, digest: 'a' } as unknown as Side // Likewise.
const DIRECTORY = { kind: 'directory', mode: 0o755 } as unknown as Side // Likewise.
const CLOSED = { kind: 'directory', mode: 0 } as unknown as Side // Likewise.
const LINK = { kind: 'symlink', mode: 0o777, target: 'x' } as unknown as Side // Likewise.

let root = ''
let merged = ''

beforeAll(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-data-')))
  root = join(folder, 'w')
  merged = join(folder, 'view')
})

afterAll(() => rmSync(dirname(root), { recursive: true, force: true }))

function write(place: string, path: string, text: string): void {
  mkdirSync(dirname(join(place, path)), { recursive: true })
  writeFileSync(join(place, path), text)
}

/** The reasons against one change; the view holds the file with this text. */
function reasons(path: string, before: Side, after: Side, text = 'plain'): readonly string[] {
  return reasonsAmong(path, before, after, [path], text)
}

/** The same in a flow that names these files. */
function reasonsAmong(
  path: string,
  before: Side,
  after: Side,
  paths: readonly string[],
  text = 'plain',
): readonly string[] {
  if (after?.kind === 'file' && text !== '') write(merged, path, text)
  const data_only = {
    suffixes: DATA_SUFFIXES,
    names: DATA_NAMES,
    except: LOADED_NAMES,
    paths,
    artifact: { folder: 'artifacts/run-1/a/1', stems: ARTIFACT_STEMS },
    reviewer: 'c',
    why: 'a shell',
  }
  const sealed = [{ code: 'flow.program_touched' as const, patterns: [], places: [], data_only }]
  // Other fields are not looked at.
  const change = { path: rawOfText(`${root}/${path}`), before, after } as Change
  const layers = [{ root, merged } as unknown as Layer] // Likewise.
  const found = keptFindings({ workspace: root, sealed }, [change], layers)
  return found.map(({ detail = '' }) => detail)
}

describe('data', () => {
  it.each([
    ...['out/a.txt', 'README', 'docs/LICENSE', 'out/NOTES', 'a.MD', 'out/t.csv', 'out/x.json'],
    ...['out/page.html', 'paper/main.tex', 'paper/refs.bib', 'img/a.png', 'out/r.pdf', 'a b.yml'],
    ...['out/app.py.txt', 'artifacts/run-1/a/1/out.md', 'config/rules.json', 'out/package.md'],
  ])('%s', (path) => {
    expect(reasons(path, null, FILE)).toEqual([])
    expect(reasons(path, FILE, OTHER)).toEqual([])
    expect(reasons(path, FILE, null)).toEqual([])
  })

  it('and directories that lead to it', () => {
    for (const path of ['out', 'artifacts', 'artifacts/run-1/a/1'])
      expect(reasonsAmong(path, null, DIRECTORY, ['out/a/b.txt'])).toEqual([])
    expect(reasonsAmong('out/a', DIRECTORY, null, ['out/a/b.txt'])).toEqual([])
  })
})

describe('data that no person named', () => {
  const named = ['out/result.txt', 'out/map-{index}.csv', 'lib/a.txt']
  it.each([
    ...['out/other.txt', 'out/test_pwn.txt', 'testem.json', 'out/result.txt.md', 'out/map-x.csv'],
    ...['taskfile.yml', 'main.tf.json', 'xout/result.txt', 'out/results.txt', 'out/map-1.csv.md'],
    ...['artifacts/run-1/a/1/test_pwn.txt', 'artifacts/run-1/a/1/more.md', 'artifacts/x/out.md'],
    ...[
      'artifacts/run-1/a/1/deep/out.md',
      'artifacts/run-1/b/1/out.md',
      'artifacts/run-1/a/1/a.out.md',
    ],
  ])('%s', (path) => {
    expect(reasonsAmong(path, null, FILE, named)).toHaveLength(1)
    expect(reasonsAmong(path, FILE, OTHER, named)).toHaveLength(1)
    expect(reasonsAmong(path, FILE, null, named)).toHaveLength(1)
  })

  it.each(['out/x', 'json', 'lib/a.txt/b', 'artifacts/run-2', '.git'])('directory %s', (path) => {
    expect(reasonsAmong(path, null, DIRECTORY, named)).toHaveLength(1)
    expect(reasonsAmong(path, DIRECTORY, null, named)).toHaveLength(1)
  })

  it.each(['out/result.txt', 'out/map-12.csv', 'artifacts/run-1/a/1/out.md'])('not %s', (path) => {
    expect(reasonsAmong(path, null, FILE, named)).toEqual([])
  })
})

describe('no data', () => {
  it.each([
    ...['out/a.py', 'out/strict.pmc', 'out/x.m4', 'out/x.gp', 'out/x.xsl', 'out/x.ipynb'],
    ...['out/x.sql', 'out/a.tar', 'out/a.zip', 'out/a.gz', 'out/a.whl', 'out/a.toml', 'out/a.ini'],
    ...['out/a.cfg', 'out/a.mk', 'out/a.so', 'out/a.so.1', 'out/lib.UTF-8', 'out/a.', 'out/a.py '],
    ...['Makefile', 'out/config', 'out/HEAD', 'SConstruct', 'out/grep', 'out/gconv-modules'],
    ...['.envrc', '.gitattributes', '.git/objects/aa/bb', 'out/.hidden/a.txt', '.x.txt'],
    ...['package.json', 'a/package.json', 'tsconfig.json', 'tsconfig.base.json', 'deno.json'],
    ...['x.config.json', 'CMakeLists.txt', 'requirements.txt', 'requirements-dev.txt', 'pom.xml'],
    ...['docker-compose.yml', 'compose.yaml', 'Taskfile.yml', 'package-lock.json', 'mkdocs.yml'],
    ...['node_modules/a/notes.txt', 'x.egg-info/entry_points.txt', 'vendor/a.json'],
  ])('%s', (path) => {
    expect(reasons(path, null, FILE)).toHaveLength(1)
    expect(reasons(path, FILE, OTHER)).toHaveLength(1)
    expect(reasons(path, FILE, null)).toHaveLength(1)
  })

  it.each<[string, Side, Side, string]>([
    ['a link', null, LINK, 'a link'],
    ['a link that goes', LINK, null, 'a link'],
    ['a link in the place of a file', FILE, LINK, 'a link'],
    ['a directory that is closed', DIRECTORY, CLOSED, 'of a directory is changed'],
    ['an execute bit', null, PROGRAM, 'execute bit'],
    ['an execute bit that goes', PROGRAM, FILE, 'execute bit'],
    ['a program that goes', PROGRAM, null, 'execute bit'],
  ])('%s', (_, before, after, says) => {
    expect(reasons('out/a.txt', before, after)[0]).toContain(says)
  })

  it.each(['#!/bin/sh\n', '\x7fELF', '\0asm'])('first bytes %j', (text) => {
    expect(reasons('out/new.txt', null, FILE, text)[0]).toContain('first bytes')
    write(root, 'out/old.txt', text)
    expect(reasons('out/old.txt', FILE, null)[0]).toContain('first bytes')
  })

  it('what cannot be looked into', () => {
    mkdirSync(join(merged, 'out/closed.txt'), { recursive: true })
    expect(reasons('out/closed.txt', null, FILE, '')[0]).toContain('first bytes')
  })
})

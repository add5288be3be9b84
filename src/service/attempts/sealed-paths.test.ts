/** Changes held against sealed paths: what mounts cannot keep from being made. */
import { expect, it } from 'vitest'
import { type Change, rawOfText } from '../../gate/index.ts'
import { sealedFindings } from './sealed-paths.ts'

type Side = Change['before']

const FILE = { kind: 'file' } as unknown as Side // Only the kind is looked at.
const DIRECTORY = { kind: 'directory' } as unknown as Side // Likewise.
const LINK = { kind: 'symlink' } as unknown as Side // Likewise.

const order = {
  workspace: '/w',
  sealed: [
    {
      code: 'flow.program_touched' as const,
      patterns: [
        ...['tools/agents/**', 'package.json', '*.py', 'lib/py/**', '*/__init__.*'],
        ...['html/**/*.py', '**/.git/config'],
      ],
      places: [],
    },
  ],
}

it.each<[string, Side, Side, boolean]>([
  ['/w/tools/agents/new.mjs', null, FILE, true],
  ['/w/tools/agents', DIRECTORY, LINK, true],
  ['/w/tools', DIRECTORY, LINK, true],
  ['/w/tools', DIRECTORY, null, true],
  ['/w/tools', DIRECTORY, DIRECTORY, false],
  ['/w/package.json', null, FILE, true],
  ['/w/evil.py', null, FILE, true],
  ['/w/src/evil.py', null, FILE, false],
  ['/w/src', DIRECTORY, null, false],
  ['/w/tools/agents2', null, DIRECTORY, false],
  ['/w/lib', null, LINK, true],
  ['/w/lib', null, DIRECTORY, false],
  ['/w/lib/py', FILE, LINK, true],
  ['/w/json', null, LINK, true],
  ['/w/src/json', null, LINK, false],
  ['/w/html/sub', null, LINK, true],
  ['/w/html/sub/a.py', null, FILE, true],
  ['/w/html/index.html', null, FILE, false],
])('%s', (path, before, after, isTouched) => {
  // Other fields are not looked at.
  const change = { path: rawOfText(path), before, after } as Change
  const found = sealedFindings(order, [change])
  expect(found.map(({ code, path: where }) => [code, where])).toEqual(
    isTouched ? [['flow.program_touched', path]] : [],
  )
})

it('what a node declares is free where the order says so', () => {
  const declared = { ...order, sealed: order.sealed.map((one) => ({ ...one, declared: ['a.py'] })) }
  const changes = ['/w/a.py', '/w/b.py'].map(
    // Other fields are not looked at.
    (path) => ({ path: rawOfText(path), before: null, after: FILE }) as Change,
  )
  expect(sealedFindings(declared, changes).map(({ path }) => path)).toEqual(['/w/b.py'])
})

it('a name that is no text counts below a sealed directory', () => {
  // Bytes that no text has.
  const path = `${rawOfText('/w/tools/agents')}/\xff` as Change['path']
  const change = { path, before: null, after: FILE } as Change
  expect(sealedFindings(order, [change])).toHaveLength(1)
})

it.each<[string, Side, Side, boolean]>([
  ['/w/artifacts/run-1/a/1/out.md', FILE, FILE, true],
  ['/w/artifacts/run-1/a/1/out.md', FILE, null, true],
  ['/w/artifacts/run-2/b/2/out.md', null, FILE, true],
  ['/w/artifacts/run-1/b/1/out.md', FILE, FILE, true],
  ['/w/artifacts/run-1/b/2/out.md', null, FILE, false],
  ['/w/artifacts/run-1/b/2', null, LINK, true],
  ['/w/artifacts/run-1/b/2', null, DIRECTORY, false],
  ['/w/artifacts/run-1/b', null, DIRECTORY, false],
  ['/w/artifacts/run-1/b', null, LINK, true],
  ['/w/artifacts/run-1/b', DIRECTORY, LINK, true],
  ['/w/artifacts/run-1', DIRECTORY, LINK, true],
  ['/w/artifacts', DIRECTORY, LINK, true],
  ['/w/artifacts/notes.md', null, FILE, false],
])('of a participant with a directory of its own: %s', (path, before, after, isTouched) => {
  const code = 'flow.artifact_touched' as const
  const artifacts = {
    code,
    patterns: ['artifacts/run-*/**'],
    places: [],
    own: 'artifacts/run-1/b/2',
  }
  // Other fields are not looked at.
  const change = { path: rawOfText(path), before, after } as Change
  const found = sealedFindings({ workspace: '/w', sealed: [artifacts] }, [change])
  expect(found.map((finding) => finding.code)).toEqual(isTouched ? [code] : [])
})

/** Which paths act later, and how: a sample of what tools load, and the edges of the rule. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LISTS, type GateLists } from '../data/lists.ts'
import { type RawPath, rawOfText } from '../paths/raw-path.ts'
import { DeferredPaths } from './deferred.ts'

const FILE = {
  kind: 'file',
  mode: 0o644,
  size: 1,
  digest: null,
  owner: null,
  mtimeNs: '0',
  linkGroup: null,
  attributes: [],
  target: null,
} as const

function kindOf(path: string, lists: GateLists = DEFAULT_LISTS, workspace = '/home/ann/.src/shop') {
  const deferred = new DeferredPaths({
    lists,
    homes: ['/home/ann'],
    workspace,
    scriptsChanged: new Set(),
    pathDirectories: [],
    pointed: new Map(),
  })
  return deferred.of({ path: rawOfText(path), before: null, after: FILE })?.kind ?? 'none'
}

const SAMPLE = readFileSync('tests/gate/deferred-sample.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'))

describe('paths of a project', () => {
  it.each(SAMPLE)('%s: %s', (path = '', kind) => {
    expect(kindOf(`/home/ann/.src/shop/${path}`)).toBe(kind)
  })
})

describe('the rule of dot paths', () => {
  it('begins below the workspace, or else below the home', () => {
    expect(kindOf('/home/ann/.src/shop/a.txt')).toBe('none')
    expect(kindOf('/home/ann/.nvm/nvm.sh')).toBe('ask')
    expect(kindOf('/home/ann/.nvm/nvm.sh', DEFAULT_LISTS, '/home/ann/.nvm')).toBe('none')
    expect(kindOf('/srv/.x/a')).toBe('ask')
  })

  it('is not in lists of earlier evaluators, so that their records are computed as they were', () => {
    const { harmless: _harmless, build: _build, ...earlier } = DEFAULT_LISTS
    expect(kindOf('/home/ann/.src/shop/.some-tool.toml', earlier)).toBe('none')
    expect(kindOf('/home/ann/.src/shop/Makefile', earlier)).toBe('none')
    expect(kindOf('/home/ann/.src/shop/.envrc', earlier)).toBe('ask')
  })

  it('says why a path that something points to is asked about', () => {
    const path = rawOfText('/home/ann/shop/scripts/run.sh') as RawPath
    const deferred = new DeferredPaths({
      lists: DEFAULT_LISTS,
      homes: ['/home/ann'],
      scriptsChanged: new Set(),
      pathDirectories: [],
      pointed: new Map([[path, 'git_config']]),
    })
    expect(deferred.of({ path, before: FILE, after: FILE })).toEqual({
      kind: 'ask',
      by: 'git_config',
    })
  })
})

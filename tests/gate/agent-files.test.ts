/**
 * Files that a coding agent runs or obeys later are deferred execution (G-15a): those that the adapters
 * install hooks into, those that switch hooks off, and the parts of their state that run code.
 */
import { describe, expect, it } from 'vitest'
import { absolutePatterns } from '../../src/gate/data/lists.ts'
import { DEFAULT_LISTS } from '../../src/gate/index.ts'
import { PathSet, UNBOUNDED } from '../../src/gate/paths/path-set.ts'
import { HOSTS } from '../../src/hosts/index.ts'

const HOME = '/home/ann'
const PROJECT = '/home/ann/project'

const rows = DEFAULT_LISTS.deferred.filter(({ executable }) => executable !== true)
const deferred = new PathSet(
  absolutePatterns(
    rows.flatMap(({ patterns }) => patterns),
    [HOME],
  ),
  UNBOUNDED,
)

/** Programs and packages that a host fetches for itself, and an editor's own settings. */
const NOT_LISTED = /\/\.(?:cache|local)\/|\/\.config\/Code\/|\/\.vscode\/extensions\//

describe.each(HOSTS.map((host) => [host.name, host] as const))('%s', (_, host) => {
  const order = {
    writ: '/opt/writ',
    shell: '/opt/writ-shell',
    plugins: '/opt/plugins',
    seconds: 60,
    home: HOME,
    project: PROJECT,
    present: () => undefined,
  }
  const installed = host.hooks.levels.flatMap((level) =>
    host.hooks.modes.flatMap((mode) =>
      host.hooks.steps({ ...order, level, mode }).map(({ file }) => file),
    ),
  )
  const switches = host.switches.map(({ file }) => `${PROJECT}/${file}`)
  const powers = host.state.powers.map((path) => `${HOME}/${path.replace('**', 'some/file')}`)
  const paths = [...new Set([...installed, ...switches, ...powers])].filter(
    (path) => !NOT_LISTED.test(path),
  )

  it.each(paths)('%s', (path) => {
    expect(deferred.find(path)).not.toBeNull()
  })
})

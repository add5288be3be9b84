/** What no run may read: a sample of what a home holds, links, other homes, variables, and caches. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_LISTS } from '../../gate/index.ts'
import { hiddenPlaces, withAccountHome } from './hidden-places.ts'

let home: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'writ-hidden-')))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

function make(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), 'secret')
  }
}

function hidden(hasNetwork = false, lists = DEFAULT_LISTS): readonly string[] {
  const workspace = join(home, 'shop')
  return hiddenPlaces({ lists, homes: [home], workspace, shown: [workspace], hasNetwork })
}

function isHidden(name: string, places: readonly string[]): boolean {
  const path = join(home, name)
  return places.some((place) => path === place || path.startsWith(`${place}/`))
}

const SAMPLE = readFileSync('tests/gate/secret-sample.txt', 'utf8').trimEnd().split('\n')

describe('what a home holds', () => {
  it('logins, keys, histories and profiles are hidden', () => {
    make(...SAMPLE)
    const places = hidden()
    expect(SAMPLE.filter((name) => !isHidden(name, places))).toEqual([])
  })

  it('files of passwords that a variable names are hidden, wherever they lie', () => {
    make('elsewhere/of-the-server')
    expect(isHidden('elsewhere/of-the-server', hidden())).toBe(false)
    vi.stubEnv('PGPASSFILE', join(home, 'elsewhere', 'of-the-server'))
    expect(isHidden('elsewhere/of-the-server', hidden())).toBe(true)
  })

  it('what programs need is not', () => {
    const plain = ['.gitconfig', '.config/git/config', '.cache/pip/http/x', '.cargo/bin/cargo']
    const more = ['.config/ca.pem', '.ssh-notes.txt', 'notes.txt', '.nvm/versions/node/x/token.js']
    make(...plain, ...more)
    const places = hidden()
    expect([...plain, ...more].filter((name) => isHidden(name, places))).toEqual([])
  })

  it('nothing in the workspace is hidden by its name', () => {
    make('shop/.env', 'shop/server.key', 'shop/.config/token')
    expect(hidden().filter((place) => place.startsWith(home))).toEqual([])
  })

  it('laws may add to the list, with stars', () => {
    make('clients/a/contract.txt', 'shop/private.txt', 'x1/y', 'x2/y')
    const lists = { ...DEFAULT_LISTS, hidden: ['~/clients/**', '~/x*/y'] }
    const places = hidden(false, lists)
    expect(['clients/a/contract.txt', 'x1/y', 'x2/y'].every((name) => isHidden(name, places))).toBe(
      true,
    )
  })
})

describe('names that a directory does not list as they are written', () => {
  it('are looked up one by one', () => {
    make('clients/a', 'other/b', '\u00e9t\u00e9/c')
    const hiddenByLaws = ['~/other/../clients', '~/./other', '~/\u00e9t\u00e9']
    const places = hidden(false, { ...DEFAULT_LISTS, hidden: hiddenByLaws })
    const names = ['clients/a', 'other/b', '\u00e9t\u00e9/c']
    expect(names.filter((name) => !isHidden(name, places))).toEqual([])
  })
})

describe('links', () => {
  it('lead to what is hidden, through chains and directories on the way', () => {
    make('dotfiles/ssh/id', 'dotfiles/netrc', 'dotfiles/config/gh/hosts.yml')
    symlinkSync('dotfiles/ssh', join(home, 'one'))
    symlinkSync('one', join(home, '.ssh'))
    symlinkSync('dotfiles/netrc', join(home, '.netrc'))
    symlinkSync('dotfiles/config', join(home, '.config'))
    const places = hidden()
    for (const name of ['dotfiles/ssh/id', 'dotfiles/netrc', 'dotfiles/config/gh/hosts.yml']) {
      expect(isHidden(name, places), name).toBe(true)
    }
  })

  it('inside a hidden directory are followed too, but hide nothing that people work on', () => {
    make('.ssh/config', 'stow/id_one', 'shop/a')
    symlinkSync('../stow/id_one', join(home, '.ssh', 'plain'))
    symlinkSync('../shop', join(home, '.ssh', 'shop'))
    const places = hidden()
    expect([isHidden('stow/id_one', places), isHidden('shop/a', places)]).toEqual([true, false])
  })
})

describe('other places', () => {
  it('the home of the account counts, no matter what the variable says', () => {
    expect(withAccountHome([home])).toEqual([home, realpathSync(userInfo().homedir)])
  })

  it('directories that the variables name count', () => {
    make('conf/gh/hosts.yml', 'data/keyrings/login', 'data/x/y_history')
    vi.stubEnv('XDG_CONFIG_HOME', join(home, 'conf'))
    vi.stubEnv('XDG_DATA_HOME', join(home, 'data'))
    const places = hidden()
    for (const name of ['conf/gh/hosts.yml', 'data/keyrings/login', 'data/x/y_history']) {
      expect(isHidden(name, places), name).toBe(true)
    }
  })

  it('with a network only known caches are left', () => {
    make('.cache/pip/x', '.cache/some-cli/session', '.cache/huggingface/hub/x')
    const places = hidden(true)
    expect(isHidden('.cache/pip/x', places)).toBe(false)
    expect(isHidden('.cache/some-cli/session', places)).toBe(true)
    expect(isHidden('.cache/huggingface/hub/x', places)).toBe(true)
    expect(isHidden('.cache/some-cli/session', hidden(false))).toBe(false)
  })
})

describe('places of the laws', () => {
  it('relative ones lie in the workspace', () => {
    make('shop/papers/a', 'papers/a')
    const lists = { ...DEFAULT_LISTS, hidden: ['papers'] }
    const places = hidden(false, lists)
    expect(isHidden('shop/papers/a', places)).toBe(true)
    expect(isHidden('papers/a', places)).toBe(false)
  })

  it('shown ones are seen without a network only', () => {
    make('.ssh/config', '.ssh/keys/one', '.config/gh/hosts.yml')
    const lists = { ...DEFAULT_LISTS, shown: ['~/.ssh/config', '~/.config/gh'] }
    const names = ['.ssh/config', '.ssh/keys/one', '.config/gh/hosts.yml']
    const seen = (places: readonly string[]) => names.filter((name) => !isHidden(name, places))
    expect(seen(hidden(false, lists))).toEqual(['.ssh/config', '.config/gh/hosts.yml'])
    expect(seen(hidden(true, lists))).toEqual([])
  })
})

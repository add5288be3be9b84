/**
 * What acts later although the actor chose its environment: programs and settings of the persons who
 * use the home, links of their settings, links that lead out, and keys of a manifest that run.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

let place: Place
let token: string

vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('later', { runs: 'warm' }).init()
  token = place.token('ai:bot@local')
}, 180_000)

afterAll(() => place?.remove())

interface Found {
  readonly code: string
  readonly path: string
  readonly detail?: string
}

/** What is asked about because it acts later, by path below the project. */
function later(script: string, env: Record<string, string> = {}): readonly Found[] {
  const report = join(place.project, 'report.json')
  const options = ['--write', '**', '--report', report]
  place.writ(['exec', ...options, '--', 'bash', '-ec', script], { token, env })
  const { result } = JSON.parse(readFileSync(report, 'utf8'))
  return result.findings
    .filter(({ code }: Found) => code === 'effect.deferred_execution')
    .map((found: Found) => ({ ...found, path: found.path.slice(place.project.length + 1) }))
}

describe('the environment of a person', () => {
  it('says what is on the PATH, not what the PATH of the actor holds', () => {
    const tools = join(place.project, 'tools')
    const program = 'mkdir -p tools; echo x > tools/git; chmod 755 tools/git'
    expect(later(program)).toEqual([])
    place.writ(['inbox'], { env: { PATH: `${tools}:${process.env['PATH']}` } })
    expect(later(program.replaceAll('tools/git', 'tools/make'))).toMatchObject([
      { path: 'tools/make' },
    ])
  })

  it('does not take the word of an actor', () => {
    const own = join(place.project, 'own')
    place.writ(['inbox'], { token, env: { PATH: `${own}:${process.env['PATH']}` } })
    const kept = execFileSync('bash', [
      '-c',
      'cat "$0"/writ/*/person-places.json',
      join(place.folder, 'state'),
    ])
    expect(kept.toString()).not.toContain(own)
  })

  it('says where settings with credentials are', () => {
    const settings = join(place.home, 'cfg')
    mkdirSync(join(settings, 'gh'), { recursive: true })
    writeFileSync(join(settings, 'gh', 'hosts.yml'), 'oauth_token: secret-word\n')
    const read = () =>
      place.writ(['exec', '--', 'cat', join(settings, 'gh', 'hosts.yml')], { token })
    expect(read().out).toContain('secret-word')
    place.writ(['inbox'], { env: { XDG_CONFIG_HOME: settings } })
    expect(read().out).not.toContain('secret-word')
  })
})

describe('links', () => {
  it.each([
    ['.config/nvim', 'dotfiles/nvim', 'dotfiles/nvim/init.lua'],
    ['.config/i3/config', 'dotfiles/i3', 'dotfiles/i3'],
    ['.local/share/hooks', 'dotfiles/hooks', 'dotfiles/hooks/run'],
  ])('from ~/%s make what they lead to act later', (link, target, changed) => {
    const from = join(place.home, link)
    mkdirSync(join(from, '..'), { recursive: true })
    const isTree = changed !== target
    if (isTree) mkdirSync(join(place.project, target), { recursive: true })
    else place.write(target)
    symlinkSync(join(place.project, target), from)
    expect(later(`echo x > ${changed}`)).toMatchObject([{ path: changed }])
  })

  it('that lead out of the scope are asked about, in words', () => {
    expect(later(`ln -s ${place.home}/.config cfg`)).toEqual([
      expect.objectContaining({ path: 'cfg', detail: 'the link leads out of the scope' }),
    ])
    expect(later('mkdir -p here; ln -s here inner; ln -s /usr/bin/env env-link')).toEqual([])
  })
})

describe('a manifest', () => {
  it.each([
    ['lint-staged'],
    ['simple-git-hooks'],
    ['husky'],
    ['pre-commit'],
    ['pre-push'],
    ['gitHooks'],
    ['packageManager'],
    ['gypfile'],
  ])('with another `%s` is asked about', (key) => {
    place.write('package.json', '{"name":"a"}\n')
    const text = JSON.stringify({ name: 'a', [key]: 'x' })
    expect(later(`echo '${text}' > package.json`)).toMatchObject([{ path: 'package.json' }])
  })

  it('with another name alone is not', () => {
    place.write('package.json', '{"name":"a","scripts":{}}\n')
    expect(later(`echo '{"name":"b"}' > package.json`)).toEqual([])
  })
})

describe('a report with an actor’s token', () => {
  it.each(['tasks', 'launch', 'settings', 'devcontainer', 'biome', 'tsconfig'])(
    'is not written to %s.json, which other programs load',
    (name) => {
      const { status, err } = place.exec(['--report', `${name}.json`], 'true', { token })
      expect([status, place.has(`${name}.json`)]).toEqual([125, false])
      expect(err).toContain('no name that other programs run or load')
    },
  )

  it('is written to a name of its own', () => {
    expect(place.exec(['--report', 'answer.json'], 'true', { token }).status).toBe(0)
  })
})

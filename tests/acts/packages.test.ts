/** PACKAGE_INSTALL and PACKAGE_REMOVE with the real npm, against a registry on the loopback. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { Actor, BOTH_USERS, type Who } from './actor.ts'
import { Registry } from './registry.ts'

vi.setConfig({ testTimeout: 180_000 })

/** Makes a wheel at the path that it is given. */
const WHEEL = `
import sys, zipfile
info = 'plain-1.0.dist-info'
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('plain.py', "WORD = 'here'\\n")
    wheel.writestr(info + '/METADATA', 'Metadata-Version: 2.1\\nName: plain\\nVersion: 1.0\\n')
    wheel.writestr(info + '/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + '/RECORD', 'plain.py,,\\n' + info + '/METADATA,,\\n' + info + '/WHEEL,,\\n' + info + '/RECORD,,\\n')
`

let registry: Registry

beforeAll(async () => {
  const plant = (file: string): string => `node -e "require('fs').writeFileSync('${file}','x')"`
  registry = await Registry.open([
    { name: 'leftish', version: '1.0.0' },
    { name: 'leftish', version: '1.1.0' },
    { name: '@acme/built', version: '2.0.0', scripts: { postinstall: plant('built.txt') } },
    {
      name: 'sneaky',
      version: '1.0.0',
      scripts: { postinstall: plant('../../src-planted.js') },
    },
  ])
}, 180_000)

afterAll(() => registry?.close())

let actor: Actor
const RESOURCES = {
  max_cpu_ms: 60_000,
  max_memory_mb: 1024,
  max_disk_mb: 200,
  max_duration_ms: 60_000,
}
const MADE = ['work/app/node_modules/**', 'work/app/package-lock.json']
const EFFECTS = { create: MADE, modify: ['work/app/package.json', ...MADE] }

function packages(
  type: string,
  names: readonly string[],
  wanted: Json = {},
  manager = 'npm',
): Json {
  const operation = { type, manager, packages: names, cwd: actor.at('work/app') }
  return actor.proposal(operation, { resources: RESOURCES, ...wanted })
}

/** Gives the tests of a group an actor of their own. */
function useActor(who: Who): void {
  beforeAll(() => {
    actor = new Actor(who, 'packages')
    actor.write('work/app/package.json', '{\n  "name": "app",\n  "version": "1.0.0"\n}\n')
    actor.write('work/app/.npmrc', `registry=http://${registry.host}/\n`)
    actor.setting(`read_only_hosts: ['${registry.host}']`)
  }, 120_000)
  afterAll(() => actor?.remove())
}

describe.each(BOTH_USERS)('as %s', (who) => {
  useActor(who)

  it('installs what is declared, with its scripts, and is undone whole', () => {
    const install = packages('PACKAGE_INSTALL', ['leftish@1.0.0', '@acme/built'], {
      ...EFFECTS,
      hosts: [registry.host],
    })
    const before = actor.text('work/app/package.json')
    const { status, json } = actor.act(install)
    expect(status, JSON.stringify(json)).toBe(0)
    expect(actor.text('work/app/node_modules/leftish/index.js')).toContain('1.0.0')
    expect(actor.text('work/app/node_modules/@acme/built/built.txt')).toBe('x')
    expect(JSON.parse(actor.text('work/app/package.json')).dependencies).toMatchObject({
      '@acme/built': '^2.0.0',
    })
    const hosts = json.result.side_effects.network.map(
      ({ host, outcome }: Json) => `${host} ${outcome}`,
    )
    expect(new Set(hosts)).toEqual(new Set(['127.0.0.1 passed']))
    expect(actor.rollback(json.action_id).json).toMatchObject({ verified: true })
    expect(actor.text('work/app/package.json')).toBe(before)
    expect(actor.place.has('work/app/node_modules')).toBe(false)
  })

  it('installs from a file of the scope without a network, and removes again', () => {
    copyFileSync(registry.tarball('leftish', '1.1.0'), actor.at('work/leftish.tgz'))
    actor.own()
    const install = packages('PACKAGE_INSTALL', [actor.at('work/leftish.tgz')], EFFECTS)
    const { status, json } = actor.act(install)
    expect(status, JSON.stringify(json)).toBe(0)
    expect(actor.text('work/app/node_modules/leftish/index.js')).toContain('1.1.0')
    const removed = actor.act(
      packages('PACKAGE_REMOVE', ['leftish'], {
        ...EFFECTS,
        remove: ['work/app/node_modules/**', 'work/app/node_modules'],
      }),
    )
    expect(removed.json.promoted, JSON.stringify(removed.json)).toBe(true)
    expect(actor.place.has('work/app/node_modules/leftish')).toBe(false)
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})

// What writ decides here does not depend on the user.
describe('as one of them', () => {
  useActor('user')

  it('a package that plants something elsewhere is found and blocked', () => {
    const { json } = actor.act(
      packages('PACKAGE_INSTALL', ['sneaky'], { ...EFFECTS, hosts: [registry.host] }),
    )
    expect(json.decision).toMatchObject({ decision: 'BLOCK', permanent: true })
    expect(json.decision.codes).toContain('effect.undeclared')
    expect(json.result.findings).toContainEqual(
      expect.objectContaining({
        code: 'effect.undeclared',
        path: actor.at('work/app/src-planted.js'),
      }),
    )
    expect(actor.place.has('work/app/node_modules')).toBe(false)
  })

  it.each(['pip'])(
    '%s installs a wheel into the environment of the project, and removes it',
    () => {
      const app = actor.at('work/py')
      const venv = ['-m', 'venv', '--copies', join(app, '.venv')]
      execFileSync('/usr/bin/python3', venv, { timeout: 60_000 })
      const wheel = actor.at('work/plain-1.0-py3-none-any.whl')
      execFileSync('/usr/bin/python3', ['-c', WHEEL, wheel], { timeout: 20_000 })
      actor.own()
      const effects = { create: ['work/py/.venv/**'], remove: ['work/py/.venv/**'] }
      const pip = (type: string, name: string): Json =>
        actor.proposal(
          { type, manager: 'pip', packages: [name], cwd: app },
          { resources: RESOURCES, ...effects },
        )
      const installed = actor.act(pip('PACKAGE_INSTALL', wheel))
      expect(installed.json.promoted, JSON.stringify(installed.json)).toBe(true)
      const python = join(app, '.venv', 'bin', 'python')
      const says = (): string =>
        spawnSync(python, ['-c', 'import plain; print(plain.WORD)'], { encoding: 'utf8' }).stdout
      expect(says()).toBe('here\n')
      const removed = actor.act(pip('PACKAGE_REMOVE', 'plain'))
      expect(removed.json.promoted, JSON.stringify(removed.json)).toBe(true)
      expect(says()).toBe('')
      expect(actor.rollback(removed.json.action_id).json).toMatchObject({ verified: true })
      expect(says()).toBe('here\n')
    },
  )

  it('a manager that is not there, and an unknown one, are refused with a hint', () => {
    const absent = actor.propose(packages('PACKAGE_INSTALL', ['leftish'], EFFECTS, 'pnpm'), {
      env: { PATH: '/usr/bin:/bin' },
    })
    expect(absent.json.decision).toMatchObject({ code: 'sandbox.control_missing' })
    expect(actor.facts('evaluation_v1').at(-1).obstacles[0].detail).toContain('install it with')
    const unknown = actor.propose(packages('PACKAGE_INSTALL', ['leftish'], EFFECTS, 'cargo'))
    expect(unknown.json.decision).toMatchObject({ code: 'sandbox.control_missing' })
    const bare = actor.propose(packages('PACKAGE_INSTALL', ['leftish'], EFFECTS, 'pip'))
    expect(bare.json.decision.codes).toContain('result.failed')
  })

  it.each([
    '--global',
    '-g',
    '../elsewhere',
    'git+ssh://git@example.com/a.git',
    'github:a/b',
    'npm:other@1',
    'leftish@file:../x',
    'a b',
  ])('%s is no package', (name) => {
    const { json } = actor.propose(packages('PACKAGE_INSTALL', [name], EFFECTS))
    expect(json.decision.codes).toContain('operation.package')
  })

  it('files and addresses count as declared only inside the scope', () => {
    const outside = actor.propose(packages('PACKAGE_INSTALL', ['/etc/x.tgz'], EFFECTS))
    expect(outside.json.decision.codes).toContain('descriptor.operation_scope')
    const address = actor.propose(
      packages('PACKAGE_INSTALL', ['https://example.com/x.tgz'], EFFECTS),
    )
    expect(address.json.decision.codes).toContain('descriptor.operation_scope')
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})

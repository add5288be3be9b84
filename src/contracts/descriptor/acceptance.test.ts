/** The quick yes is never wrong: whatever it accepts, the checks find nothing in. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileStructure } from '../kernel/compile.ts'
import type { JsonObject } from '../kernel/contract.ts'
import { judge } from '../kernel/validate.ts'
import { acceptsDescriptor } from './acceptance.ts'
import { actionDescriptor } from './descriptor.ts'

const BASE = {
  descriptor_version: '1.0',
  action_id: '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11',
  created_by: 'ai',
  intent_summary: 'Tidy up.',
  action_type: 'COMMAND_EXECUTION',
  risk_level: 'MEDIUM',
  resources: { max_cpu_ms: 1, max_memory_mb: 1, max_disk_mb: 1, max_duration_ms: 1 },
  rollback: {
    supported: true,
    rollback_type: 'filesystem_snapshot',
    rollback_scope: 'declared_effects_only',
  },
  audit: { log: true, log_level: 'SUMMARY', retain_days: 0 },
}

const name = fc.constantFrom(
  'a',
  'b',
  'home',
  'proc',
  'sys',
  '.',
  '..',
  '',
  '.writ',
  '.local',
  '*',
  '**',
  '*.log',
  'a*',
  '*..',
  'a**',
  '.x',
  'x y',
  'é',
  '-a',
  'a'.repeat(300),
)
const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.constantFrom('home', 'a', 'b', 'tmp.d', '*.log'), { minLength: 1, maxLength: 4 })
      .map((names) => `/${names.join('/')}`),
  },
  { weight: 2, arbitrary: fc.array(name, { maxLength: 5 }).map((names) => `/${names.join('/')}`) },
  { weight: 1, arbitrary: fc.string().map((text) => `/${text}`) },
)
const paths = fc.array(path, { maxLength: 2 })
const moment = fc.oneof(
  { weight: 4, arbitrary: fc.constant('2026-11-15T08:00:00Z') },
  fc.constantFrom(
    '2026-11-15T08:00:00Z',
    '2026-02-28T23:59:59Z',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01 00:00:00Z',
    'x026-01-01T00:00:00Z',
  ),
  fc
    .tuple(fc.nat(99), fc.nat(99), fc.nat(99))
    .map(
      ([month, day, hour]) =>
        `2026-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`,
    ),
)

/** Mostly as the quick way likes it, so that it says yes often enough to be caught. */
const rarely = fc.integer({ min: 1, max: 20 }).map((roll) => roll === 7)
const mostly = rarely.map((odd) => !odd)

const descriptor = fc
  .record({
    created_at: moment,
    roots: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('/home/ann', '/srv/shop/x') },
        { weight: 1, arbitrary: path },
      ),
      { minLength: 1, maxLength: 2 },
    ),
    recursive: mostly,
    network: rarely,
    create: paths,
    modify: paths,
    remove: paths,
    exist: paths,
    effectsNetwork: rarely,
    systemState: rarely,
    sandboxed: mostly,
    allowNetwork: rarely,
    confirmed: fc.boolean(),
    reason: fc.constantFrom('', ' ', 'Deletes files', '\u3000', '\u200b'),
    below: mostly,
  })
  .map((choice) => {
    const [root = '/home/ann'] = choice.roots
    const inside = (list: readonly string[]) =>
      choice.below ? list.map((one) => `${root}${one}`) : list
    return {
      ...BASE,
      created_at: choice.created_at,
      scope: {
        filesystem: { paths: choice.roots, recursive: choice.recursive },
        network: {
          required: choice.network,
          ...(choice.network ? { hosts: ['example.com'] } : {}),
        },
        ui: { required: false },
      },
      preconditions: {
        paths_exist: inside(choice.exist),
        network_available: false,
        user_idle: false,
      },
      effects: {
        filesystem: {
          create: inside(choice.create),
          modify: inside(choice.modify),
          delete: inside(choice.remove),
        },
        network: choice.effectsNetwork,
        system_state_change: choice.systemState,
      },
      sandbox: {
        required: choice.sandboxed,
        sandbox_type: 'container',
        allow_network: choice.allowNetwork,
        max_runs: 1,
      },
      confirmation: { required: choice.confirmed, reason: choice.reason, cooldown_on_repeat: true },
    }
  })

const slow = { ...actionDescriptor, accepts: () => false }
const sound = compileStructure(actionDescriptor.schema)

describe('the quick yes for descriptors', () => {
  it('accepts nothing that a check would refuse', () => {
    let accepted = 0
    fc.assert(
      fc.property(descriptor, (document) => {
        if (!sound(document) || !acceptsDescriptor(document as JsonObject)) return
        accepted++
        expect(judge(slow, document).violations).toEqual([])
      }),
      { numRuns: 20_000 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it('leaves what it does not know to the checks', () => {
    const plain = {
      ...BASE,
      created_at: '2026-11-15T08:00:00Z',
      scope: {
        filesystem: { paths: ['/home/ann/shop'], recursive: true },
        network: { required: false },
        ui: { required: false },
      },
      preconditions: {
        paths_exist: ['/home/ann/shop'],
        network_available: false,
        user_idle: false,
      },
      effects: {
        filesystem: {
          create: [],
          modify: ['/home/ann/shop/a.txt'],
          delete: ['/home/ann/shop/tmp/*.log'],
        },
        network: false,
        system_state_change: false,
      },
      sandbox: { required: true, sandbox_type: 'container', allow_network: false, max_runs: 1 },
      confirmation: { required: true, reason: 'Deletes files', cooldown_on_repeat: true },
    }
    const changed = (create: string) => ({
      ...plain,
      effects: { ...plain.effects, filesystem: { ...plain.effects.filesystem, create: [create] } },
    })
    expect(acceptsDescriptor(plain as JsonObject)).toBe(true)
    for (const odd of [
      '/home/ann/shop/',
      '/home/ann/shop/.writ',
      '/home/ann/shop/../x',
      '/home/ann/shopping/x',
      '/home/ann/shop/**',
      '/home/ann/shop/.',
      '/home/ann/shop//a',
    ]) {
      expect(acceptsDescriptor(changed(odd) as JsonObject)).toBe(false)
    }
  })
})

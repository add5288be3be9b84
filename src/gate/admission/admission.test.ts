/** Admission: every refusal names its place. Which decision follows is in spec/vectors/gate. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { HostFacts, Proposal, RootFacts } from '../../contracts/index.ts'
import { DEFAULT_LISTS } from '../data/lists.ts'
import { type Admission, type AdmissionRules, admitProposal } from './admission.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8')) as {
  readonly bases: {
    readonly proposal: Proposal
    readonly composite: Proposal
    readonly network: Proposal
    readonly whole: { readonly host: HostFacts }
  }
}
const HOST = bases.whole.host
const ROOT = HOST.roots[0] as RootFacts
const SCOPE = '/descriptor/scope/filesystem/paths/0'

const PERSON: AdmissionRules = { isAmended: true, isActors: false, actors: [], home: '/home/ann' }

function admit(
  host: Partial<HostFacts>,
  proposal: Proposal = bases.proposal,
  rules = PERSON,
): Admission {
  return admitProposal(proposal, { ...HOST, ...host }, DEFAULT_LISTS, rules)
}

function root(more: Partial<RootFacts>): Partial<HostFacts> {
  return { roots: [{ ...ROOT, ...more }] }
}

describe('admission', () => {
  it('admits what is in order', () => {
    expect(admit({})).toEqual({
      refusals: [],
      permanent: false,
      risk: { declared: 'MEDIUM', floor: 'MEDIUM', effective: 'MEDIUM' },
    })
  })

  it.each<[string, Partial<HostFacts>, string, string, string]>([
    [
      'a used id',
      { seen_action_ids: [bases.proposal.descriptor.action_id] },
      'descriptor.action_id_reused',
      '/descriptor/action_id',
      'was used before',
    ],
    [
      'an old one',
      { now_ms: HOST.now_ms + 3_600_000 },
      'descriptor.created_at',
      '/descriptor/created_at',
      'is more than 3600 s old',
    ],
    [
      'one of the future',
      { now_ms: HOST.now_ms - 64_000 },
      'descriptor.created_at',
      '/descriptor/created_at',
      'lies more than 60 s in the future',
    ],
    [
      'too much memory',
      { ceilings: { ...HOST.ceilings, max_memory_mb: 255 } },
      'descriptor.ceiling',
      '/descriptor/resources/max_memory_mb',
      'more than this host grants',
    ],
    ['an unknown root', { roots: [] }, 'descriptor.host_access', SCOPE, 'could not find out'],
    ['a home', root({ real: '/home/ann' }), 'descriptor.host_access', SCOPE, 'is a home itself'],
    ['devices', root({ real: '/dev/shm' }), 'descriptor.host_access', SCOPE, 'the host: /dev'],
    ['the root', root({ real: '/' }), 'descriptor.host_access', SCOPE, 'the host: /'],
    ['a mount', root({ mounts: ['/m'] }), 'descriptor.host_access', SCOPE, 'holds a mount at `/m`'],
    ['a share', root({ filesystem: '9p' }), 'promote.unsupported_fs', SCOPE, 'filesystem `9p`'],
    ['no writing', root({ read_only: true }), 'promote.unsupported_fs', SCOPE, 'cannot be written'],
    ['a star', root({ real: '/data/a*' }), 'descriptor.wildcard', SCOPE, 'has a star'],
    [
      'the state of writ',
      { writ_places: ['/home/ann/shop'] },
      'descriptor.host_access',
      SCOPE,
      'belongs to writ',
    ],
    [
      'a home of another user',
      { homes: [{ path: '/home/ann', own: false }] },
      'descriptor.host_access',
      SCOPE,
      'the home of another user',
    ],
  ])('refuses %s', (_, host, code, path, words) => {
    const refusal = admit(host).refusals.find((one) => one.path === path)
    expect(refusal).toMatchObject({ code, path })
    expect(refusal?.message).toContain(words)
  })

  it('lets a scope hold what belongs to writ: the rehearsal sees what is done there', () => {
    expect(admit({ writ_places: ['/home/ann/shop/tmp/.writ'] }).refusals).toEqual([])
  })

  it('lets the own home lie inside the home of another user', () => {
    const homes = [
      { path: '/home', own: false },
      { path: '/home/ann', own: true },
    ]
    expect(admit({ homes }).refusals).toEqual([])
  })

  it('asks about the real place of every effect and every path of the operation', () => {
    const real_paths = [{ declared: '/home/ann/shop/tmp', real: '/proc/self' }]
    const places = admit({ real_paths, roots: [] }).refusals.map(({ path }) => path)
    expect(places).toContain('/descriptor/effects/filesystem/delete/0')
    expect(places).toContain('/operation/cwd')
  })

  it('names the place of a child', () => {
    const { refusals } = admit({ roots: [] }, bases.composite)
    expect(refusals.map(({ path }) => path)).toEqual([SCOPE, `/children/0${SCOPE}`])
  })

  it('takes the higher risk', () => {
    const modest = {
      ...bases.network,
      descriptor: { ...bases.network.descriptor, risk_level: 'LOW' as const },
    }
    expect(admit({}, modest).risk).toEqual({ declared: 'LOW', floor: 'HIGH', effective: 'HIGH' })
  })

  it('is for good only where the act reaches for the host, not where the machine is unfit', () => {
    expect(admit(root({ real: '/home/ann' })).permanent).toBe(true)
    expect(admit(root({ mounts: ['/m'] })).permanent).toBe(false)
    expect(admit(root({ filesystem: 'nfs' })).permanent).toBe(false)
    expect(admit({ roots: [] }).permanent).toBe(false)
  })
})

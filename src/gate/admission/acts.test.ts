/** The pure parts of single kinds of acts: requests, their history, compensations, packages. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Operation, Proposal, RequestFact } from '../../contracts/index.ts'
import { packageReach, proposalContract, validate } from '../../contracts/index.ts'
import { composeCompensation, undoingsOf } from '../decision/compensation.ts'
import { RequestHistory, wasSent } from '../standing/request-history.ts'
import { actRefusals } from './act-admission.ts'
import { composeRequests, heldRequests, packageCommand } from './operation-command.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8')) as {
  readonly bases: { readonly network: Proposal; readonly composite: Proposal }
}
const { bases: facts } = JSON.parse(
  readFileSync('spec/vectors/contracts/request.json', 'utf8'),
) as { readonly bases: { readonly sending: RequestFact; readonly answered: RequestFact } }

type Request = Extract<Operation, { type: 'NETWORK_REQUEST' }>

function request(more: Partial<Request>): Proposal {
  const operation = { ...(bases.network.operation as Request), ...more }
  return { ...bases.network, operation }
}

describe('a held request', () => {
  it('is shown without its secrets, and its digest covers all that would leave', () => {
    const url = 'https://example.org/a?key=secret#part'
    const proposal = request({ url, headers: { B: 'hush', A: 'x' }, body: 'äö' })
    const [held] = heldRequests(proposal)
    expect(held).toMatchObject({
      url: 'https://example.org/a',
      has_query: true,
      header_names: ['A', 'B'],
      body_bytes: 4,
    })
    expect(JSON.stringify(held)).not.toMatch(/secret|hush|äö/)
  })

  it('has another digest when anything of it differs', () => {
    const one = { url: 'https://example.org/a', headers: { A: 'x' }, body: 'y' } as const
    const others: Partial<Request>[] = [
      { url: 'https://example.org/a?b' },
      { url: 'https://example.org/b' },
      { headers: { A: 'z' } },
      { headers: { A: 'x', B: '' } },
      { body: 'z' },
      { method: 'PUT' },
    ]
    const digests = [{}, ...others].map(
      (more) => composeRequests(request({ ...one, ...more }))[0]?.held.digest,
    )
    expect(new Set(digests).size).toBe(others.length + 1)
  })
})

describe('what became of requests', () => {
  const { sending, answered } = facts

  it('is unsettled until something ends it, and the first end counts', () => {
    const history = new RequestHistory()
    history.take(sending)
    expect(history.unsettled()).toHaveLength(1)
    history.take({ ...sending, state: 'UNKNOWN', code: 'request.unknown' })
    history.take(answered)
    expect(history.unsettled()).toEqual([])
    expect(history.of(sending.action_id.toUpperCase())).toMatchObject([
      { ended: { state: 'UNKNOWN' } },
    ])
  })

  it('is unsaved from its answer until it is kept or given up', () => {
    const history = new RequestHistory()
    const save = { path: '/a/b', save_id: '0f9f3a52-6a0b-4f63-8a0e-5d1f6b7c8d90' }
    history.take({ ...sending, save })
    expect(history.unsaved()).toEqual([])
    history.take({ ...answered, save })
    expect(history.unsaved()).toHaveLength(1)
    history.take({ ...answered, save, state: 'NOT_SAVED', code: 'request.save_to' })
    expect(history.unsaved()).toEqual([])
  })

  it.each<[string, Partial<RequestFact> | null, boolean]>([
    ['under way', null, true],
    ['answered', { state: 'ANSWERED' }, true],
    ['unknown', { state: 'UNKNOWN' }, true],
    ['refused by the other side', { state: 'FAILED', answer: { status: 500, bytes: 0 } }, true],
    ['never connected', { state: 'FAILED' }, false],
  ])('%s: sent is %s', (_name, ended, wanted) => {
    const end = ended === null ? null : { ...sending, ...ended }
    expect(wasSent({ begun: sending, ended: end, kept: null })).toBe(wanted)
  })
})

describe('a compensation', () => {
  const undo: Request = { type: 'NETWORK_REQUEST', method: 'DELETE', url: 'https://example.org/a' }

  it('is needed for what was sent only, and follows its contract', () => {
    const proposal = request({ compensation: undo })
    const step = proposal.descriptor.action_id
    expect(undoingsOf(proposal, [])).toEqual([])
    const begun = { ...facts.sending, step_id: step }
    const [undoing] = undoingsOf(proposal, [{ begun, ended: null, kept: null }])
    expect(undoing).toMatchObject({ stepId: step, compensation: undo })
    if (undoing === undefined) return
    const composed = composeCompensation(undoing, undo, {
      actionId: '0f9f3a52-6a0b-4f63-8a0e-5d1f6b7c8d90',
      createdAt: '2026-11-15T08:00:00Z',
    })
    expect(validate(proposalContract, composed).violations).toEqual([])
    expect(composed.descriptor.scope).toEqual(proposal.descriptor.scope)
  })

  it('of something without one is none', () => {
    const proposal = request({})
    const begun = { ...facts.sending, step_id: proposal.descriptor.action_id }
    expect(undoingsOf(proposal, [{ begun, ended: null, kept: null }])).toMatchObject([
      { compensation: null },
    ])
  })
})

describe('packages', () => {
  it.each([
    ['npm', 'left-pad', 'name'],
    ['npm', '@scope/x@^1.0.0', 'name'],
    ['npm', 'x@latest', 'name'],
    ['npm', 'x@>=1.0.0 <2.0.0', 'name'],
    ['npm', '/a/x.tgz', 'path'],
    ['npm', 'file:/a/x.tgz', 'path'],
    ['npm', 'https://example.org/x.tgz', 'address'],
    ['pip', 'requests[socks]>=2,<3', 'name'],
    ['npm', '--global', null],
    ['npm', '-g', null],
    ['npm', './x', null],
    ['npm', '../x', null],
    ['npm', 'git+https://example.com/x.git', null],
    ['npm', 'github:a/b', null],
    ['npm', 'a/b', null],
    ['npm', 'x@npm:y', null],
    ['npm', 'x@file:../y', null],
    ['npm', 'x@https://example.org/y.tgz', null],
    ['pip', 'x @ https://example.org/y.whl', null],
    ['pip', '-r', null],
    ['pip', 'x; python_version < "3"', null],
  ])('%s %s is %s', (manager, text, kind) => {
    expect(packageReach(manager, text)?.kind ?? null).toBe(kind)
  })

  it('come after the end of options, no matter what they are called', () => {
    fc.assert(
      fc.property(fc.constantFrom('npm', 'pip', 'pnpm', 'yarn'), fc.string(), (manager, name) => {
        const type = 'PACKAGE_INSTALL' as const
        const operation = { type, manager, packages: [name], cwd: '/a/b' }
        const argv = packageCommand(operation, false)?.argv ?? []
        expect(argv.slice(-2)).toEqual(['--', name])
      }),
    )
    expect(packageReach('npm', `x@${'1 '.repeat(1_000_000)}`)).toBe(null)
  })

  it('a manager with a strange name is none', () => {
    for (const manager of ['constructor', '__proto__', 'toString']) {
      const type = 'PACKAGE_INSTALL' as const
      const operation = { type, manager, packages: ['x'], cwd: '/a' }
      expect(packageCommand(operation, true)).toBe(null)
    }
  })
})

describe('what acts have to declare', () => {
  it('where an answer is kept', () => {
    const kept = '/home/ann/shop/tmp/answer.json'
    const proposal = request({ save_to: kept })
    expect(actRefusals(proposal)).toMatchObject([
      { code: 'descriptor.effects_omitted', path: '/operation/save_to' },
    ])
    const { descriptor } = proposal
    const filesystem = { ...descriptor.effects.filesystem, create: [kept] }
    const effects = { ...descriptor.effects, filesystem }
    expect(actRefusals({ ...proposal, descriptor: { ...descriptor, effects } })).toEqual([])
  })
})

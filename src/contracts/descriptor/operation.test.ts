/** The operation contract: its types, its reach, secrets in messages, and hostile sizes. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { validate } from '../kernel/validate.ts'
import { ACTION_KINDS } from './descriptor.ts'
import { modeBits, OPERATION_TYPES, operationContract } from './operation.ts'
import { operationAddresses, operationChain, operationPaths } from './operation-places.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/contracts/operation.json', 'utf8'))

function codes(document: unknown): readonly string[] {
  return validate(operationContract, document).violations.map(({ code, path }) => `${code} ${path}`)
}

describe('the operation', () => {
  it('has a type for every action but the composite', () => {
    const wanted = ACTION_KINDS.filter((kind) => kind !== 'MULTI_STEP_COMPOSITE')
    expect([...OPERATION_TYPES].sort()).toEqual([...wanted].sort())
  })

  it.each([
    ['read', ['/path /home/ann/shop/package.json'], []],
    ['delete', ['/paths/0 /home/ann/shop/tmp/a.log', '/paths/1 /home/ann/shop/tmp/b.log'], []],
    ['move', ['/from /home/ann/shop/a', '/to /home/ann/shop/b'], []],
    ['command', ['/cwd /home/ann/shop/tmp'], []],
    ['install', ['/cwd /home/ann/shop'], []],
    ['config', ['/path /home/ann/shop/config.json'], []],
    [
      'request',
      ['/save_to /home/ann/shop/answer.json'],
      ['/url https://api.example.com/v1/orders?dry=1'],
    ],
    [
      'ui',
      ['/steps/7/save_to /home/ann/shop/cart.png'],
      ['/start_url https://shop.example.com/login', '/steps/4/url https://shop.example.com/cart'],
    ],
  ])('%s reaches where it says', (base, paths, addresses) => {
    const text = ({ place, text: reached }: { place: string; text: string }): string =>
      `${place} ${reached}`
    expect(operationPaths(bases[base]).map(text)).toEqual(paths)
    expect(operationAddresses(bases[base]).map(text)).toEqual(addresses)
  })

  it('reaches nowhere when it is broken', () => {
    for (const broken of [null, [], {}, { type: 'toString', path: '/a' }, { type: 7 }]) {
      expect(operationPaths(broken)).toEqual([])
      expect(operationAddresses(broken)).toEqual([])
    }
  })

  it('is chained to its compensations', () => {
    const chain = operationChain({ type: 'A', compensation: { type: 'B', compensation: 7 } })
    expect(chain.map(({ place }) => place)).toEqual(['', '/compensation'])
  })

  it('reads a mode in both forms', () => {
    expect(modeBits('0644')).toBe(0o644)
    expect(modeBits('755')).toBe(0o755)
    expect(modeBits(420)).toBe(0o644)
  })

  it('never shows what may be secret', () => {
    const secret = 'hunter2'
    const documents = [
      { ...bases.command, env: { TOKEN: `${secret}\0` }, stdin: [secret] },
      { ...bases.request, headers: { A: `${secret}\n` }, body: [secret] },
      { ...bases.request, url: `ftp://x/?token=${secret}` },
      { ...bases.request, url: `https://ann:${secret}@example.com/` },
      { ...bases.write, content: [secret], content_base64: secret },
      { ...bases.ui, steps: [{ action: 'fill', selector: '#a', content: { secret } }] },
    ]
    for (const document of documents) {
      const { valid, violations } = validate(operationContract, document)
      expect(valid).toBe(false)
      expect(JSON.stringify(violations)).not.toContain(secret)
    }
  })
})

describe('hostile operations', () => {
  it.each([
    ['paths', { type: 'FILE_DELETE', paths: Array.from({ length: 99_000 }, () => '/a/*') }, 99_000],
    ['a package of megabytes', { ...bases.install, packages: ['x'.repeat(4_000_000)] }, 0],
    ['a blank package', { ...bases.install, packages: [' '.repeat(4_000_000)] }, 1],
    ['an address of megabytes', { ...bases.request, url: `http://${'a.'.repeat(2e6)}` }, 1],
    ['content of megabytes', { ...bases.write, content: 'x'.repeat(8_000_000) }, 0],
    [
      'key paths',
      {
        ...bases.config,
        set: Object.fromEntries(
          Array.from({ length: 8_000 }, (_, n) => [`${'a.'.repeat(400)}${n}`, 1]),
        ),
      },
      0,
    ],
    [
      'steps',
      { ...bases.ui, steps: Array.from({ length: 30_000 }, () => ({ action: 'x' })) },
      30_000,
    ],
  ])('%s', (_, document, violations) => {
    expect(codes(document)).toHaveLength(violations)
  })

  it('of bytes', () => {
    const { content: _, ...write } = bases.write
    expect(codes({ ...write, content_base64: 'AAAA'.repeat(2_000_000) })).toEqual([])
    expect(codes({ ...write, content_base64: `${'AAAA'.repeat(2_000_000)}=` })).toEqual([
      'operation.base64 /content_base64',
    ])
  })
})

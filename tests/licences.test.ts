/**
 * What is shipped, and under which licences: packages that npm installs with writ, and packages that the
 * build puts into its own files. `docs/licences.md` lists them; a licence that is not allowed here is a
 * question for a person.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { type Bill, type Component, idOf, shippedBill } from '../tools/sbom.mjs'

const PAGE = 'docs/licences.md'
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
])

/** Of several licences to choose from, one is enough. */
function isAllowed(licence: string): boolean {
  const choices = licence.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return choices.some((one) => ALLOWED.has(one))
}

function licenceOf({ licenses = [] }: Component): string {
  const [{ license, expression } = {}] = licenses
  return license?.id ?? expression ?? 'none'
}

let bill: Bill
let installed: ReadonlySet<string>
let bundled: ReadonlySet<string>

beforeAll(async () => {
  const shipped = await shippedBill()
  bill = shipped.bill
  installed = shipped.installed
  bundled = shipped.bundled
}, 400_000)

it('the bill of materials is CycloneDX, and names what is installed and what is bundled', () => {
  expect([bill.bomFormat, bill.specVersion]).toEqual(['CycloneDX', expect.stringMatching(/^1\./)])
  const ids = bill.components.map(idOf)
  expect(new Set(ids)).toEqual(new Set([...installed, ...bundled]))
  expect(new Set(ids).size).toBe(ids.length)
  const refs = new Set(bill.dependencies.map(({ ref }) => ref))
  expect(
    bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((one) => !refs.has(one)),
  ).toEqual([])
})

it('has the packages of every script, and of the console', () => {
  const names = bill.components.map(({ name }) => name)
  const some = ['typebox', 'fastify', 'pino', 'mqtt', 'graphile-worker', 'react-dom', 'react-aria']
  expect(names).toEqual(expect.arrayContaining(some))
  expect(names).not.toContain('vitest')
})

it('nothing is shipped under another licence than those allowed', () => {
  const others = bill.components.filter((one) => !isAllowed(licenceOf(one)))
  expect(others.map((one) => `${idOf(one)}: ${licenceOf(one)}`)).toEqual([])
})

it('docs/licences.md lists all of them', () => {
  const rows = [...bill.components]
    .sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
    .map((one) => {
      const how = [
        ...(bundled.has(idOf(one)) ? ['bundled'] : []),
        ...(installed.has(idOf(one)) ? ['installed'] : []),
      ]
      return `| ${one.name} | ${one.version} | ${licenceOf(one)} | ${how.join(', ')} |`
    })
  const page = `# Licences

writ is MIT. It ships with these packages: *installed* by npm next to it, or *bundled* by the build into its own files, the console among them. \`npm run sbom\` in a checkout prints the bill of materials of both as CycloneDX. Made by \`WRIT_RECORD=1 npx vitest run tests/licences.test.ts\`.

| package | version | licence | how |
|---|---|---|---|
${rows.join('\n')}
`
  if (process.env['WRIT_RECORD'] === '1') writeFileSync(PAGE, page)
  expect(readFileSync(PAGE, 'utf8')).toBe(page)
})

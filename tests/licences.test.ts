/**
 * What is shipped, and under which licences: packages that npm installs with writ, and packages that the
 * build puts into its own files. `docs/licences.md` lists them; a licence that is not allowed here is a
 * question for a person.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'

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

interface Shipped {
  readonly version: string
  readonly licence: string
  readonly how: Set<'installed' | 'bundled'>
}

interface Component {
  readonly name: string
  readonly version: string
  readonly licenses?: readonly { readonly license?: { readonly id?: string } }[]
}

const shipped = new Map<string, Shipped>()
let bill: { readonly bomFormat: string; readonly specVersion: string; components: Component[] }

beforeAll(async () => {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']
  bill = JSON.parse(
    execFileSync('npm', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  for (const { name } of bill.components) add(name, 'installed')
  for (const name of await bundled()) add(name, 'bundled')
}, 180_000)

function add(name: string, how: 'installed' | 'bundled'): void {
  const text = readFileSync(join('node_modules', name, 'package.json'), 'utf8')
  const { version, license } = JSON.parse(text)
  const known = shipped.get(name) ?? { version, licence: String(license), how: new Set() }
  known.how.add(how)
  shipped.set(name, known)
}

const ENTRIES = ['main', 'exec-main', 'run-main', 'hook-main', 'serve-main'].map(
  (name) => `src/cli/${name}.ts`,
)
const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\//

/** What esbuild takes into the scripts of the command line and the service. */
async function bundled(): Promise<ReadonlySet<string>> {
  const { metafile } = await build({
    entryPoints: ENTRIES,
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    external: ['better-sqlite3', 'pg-native'],
  })
  const names = Object.keys(metafile.inputs).flatMap((path) => PACKAGE.exec(path)?.[1] ?? [])
  return new Set(names)
}

it('npm makes a CycloneDX bill of materials of what is installed, with a licence each', () => {
  expect([bill.bomFormat, bill.specVersion]).toEqual(['CycloneDX', expect.stringMatching(/^1\./)])
  expect(bill.components.map(({ name }) => name)).toContain('typebox')
  const without = bill.components.filter(({ licenses = [] }) => licenses.length === 0)
  expect(without.map(({ name }) => name)).toEqual([])
})

it('nothing is shipped under another licence than those allowed', () => {
  // The service holds these without installing them.
  expect([...shipped.keys()]).toEqual(expect.arrayContaining(['fastify', 'typebox', 'pino']))
  const others = [...shipped].filter(([, { licence }]) => !isAllowed(licence))
  expect(others.map(([name, { licence }]) => `${name}: ${licence}`)).toEqual([])
})

it('docs/licences.md lists all of them', () => {
  const rows = [...shipped]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([name, { version, licence, how }]) =>
        `| ${name} | ${version} | ${licence} | ${[...how].sort().join(', ')} |`,
    )
  const page = `# Licences

writ is MIT. It ships with these packages: *installed* by npm next to it, or *bundled* into its own files by the build. \`npm sbom --sbom-format cyclonedx --omit dev\` prints the bill of materials of the installed ones as CycloneDX. Made by \`WRIT_RECORD=1 npx vitest run tests/licences.test.ts\`.

| package | version | licence | how |
|---|---|---|---|
${rows.join('\n')}
`
  if (process.env['WRIT_RECORD'] === '1') writeFileSync(PAGE, page)
  expect(readFileSync(PAGE, 'utf8')).toBe(page)
})

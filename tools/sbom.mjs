/**
 * The bill of materials of what is shipped, as CycloneDX: packages that npm installs with writ, and
 * packages that the build puts into its own files. `npm run sbom` prints it.
 *
 * Versions and licences are those of package-lock.json, from which everything is installed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { run } from './setup.mjs'

const MAINS = /^(?:[a-z]+-)?main\.ts$/
const PAGES = ['src/console/main.tsx', 'src/console/first-look.tsx']
/** The folder of the package that a file is of. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+\//

/** The bill, and which of its packages npm installs and the build bundles, as `NAME@VERSION`. */
export async function shippedBill() {
  const installed = new Set(billOf('--omit', 'dev').components.map(idOf))
  const bundled = await bundledPackages()
  const whole = billOf()
  const isShipped = (one) => installed.has(idOf(one)) || bundled.has(idOf(one))
  const components = whole.components.filter(isShipped)
  const kept = new Set([whole.metadata.component, ...components].map((one) => one['bom-ref']))
  const dependencies = whole.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }))
  return { bill: { ...whole, components, dependencies }, installed, bundled }
}

export function idOf({ name, version }) {
  return `${name}@${version}`
}

function billOf(...words) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', ...words]
  // Where it says production, npm leaves out development packages unasked; a build of pages sets it so.
  const env = { ...process.env, NODE_ENV: 'development' }
  const stdio = ['ignore', 'pipe', 'ignore']
  const { stdout } = run('npm', args, { env, stdio, encoding: 'utf8' })
  return JSON.parse(stdout)
}

/** What esbuild takes into the scripts of the command line and the service, and into the console. */
async function bundledPackages() {
  const settings = {
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    logLevel: 'silent',
  }
  const mains = readdirSync('src/cli').filter((name) => MAINS.test(name))
  const scripts = await build({
    ...settings,
    entryPoints: mains.map((name) => `src/cli/${name}`),
    platform: 'node',
    external: ['better-sqlite3', 'pg-native'],
  })
  const pages = await build({
    ...settings,
    entryPoints: PAGES,
    platform: 'browser',
    jsx: 'automatic',
    loader: { '.svg': 'file' },
  })
  const inputs = [scripts, pages].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  const folders = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))
  const documents = [...folders].map((folder) => readFileSync(`${folder}package.json`, 'utf8'))
  return new Set(documents.map((text) => idOf(JSON.parse(text))))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { bill } = await shippedBill()
  process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)
}

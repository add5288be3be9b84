/**
 * Builds dist/ with esbuild, which bundles and changes nothing else:
 *
 * - the door of every room (`src/<room>/index.ts`) as an ES module, with shared chunks: the library;
 * - worker threads and the programs that run inside a sandbox (`*.worker.ts`, `*.program.ts`), each as
 *   one file, because a thread should load little and a sandbox sees nothing else of writ;
 * - the command line as one script, `dist/cli/program.cjs`, and `writ exec`, which people wait for
 *   most, as another, `dist/cli/exec.cjs`, sessions as a third, `dist/cli/run.cjs`, and what hooks start
 *   as a fourth, `dist/cli/hook.cjs`; next to each the code that V8 compiled for it
 *   (`tools/warm.mjs`): without that code every command would take about 80 ms longer;
 * - `writ serve` and `writ mcp` as a fifth script, `dist/cli/serve.cjs`, which holds their servers;
 * - `writ dispatch` and `writ device run` as a sixth, `dist/cli/field.cjs`, which holds the MQTT client;
 * - `writ worker` as a seventh, `dist/cli/worker.cjs`, which holds the engine of jobs;
 * - the web console as static files, `dist/console`, by Vite;
 * - type declarations and manual pages.
 *
 * Does nothing if no input has changed.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { ROOT, run, stop } from './setup.mjs'

/** Packages that are bundled, because loading them file by file takes hundreds of milliseconds. */
const BUNDLED = new Set([
  '@dagrejs/dagre',
  '@dagrejs/graphlib',
  '@noble/curves',
  '@noble/ed25519',
  '@noble/hashes',
  'croner',
  'diff',
  'toml-eslint-parser',
  'typebox',
  'yaml',
])
/** Packages that the scripts of service and worker alone hold; people need not install them. */
const SERVED = [
  '@modelcontextprotocol/server',
  '@simplewebauthn/server',
  'fastify',
  'pino',
  'prom-client',
]
/** The same for the script of dispatch and devices. */
const FIELD = ['mqtt']

const WORKER = ['graphile-worker']
const STAMP = join(ROOT, 'dist', '.stamp')
const WARMING_MS = 120_000

export async function build() {
  const sources = sourceFiles()
  const stamp = fingerprint(sources)
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return
  const fresh = join(ROOT, '.cache', `dist-${process.pid}`)
  rmSync(fresh, { recursive: true, force: true })
  await bundle(sources, fresh)
  await bundleConsole(fresh)
  // A machine without sandboxes can run the program without the compiled code.
  for (const script of ['program', 'exec', 'run', 'hook']) {
    const words = ['tools/warm.mjs', fresh, script]
    run(process.execPath, words, { stdio: 'ignore', timeout: WARMING_MS })
  }
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc')
  const types = ['-p', 'tsconfig.types.json', '--outDir', join(fresh, 'types')]
  if (run('node', [compiler, ...types]).status !== 0)
    stop('the type declarations could not be made')
  writeFileSync(join(fresh, '.stamp'), stamp)
  replace(fresh)
  const pages = ['bin/writ.cjs', 'man', '--out', join('dist', 'man')]
  if (run(process.execPath, pages, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
    stop('the manual pages could not be made')
}

async function bundle(sources, outdir) {
  const { build: esbuild } = await import('esbuild')
  const settings = settingsFor(outdir)
  const doors = sources.filter((file) => /^src\/(?:[^/]+\/)?index\.ts$/.test(file))
  const alone = sources.filter((file) => /\.(?:worker|program)\.ts$/.test(file))
  await esbuild({ ...settings, entryPoints: doors, splitting: true })
  await esbuild({ ...settings, entryPoints: alone })
  await esbuild({
    ...settings,
    entryPoints: {
      'cli/program': 'src/cli/main.ts',
      'cli/exec': 'src/cli/exec-main.ts',
      'cli/run': 'src/cli/run-main.ts',
      'cli/hook': 'src/cli/hook-main.ts',
    },
    ...script,
  })
  await bundleScript(settings, 'serve', SERVED)
  await bundleScript(settings, 'field', FIELD)
  await bundleScript(settings, 'worker', WORKER)
}

/** A script of its own, with the packages that no other file holds. */
async function bundleScript(settings, name, packages) {
  const { build: esbuild } = await import('esbuild')
  const external = settings.external.filter((one) => !packages.includes(one))
  const entryPoints = { [`cli/${name}`]: `src/cli/${name}-main.ts` }
  await esbuild({ ...settings, ...script, entryPoints, external })
}

/** Names of files have their digest, so that browsers keep them; nothing is loaded from elsewhere. */
async function bundleConsole(fresh) {
  const { build: vite } = await import('vite')
  const { default: react } = await import('@vitejs/plugin-react')
  await vite({
    configFile: false,
    root: join(ROOT, 'src', 'console'),
    plugins: [react(), await plainRoutes(fresh), preloadConsole()],
    logLevel: 'warn',
    build: {
      outDir: join(fresh, 'console'),
      emptyOutDir: true,
      target: 'es2023',
      // The strict rules of the pages allow neither inline scripts nor data addresses for them.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 900,
    },
  })
  packFiles(join(fresh, 'console'))
}

/** Browsers get them packed, and the service packs nothing. */
function packFiles(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!/\.(?:js|css)$/.test(name)) continue
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

/** The schemas of the routes are for the service: a page needs only where each route is. */
async function plainRoutes(fresh) {
  const { ROUTES } = await import(pathToFileURL(join(fresh, 'api', 'index.js')).href)
  const rows = Object.entries(ROUTES).map(([name, { method, path }]) => [name, { method, path }])
  const text = `export const ROUTES = ${JSON.stringify(Object.fromEntries(rows))}`
  return {
    name: 'plain-routes',
    load: (id) => (id.endsWith('src/api/routes/routes.ts') ? text : null),
  }
}

/**
 * The first script loads the console; the page names its files too, so that all of them come at once. They
 * are not compiled before they are used: the question of an address is drawn first.
 */
function preloadConsole() {
  const filesOf = (bundle, name) => [
    name,
    ...bundle[name].imports.flatMap((one) => filesOf(bundle, one)),
  ]
  const transformIndexHtml = (_page, { bundle }) => {
    const files = Object.values(bundle)
    const main = files.find((one) => one.facadeModuleId?.endsWith('/main.tsx'))
    const first = new Set(filesOf(bundle, files.find((one) => one.isEntry).fileName))
    const rest = filesOf(bundle, main.fileName).filter((name) => !first.has(name))
    return [...new Set(rest)].map((name) => ({
      tag: 'link',
      attrs: { rel: 'preload', as: 'script', crossorigin: true, href: `/${name}` },
      injectTo: 'head',
    }))
  }
  return {
    name: 'preload-console',
    transformIndexHtml: { order: 'post', handler: transformIndexHtml },
  }
}

/** How a script is made that `bin/writ.cjs` runs. */
const script = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  minify: true,
  // A script has no `import.meta`, and code that V8 cached cannot call `import()`.
  banner: { js: "const programUrl = require('node:url').pathToFileURL(__filename).href" },
  define: { 'import.meta.url': 'programUrl' },
  supported: { 'dynamic-import': false },
}

function settingsFor(outdir) {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return {
    absWorkingDir: ROOT,
    outbase: 'src',
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [
      ...Object.keys(dependencies).filter((name) => !BUNDLED.has(name)),
      ...SERVED,
      ...FIELD,
      ...WORKER,
    ],
    // The package's CommonJS files cannot be bundled into a module; these are its ES modules.
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    legalComments: 'none',
    logLevel: 'warning',
  }
}

/** Renames the new directory into place, so that a program that starts meanwhile finds the old or the new files. */
function replace(fresh) {
  const target = join(ROOT, 'dist')
  const old = join(ROOT, '.cache', `old-${process.pid}`)
  if (existsSync(target)) renameSync(target, old)
  renameSync(fresh, target)
  rmSync(old, { recursive: true, force: true })
}

function sourceFiles() {
  return readdirSync(join(ROOT, 'src'), { recursive: true })
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .filter((file) => /\.(?:ts|tsx|css|html|svg)$/.test(file) && !file.endsWith('.test.ts'))
    .sort()
}

/** Hashes every input, and the version of Node, whose compiled code no other version can use. */
function fingerprint(sources) {
  const hash = createHash('sha256').update(process.version)
  const others = ['package.json', 'package-lock.json', 'tsconfig.json', 'bin/writ.cjs']
  for (const file of [...sources, ...others, 'tools/build.mjs', 'tools/warm.mjs']) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

/** `npm test` has built by then: its test files need not read all sources again, each for itself. */
const isBuilt = process.env.WRIT_IS_BUILT === '1' && existsSync(STAMP)

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href && !isBuilt) await build()

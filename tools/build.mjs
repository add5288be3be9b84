/**
 * Builds dist/: every room's door and worker entries as bundled ES modules with shared chunks, the
 * command line as scripts with the code that V8 made of it, and type declarations. Skipped when
 * nothing that goes in has changed.
 *
 * Pure packages are bundled: loading them file by file takes hundreds of milliseconds.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { doors } from './doors.mjs'
import { parts } from './parts.mjs'
import { ROOT, run, stop } from './setup.mjs'
import { DOCUMENT, structures } from './structures.mjs'

const BUNDLED = new Set([
  '@dagrejs/dagre',
  '@dagrejs/graphlib',
  '@noble/ed25519',
  '@noble/hashes',
  'diff',
  'toml-eslint-parser',
  'typebox',
  'yaml',
])
const STAMP = join(ROOT, 'dist', '.stamp')
const WARMING_MS = 120_000

export async function build() {
  const sources = sourceFiles()
  const stamp = fingerprint(sources)
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return
  const fresh = join(ROOT, '.cache', `dist-${process.pid}`)
  rmSync(fresh, { recursive: true, force: true })
  await bundle(sources.filter(isEntry), sources, fresh)
  await bundlePrograms(sources, fresh)
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

/** The old files are there until the new ones are: a program that starts meanwhile finds either. */
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
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort()
}

function isEntry(file) {
  return /^src\/(?:[^/]+\/)?index\.ts$|\.(?:worker|program)\.ts$/.test(file)
}

/**
 * Threads are bundled apart: a chunk shared with the rest would load the rest in every thread. Programs
 * that run inside a sandbox are one file each, since nothing else of writ is visible there.
 */
async function bundle(entryPoints, sources, outdir) {
  const { build: esbuild } = await import('esbuild')
  const isThread = (file) => /\.(?:worker|program)\.ts$/.test(file)
  const common = bundling(outdir, builtins(sources))
  await esbuild({
    ...common,
    entryPoints: entryPoints.filter((file) => !isThread(file)),
    splitting: true,
  })
  await esbuild({ ...common, entryPoints: entryPoints.filter(isThread) })
}

/**
 * What stands around the program: `import.meta.url` is not to be had in a script, and the clock for
 * performance brings ten modules along.
 */
const BEGINNING = `(function (module, exports, require, programUrl, shelf, second) {
function elapsedMs() { const [seconds, nanoseconds] = process.hrtime(); return seconds * 1e3 + nanoseconds / 1e6 }`

/** Modules of Node's that most commands do not need; nothing but functions and classes is taken of them. */
const SELDOM = new Set([
  'node:dns/promises',
  'node:fs/promises',
  'node:http',
  'node:readline',
  'node:tls',
  'node:tty',
  'node:worker_threads',
])

/**
 * Scripts and no modules: linking modules takes as long as all the rest, and only of a script can the
 * compiled code be kept. `exec` is the command that people wait for: scripts of its own have nothing
 * else in them, since what is not needed is read at every start too. The second of them is read while
 * the sandbox starts that the first has begun, the third by the few runs that come to it.
 */
async function bundlePrograms(sources, outdir) {
  const { build: esbuild } = await import('esbuild')
  const ahead = await structures(bundling(outdir, builtins(sources)))
  const main = 'src/cli/main.ts'
  const whole = programSettings(sources, outdir, [ahead])
  await writeProgram(esbuild, 'program', { ...whole, entryPoints: [main] })
  const only = programSettings(sources, outdir, [ahead, alone('exec')])
  const later = 'src/cli/gate/exec-run.ts'
  const names = { second: 'exec-run', third: 'exec-rest' }
  const made = await parts(esbuild, only, { main, later, ...names, isSeldom })
  await writeProgram(esbuild, 'exec', made.first)
  await writeProgram(esbuild, names.second, made.second)
  await writeProgram(esbuild, names.third, made.third)
  // What cannot be run here can be run without the code that would have been kept.
  run(process.execPath, ['tools/warm.mjs', outdir], { stdio: 'ignore', timeout: WARMING_MS })
}

/** The documents that every run of `exec` reads or records. */
const USUAL = new Set([
  'decision_v1',
  'evaluation_v1',
  'law_file_v1',
  'promotion_v1',
  'proposal_v1',
  'record',
  'sandbox_result_v1',
])

/** What an ordinary `exec` comes by without. */
function isSeldom({ kind, path }) {
  if (kind === 'dynamic-import') return /^\.|^yaml$/.test(path)
  const [, name] = DOCUMENT.exec(path) ?? []
  return kind === 'require-call' && name !== undefined && !USUAL.has(name)
}

function programSettings(sources, outdir, plugins) {
  const common = bundling(outdir, builtins(sources, SELDOM), ...plugins, doors())
  return {
    ...common,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    // Of kept code V8 forgets who imports: what is seldom needed is required instead.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'programUrl', 'performance.now': 'elapsedMs' },
    banner: { js: BEGINNING },
    footer: { js: '})' },
    minify: true,
    charset: 'ascii',
  }
}

async function writeProgram(esbuild, name, { outdir, outbase: _, ...settings }) {
  const file = join(outdir, 'cli', `${name}.cjs`)
  await esbuild({ ...settings, outfile: file })
  // It is read as one byte a character; what the bundler leaves of others stands in regular expressions.
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/[^\0-\x7f]/g, escaped))
}

/** Leaves out every command but one; who starts the program takes another one for those. */
function alone(command) {
  return {
    name: 'alone',
    setup(build) {
      build.onResolve({ filter: /^\.\/commands\/.*\.ts$/ }, ({ kind, path }) =>
        kind === 'dynamic-import' && path !== `./commands/${command}.ts`
          ? { path: command, namespace: 'elsewhere' }
          : undefined,
      )
      build.onLoad({ filter: /.*/, namespace: 'elsewhere' }, () => ({
        contents: `export function run() { throw new Error('this command is in another file') }`,
        loader: 'js',
      }))
    },
  }
}

function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function bundling(outdir, ...plugins) {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return {
    absWorkingDir: ROOT,
    outbase: 'src',
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: Object.keys(dependencies).filter((name) => !BUNDLED.has(name)),
    alias: {
      // The ES module build: the one for Node is CommonJS, which cannot be bundled into a module.
      yaml: './node_modules/yaml/browser/index.js',
      // Plain JSON Schema, without the marks that TypeBox hides in it.
      typebox: './src/contracts/kernel/plain-types.ts',
    },
    plugins,
    legalComments: 'none',
    logLevel: 'warning',
  }
}

/**
 * Importing a module of Node's by name makes Node read every property of it, and some of them load
 * much that nobody asked for (web cryptography among them). So the bundled files take the names they
 * use from the module itself; of seldom ones when they are first called.
 */
function builtins(sources, seldom = new Set()) {
  const names = new Map()
  const pattern = /import \{([^}]*)\} from '(node:[a-z_/]+)'/g
  for (const file of sources) {
    for (const [, list, module] of readFileSync(join(ROOT, file), 'utf8').matchAll(pattern)) {
      const known = names.get(module) ?? new Set()
      for (const item of list.split(',')) {
        const name = item.trim()
        if (name !== '' && !name.startsWith('type ')) known.add(name.split(' as ')[0].trim())
      }
      names.set(module, known)
    }
  }
  return {
    name: 'builtins',
    setup(build) {
      build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'builtin' }))
      build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
        contents: (seldom.has(path) ? takenLate : taken)(path, [...(names.get(path) ?? [])].sort()),
        loader: 'js',
      }))
    },
  }
}

function taken(path, names) {
  return `export const { ${names.join(', ')} } = process.getBuiltinModule('${path}')`
}

function takenLate(path, names) {
  const own = `process.getBuiltinModule('${path}')`
  return names
    .map(
      (name) =>
        `export function ${name}(...given) { return new.target ? new (${own}.${name})(...given) : ${own}.${name}(...given) }`,
    )
    .join('\n')
}

function fingerprint(sources) {
  // Another Node makes other code of the program.
  const hash = createHash('sha256').update(process.version)
  for (const file of [
    ...sources,
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'bin/writ.cjs',
    'tools/build.mjs',
    'tools/doors.mjs',
    'tools/parts.mjs',
    'tools/structures.mjs',
    'tools/warm.mjs',
  ]) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build()

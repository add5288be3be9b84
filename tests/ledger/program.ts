/**
 * Programs that tests run in processes of their own. Node starts those from JavaScript
 * files, so the TypeScript source is bundled first, fresh, into the cache of the checkout, from where
 * its packages are found.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'

const BUILT = new Map<string, Promise<string>>()

/** The JavaScript file of a TypeScript source. */
export function programFile(source: string): Promise<string> {
  const known = BUILT.get(source) ?? bundle(source)
  BUILT.set(source, known)
  return known
}

/** What the build bundles as well; everything else is found among the packages of the checkout. */
const BUNDLED = ['typebox', 'yaml', '@noble/hashes', '@noble/ed25519']

async function bundle(source: string): Promise<string> {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const folder = resolve('.cache/test-programs', String(process.pid))
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  }
  const outfile = resolve(folder, basename(source).replace(/\.ts$/, '.mjs'))
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // The form of it that is written in modules, as in the build.
    alias: { yaml: resolve('node_modules/yaml/browser/index.js') },
    external: Object.keys(dependencies).filter((name) => !BUNDLED.includes(name)),
    logLevel: 'error',
  })
  return outfile
}

export interface Outcome {
  readonly lines: readonly string[]
  readonly signal: NodeJS.Signals | null
  readonly status: number | null
  readonly errors: string
}

export interface RunOptions {
  /** Runs in front of node, such as `unshare`. */
  readonly wrapper?: readonly string[]
  /** Kills with SIGKILL after so many milliseconds from the first line on. */
  readonly killAfterMs?: number
  readonly onLine?: (line: string) => void
}

/** Longer ones are handed over in a file: see program-input.ts. */
const ARGUMENT_LENGTH_MAX = 100_000

function argumentOf(input: unknown): string {
  const text = JSON.stringify(input)
  if (text.length < ARGUMENT_LENGTH_MAX) return text
  const file = join(mkdtempSync(join(tmpdir(), 'writ-input-')), 'input.json')
  writeFileSync(file, text)
  process.once('exit', () => rmSync(dirname(file), { recursive: true, force: true }))
  return file
}

/** Runs a program to its end; `input` is its one argument. */
export async function runProgram(
  source: string,
  input: unknown,
  { wrapper = [], killAfterMs, onLine }: RunOptions = {},
): Promise<Outcome> {
  const file = await programFile(source)
  const [command = process.execPath, ...args] = [
    ...wrapper,
    process.execPath,
    file,
    argumentOf(input),
  ]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [text, errors] = ['', '']
  let timer: NodeJS.Timeout | null = null
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (killAfterMs !== undefined) timer ??= setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    for (const line of chunk.split('\n')) if (line !== '') onLine?.(line)
  })
  return new Promise((resolved, rejected) => {
    child.on('error', rejected)
    child.on('close', (status, signal) => {
      if (timer !== null) clearTimeout(timer)
      const lines = text.split('\n')
      // The text after the last newline was cut off by the kill.
      resolved({ lines: lines.slice(0, -1), signal, status, errors })
    })
  })
}

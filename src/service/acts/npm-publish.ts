/**
 * `npm publish` of a session as a held command: the packed file, its package, version and files, and the
 * registry that it goes to.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'
import { removeTree, requireProgram, runInstalled } from '../../machine/index.ts'
import type { CommandPlan, CommandWish } from './command-plan.ts'

/** What of a manifest matters here. */
interface Manifest {
  readonly name?: unknown
  readonly version?: unknown
  readonly private?: unknown
  readonly publishConfig?: Readonly<Record<string, unknown>>
}

interface Persons {
  readonly program: string
  readonly variables: Readonly<Record<string, string>>
}

const FILES_SHOWN = 60
const LOCAL_MS = 60_000
const NAME = /^(?:(@[a-z0-9~][a-z0-9._~-]*)\/)?[a-z0-9~][a-z0-9._~-]*$/i
const VERSION = /^\d+\.\d+\.\d+[\w.+-]*$/
const OPTION = /^--(tag|access|registry)=([\w@:/.%[\]+-]+)$/

export async function npmPublish(wish: CommandWish, persons: Persons): Promise<CommandPlan> {
  const [verb, file, ...options] = wish.argv
  const [packed, ...others] = wish.inputs
  if (verb !== 'publish' || typeof file !== 'object' || packed === undefined || others.length > 0) {
    throw refused('only `npm publish` of one packed file can be held')
  }
  const set = new Map(options.map(optionOf))
  const { names, manifest } = await unpacked(packed.bytes)
  const { name, version } = manifest
  const scope = typeof name === 'string' ? NAME.exec(name)?.[1] : undefined
  if (typeof name !== 'string' || !NAME.test(name)) throw refused('the package has no name')
  if (typeof version !== 'string' || !VERSION.test(version)) throw refused('it has no version')
  if (manifest.private === true) throw refused('the package is private')
  const registry = await registryOf(scope, manifest, set.get('registry'), persons)
  const tag = set.get('tag') ?? textOf(manifest, 'tag') ?? 'latest'
  const access = set.get('access') ?? textOf(manifest, 'access')
  const digest = createHash('sha512').update(packed.bytes).digest('base64')
  const more =
    names.length > FILES_SHOWN ? [`  … and ${names.length - FILES_SHOWN} more files`] : []
  return {
    url: `${registry.replace(/\/+$/, '')}/${name.replace('/', '%2f')}`,
    method: 'PUT',
    summary: `Publish ${name}@${version} to ${new URL(registry).hostname}.`,
    lines: [
      `package ${name}@${version}, tag ${tag}${access === undefined ? '' : `, access ${access}`}`,
      `registry ${registry}`,
      `${names.length} files, ${packed.bytes.length} bytes packed, sha512-${digest}`,
      ...names.slice(0, FILES_SHOWN).map((each) => `  ${each}`),
      ...more,
    ],
    argv: [
      'publish',
      { ...file, input: 0 },
      '--ignore-scripts',
      `--tag=${tag}`,
      ...(access === undefined ? [] : [`--access=${access}`]),
      `--registry=${registry}`,
      ...(scope === undefined ? [] : [`--${scope}:registry=${registry}`]),
    ],
    variables: { npm_config_update_notifier: 'false', npm_config_yes: 'false' },
  }
}

function optionOf(word: CommandWish['argv'][number]): readonly [string, string] {
  const [, name, value] = (typeof word === 'string' && OPTION.exec(word)) || []
  if (name !== undefined && value !== undefined) return [name, value]
  throw refused('npm publish takes --tag, --access and --registry here')
}

function textOf({ publishConfig }: Manifest, name: string): string | undefined {
  const value = publishConfig?.[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && /^[\w@:/.%[\]+-]+$/.test(value)) return value
  throw refused(`\`publishConfig.${name}\` of the package is not a plain word`)
}

/** Where npm would publish: what the package says, else the option, else the person's own setting. */
async function registryOf(
  scope: string | undefined,
  manifest: Manifest,
  option: string | undefined,
  { program, variables }: Persons,
): Promise<string> {
  const ofScope = scope === undefined ? undefined : textOf(manifest, `${scope}:registry`)
  const named = ofScope ?? textOf(manifest, 'registry') ?? option
  const setting = async (key: string): Promise<string> => {
    const argv = [program, 'config', 'get', key]
    const { status, stdout } = await runInstalled({ argv, cwd: '/', variables, limitMs: LOCAL_MS })
    return status === 0 ? stdout.trim() : ''
  }
  const settings = async (): Promise<string> => {
    const own = scope === undefined ? '' : await setting(`${scope}:registry`)
    return own === '' || own === 'undefined' ? setting('registry') : own
  }
  const registry = named ?? (await settings())
  if (/^https?:\/\/[^/@]+(?:\/|$)/.test(registry) && URL.canParse(registry)) return registry
  throw refused(`the registry \`${registry}\` is no address`)
}

/** The files of a packed package, and its manifest, read by tar without writing any of them. */
async function unpacked(
  bytes: Buffer,
): Promise<{ readonly names: readonly string[]; readonly manifest: Manifest }> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-packed-'))
  try {
    writeFileSync(join(folder, 'packed.tgz'), bytes, { mode: 0o600 })
    const tar = async (words: readonly string[]): Promise<string> => {
      const argv = [requireProgram('tar'), '--gzip', '--file=packed.tgz', ...words]
      const variables = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' }
      const end = await runInstalled({ argv, cwd: folder, variables, limitMs: LOCAL_MS })
      if (end.status !== 0) throw refused('the packed file cannot be read')
      return end.stdout
    }
    const names = (await tar(['--list'])).split('\n').filter((name) => name !== '')
    const own = names.filter((name) => /^[^/]+\/package\.json$/.test(name))
    const [manifest = ''] = own
    if (own.length !== 1) throw refused('the packed file holds no package, or more than one')
    // Parsed text; every field is looked at before it is used.
    const text = await tar(['--extract', '--to-stdout', '--', manifest])
    return { names, manifest: JSON.parse(text) as Manifest }
  } finally {
    await removeTree(folder)
  }
}

function refused(message: string) {
  return faultError('request.failed', 'npm', `the package cannot be published: ${message}`)
}

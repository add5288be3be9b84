/**
 * A small npm registry on the loopback, in a process of its own: packuments and tarballs of packages
 * that a test makes. Real clients install from it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Made {
  readonly name: string
  readonly version: string
  readonly scripts?: Readonly<Record<string, string>>
}

const PROGRAM = `
const { createServer } = require('node:http')
const { readFileSync } = require('node:fs')
const folder = process.argv[1]
const index = JSON.parse(readFileSync(folder + '/index.json', 'utf8'))
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, 'http://x').pathname).slice(1)
  const [name, file] = path.split('/-/')
  const versions = index[name]
  if (versions === undefined) return response.writeHead(404).end('{}')
  if (file !== undefined) return response.end(readFileSync(folder + '/' + file))
  const base = 'http://' + request.headers.host + '/' + name + '/-/'
  const listed = Object.fromEntries(
    Object.entries(versions).map(([version, { manifest, integrity, shasum, file }]) => [
      version,
      { ...manifest, dist: { integrity, shasum, tarball: base + file } },
    ]),
  )
  const latest = Object.keys(versions).at(-1)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: listed }))
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

export class Registry {
  readonly port: number
  readonly #child: ChildProcess
  readonly #folder: string

  private constructor(child: ChildProcess, folder: string, port: number) {
    this.#child = child
    this.#folder = folder
    this.port = port
  }

  static async open(packages: readonly Made[]): Promise<Registry> {
    const folder = mkdtempSync(join(tmpdir(), 'writ-acts-registry-'))
    writeFileSync(join(folder, 'index.json'), JSON.stringify(pack(folder, packages)))
    const child = spawn(process.execPath, ['-e', PROGRAM, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return new Registry(child, folder, Number(line.toString()))
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Returns the tarball of a package, to install it from a file. */
  tarball(name: string, version: string): string {
    return join(this.#folder, fileOf({ name, version }))
  }

  close(): void {
    this.#child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function fileOf({ name, version }: Pick<Made, 'name' | 'version'>): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

function pack(folder: string, packages: readonly Made[]) {
  const index: Record<string, Record<string, unknown>> = {}
  for (const { name, version, scripts = {} } of packages) {
    const manifest = {
      name,
      version,
      main: 'index.js',
      scripts,
      bin: { [name.split('/').at(-1) ?? name]: 'index.js' },
    }
    const place = join(folder, `make-${name.replace('/', '-')}-${version}`)
    mkdirSync(join(place, 'package'), { recursive: true })
    writeFileSync(join(place, 'package', 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(place, 'package', 'index.js'), `module.exports = '${version}'\n`)
    const file = fileOf({ name, version })
    execFileSync('tar', ['-czf', join(folder, file), '-C', place, 'package'])
    const bytes = readFileSync(join(folder, file))
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    const shasum = createHash('sha1').update(bytes).digest('hex')
    const hasInstallScript = scripts['postinstall'] !== undefined
    index[name] = {
      ...index[name],
      [version]: { manifest: { ...manifest, hasInstallScript }, integrity, shasum, file },
    }
  }
  return index
}

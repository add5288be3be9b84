/**
 * The end of the tour: a throw-away home with a question that waits, served to the browser until a signal
 * ends it. Every step is a command of this program in a process of its own, as a reader would type it.
 */
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { BrokenInvariant } from '../../base/index.ts'
import { removeTreeSync, startOwn } from '../../machine/index.ts'
import type { Terminal } from '../call/terminal.ts'
import { ownProgram } from '../hooks/own-program.ts'

const PASSPHRASE_BYTES = 8
const AGENT = 'shop-helper'

/** What the agent does when it is asked to add up the prices: that, and more than that. */
const SCRIPT = `#!/bin/sh
echo 'tea and cake: 7' > total.txt
sleep 1
rm -r notes
sed -i 's/cake 4/cake 6/' prices.txt
sed -i 's/"node shop.js"/"node shop.js", "postinstall": "node update.js"/' package.json
`

const FILES: Readonly<Record<string, string>> = {
  'prices.txt': 'tea 3\ncake 4\nbread 5\n',
  'notes/ideas.txt': 'the only copy\n',
  'package.json': '{\n  "name": "shop",\n  "scripts": { "start": "node shop.js" }\n}\n',
  'shop.js': "console.log('open')\n",
  [`${AGENT}.sh`]: SCRIPT,
}

/** Serves the console of a shop whose agent asks something; returns when a signal ended it. */
export async function serveShop(terminal: Terminal): Promise<void> {
  const shop = new ServedShop()
  const signal = new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => resolve())
  })
  try {
    const { console: address, service } = await shop.open()
    await terminal.out(shop.words(terminal, address))
    await Promise.race([signal, ended(service)])
    service.kill('SIGTERM')
    await ended(service)
  } finally {
    shop.remove()
  }
}

class ServedShop {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-shop-')))
  readonly #project = join(this.#folder, 'shop')
  readonly #passphrase = randomBytes(PASSPHRASE_BYTES).toString('hex')

  async open(): Promise<{ readonly console: string; readonly service: ChildProcess }> {
    mkdirSync(join(this.#folder, 'home'))
    mkdirSync(join(this.#project, 'notes'), { recursive: true })
    for (const [path, text] of Object.entries(FILES))
      writeFileSync(join(this.#project, path), text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
    await this.#finish(['init', '--name', 'ann', '--pass-fd', '3'])
    await this.#finish(['run', '--as', AGENT, '--', `./${AGENT}.sh`, 'add up the prices'])
    const service = this.#start(['serve', '--json', '--listen', '127.0.0.1:0'])
    const line = await firstLine(service)
    return { console: String(JSON.parse(line).console), service }
  }

  words({ paint }: Terminal, address: string): string {
    return [
      '',
      paint.strong('The console'),
      '',
      `An agent of a small shop asks something. Decide in a browser on this machine:`,
      '',
      `  address     ${paint.accent(address)}`,
      `  passphrase  ${paint.accent(this.#passphrase)}   (registers your passkey, once)`,
      '',
      `The shop is ${this.#project}; it and its home are deleted when you press Ctrl-C.`,
      '',
    ].join('\n')
  }

  remove(): void {
    removeTreeSync(this.#folder)
  }

  async #finish(words: readonly string[]): Promise<void> {
    const child = this.#start(words)
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        said += chunk
      })
    const status = await ended(child)
    if (status !== 0) throw new BrokenInvariant(`the tour expected: writ ${words[0]}\n${said}`)
  }

  #start(words: readonly string[]): ChildProcess {
    const { WRIT_TOKEN: _token, WRIT_HOME: _home, WRIT_URL: _url, ...env } = process.env
    const child = startOwn(ownProgram(), words, {
      cwd: this.#project,
      env: {
        ...env,
        HOME: join(this.#folder, 'home'),
        XDG_STATE_HOME: join(this.#folder, 'state'),
      },
    })
    child.stdin?.on('error', () => undefined).end()
    const [, , , secret] = child.stdio
    // A command that asks for no passphrase closes its end unread.
    if (secret !== null && secret !== undefined && 'end' in secret)
      secret.on('error', () => undefined).end(`${this.#passphrase}\n`)
    return child
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.once('exit', resolve))
}

async function firstLine(child: ChildProcess): Promise<string> {
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  if (child.stdout === null) throw new BrokenInvariant('the service has no output')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new BrokenInvariant(`the tour expected: writ serve\n${said}`)
}

/**
 * What a person reads before a push: the server, each reference, and everything that is sent: all
 * commits that the server does not have by its known references, and all files that they change.
 *
 * INVARIANT (nothing is left out): a push whose words would be incomplete is refused, and so are trees and
 *   tags on anything but a commit, whose objects no list of commits and files names.
 */
import { faultError } from '../../base/index.ts'
import { ownGit, required } from './own-git.ts'

/** A reference that a push sets, from one object to another; zeros where there is none. */
export interface PushedRef {
  readonly ref: string
  readonly before: string
  readonly after: string
}

interface DescribedPush {
  readonly repository: string
  readonly remote: string
  readonly commands: readonly PushedRef[]
  /** Commits that the server has by its known references, and that are here. */
  readonly known: readonly string[]
  readonly runsLater: (path: string) => boolean
}

export const NO_OBJECT = /^0+$/
const SHORT_ID = 8
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const WORDS_MAX = 1024 * 1024

export async function describePush(push: DescribedPush): Promise<string> {
  const parts: string[] = [`git push ${push.remote}`]
  for (const command of push.commands) {
    const { ref, before, after } = command
    if (NO_OBJECT.test(after)) parts.push(`delete ${ref} (was ${before.slice(0, SHORT_ID)})`)
    else parts.push(...(await new SentRef(push, command).lines()))
  }
  const words = parts.join('\n')
  if (words.length > WORDS_MAX) throw tooMuch()
  return words
}

function tooMuch() {
  const message = 'the push holds more than one question can show, so it was not held'
  return faultError('request.failed', '', message, 'push it in smaller parts')
}

function notShown(ref: string, what: string) {
  const message = `${ref} is ${what}, and a question cannot show all of it, so the push was not held`
  return faultError(
    'request.failed',
    '',
    message,
    'set a tag directly on a commit, or push a commit',
  )
}

interface SentFile {
  readonly status: string
  readonly path: string
  readonly more: string
}

class SentRef {
  readonly #push: DescribedPush
  readonly #command: PushedRef

  constructor(push: DescribedPush, command: PushedRef) {
    this.#push = push
    this.#command = command
  }

  async lines(): Promise<readonly string[]> {
    const { ref, before, after } = this.#command
    const isNew = NO_OBJECT.test(before)
    const kind = isNew ? 'create' : await this.#kind()
    const from = isNew ? '' : ` from ${before.slice(0, SHORT_ID)}`
    const head = `${kind} ${ref}${from} to ${after}`
    const type = (await this.#git('cat-file', '-t', after)).trim()
    if (type === 'commit') return [head, ...(await this.#commitLines(after))]
    if (type === 'tree') throw notShown(ref, 'a tree')
    const size = (await this.#git('cat-file', '-s', after)).trim()
    const content = await this.#git('cat-file', type, after)
    const words = [`${head}, a ${type} of ${size} bytes`, ...contentLines(content)]
    if (type !== 'tag') return words
    const commit = await this.#peeled(after)
    // The whole object and its text are what is shown, so there is nothing between it and its commit.
    const [, object] = /^object ([0-9a-f]+)\ntype commit\n/.exec(content) ?? []
    if (commit === null || object !== commit) throw notShown(ref, 'a tag on no commit')
    if (!isText(content)) throw notShown(ref, 'a tag that is not text')
    return [...words, ...(await this.#commitLines(commit))]
  }

  async #kind(): Promise<string> {
    const { before, after } = this.#command
    const words = ['merge-base', '--is-ancestor', before, after]
    const { status } = await ownGit(this.#push.repository, words)
    return status === 0 ? 'update' : 'REPLACE (commits of the server are lost)'
  }

  async #peeled(object: string): Promise<string | null> {
    const words = ['rev-parse', '--verify', '-q', `${object}^{commit}`]
    const { status, stdout } = await ownGit(this.#push.repository, words)
    return status === 0 ? stdout.trim() : null
  }

  async #commitLines(commit: string): Promise<readonly string[]> {
    const served = await this.#served()
    const range = [commit, ...(served.length === 0 ? [] : ['--not', ...served])]
    const count = Number(await this.#git('rev-list', '--count', ...range))
    const commits = linesOf(await this.#git('log', '--format=  %h %s (%an)', ...range))
    const files = await this.#files(await this.#base(range), commit)
    if (commits.length !== count) throw tooMuch()
    const between = await this.#between(range, files)
    return [
      `  ${counted(count, 'commit')} that the server does not have, ${counted(files.length, 'changed file')}`,
      ...commits,
      ...this.#fileLines(files),
      ...(between.length === 0 ? [] : ['  sent in the commits, and gone from the result:']),
      ...between.map((path) => `    ${path}${this.#later(path)}`),
    ]
  }

  /** Objects of the server that are here. */
  async #served(): Promise<readonly string[]> {
    const { known, commands, repository } = this.#push
    const ids = new Set(commands.map(({ before }) => before))
    const found = [...known]
    for (const id of ids) {
      if (NO_OBJECT.test(id)) continue
      const { status } = await ownGit(repository, ['cat-file', '-e', `${id}^{commit}`])
      if (status === 0) found.push(id)
    }
    return found
  }

  /** What the files are compared with: the branch as it is, or of a new one where it leaves the known. */
  async #base(range: readonly string[]): Promise<string> {
    const { before } = this.#command
    if (!NO_OBJECT.test(before)) return (await this.#peeled(before)) ?? EMPTY_TREE
    const rows = linesOf(await this.#git('rev-list', '--boundary', ...range))
    const border = rows.find((row) => row.startsWith('-'))?.slice(1)
    if (border !== undefined) return border
    // Without new commits the server has this one.
    return rows.length === 0 ? (range[0] ?? EMPTY_TREE) : EMPTY_TREE
  }

  async #files(base: string, commit: string): Promise<readonly SentFile[]> {
    const words = ['--no-ext-diff', '--no-textconv', '--no-renames', base, commit]
    const raw = linesOf(await this.#git('diff', '--raw', '--no-abbrev', ...words))
    const counts = linesOf(await this.#git('diff', '--numstat', ...words))
    if (raw.length !== counts.length) throw tooMuch()
    const lines = new Map(
      counts.map((row) => row.split('\t')).map(([a, d, path]) => [path, [a, d]]),
    )
    return raw.map((row) => {
      const [fields = '', path = ''] = row.split('\t')
      const [oldMode = '', mode = '', , , status = ''] = fields.slice(1).split(' ')
      const [added = '-', deleted = '-'] = lines.get(path) ?? []
      const size = added === '-' ? 'binary' : `+${added} -${deleted}`
      const isOtherMode = status !== 'A' && status !== 'D' && oldMode !== mode
      const kind = KINDS[mode] ?? (isOtherMode ? `mode ${oldMode} to ${mode}` : '')
      return { status, path, more: [size, kind].filter((word) => word !== '').join(', ') }
    })
  }

  #fileLines(files: readonly SentFile[]): readonly string[] {
    const order = ({ status, path }: SentFile): number => {
      if (status === 'D') return 0
      return this.#push.runsLater(plainPath(path)) ? 1 : 2
    }
    return [...files]
      .sort((one, other) => order(one) - order(other))
      .map(({ status, path, more }) => {
        const later = status === 'D' ? '' : this.#later(path)
        return `  ${WORDS[status] ?? 'changed'} ${path} ${more}${later}`
      })
  }

  #later(path: string): string {
    return this.#push.runsLater(plainPath(path)) ? ' · RUNS LATER BY ITSELF' : ''
  }

  /** Paths that some new commit touches, and that are not among the files. */
  async #between(range: readonly string[], files: readonly SentFile[]): Promise<readonly string[]> {
    const words = ['log', '--format=', '--name-only', '--no-renames', '-m', ...range]
    const shown = new Set(files.map(({ path }) => path))
    return [...new Set(linesOf(await this.#git(...words)))].filter((path) => !shown.has(path))
  }

  async #git(...words: readonly string[]): Promise<string> {
    const settings = ['-c', 'core.quotePath=false', '-c', 'log.showSignature=false']
    const { stdout } = required(await ownGit(this.#push.repository, [...settings, ...words]))
    if (stdout.length > WORDS_MAX) throw tooMuch()
    return stdout
  }
}

const WORDS: Readonly<Record<string, string>> = { A: 'added', D: 'deleted', M: 'changed' }
const KINDS: Readonly<Record<string, string>> = {
  '100755': 'can be executed',
  '120000': 'a link',
  '160000': 'a submodule',
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

/** Git writes a path with unusual characters in quotes. */
function plainPath(path: string): string {
  return path.startsWith('"') ? path.slice(1, -1) : path
}

function isText(content: string): boolean {
  return !/[\0\ufffd]/.test(content)
}

/** Text as it is; of other contents there is nothing to read. */
function contentLines(content: string): readonly string[] {
  if (!isText(content)) return ['  not text']
  return content.split('\n').map((line) => `  | ${line}`)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

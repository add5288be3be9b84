/**
 * The forms of calls of `gh` that a session may hand over, as closed lists: which options a call takes,
 * and which words name a file. The person's gh reads files of the real machine, so a word that names one
 * is replaced by a file that was handed over and shown.
 *
 * INVARIANT (no file by its name): a call that could read a file which was not handed over is refused.
 */
import { faultError } from '../../base/index.ts'
import type { HeldWord } from './command-plan.ts'

/** `alone` has no value; the value of `file` is one, and that of `field` is one after `NAME=@`. */
type Kind = 'alone' | 'field' | 'file' | 'text'

interface Form {
  readonly options: Readonly<Record<string, Kind>>
  /** What its words without an option are: the first ones, and all others. */
  readonly first: Kind
  readonly others: Kind | null
}

/** A call that has its form. */
export interface GhWords {
  /** Values by option, as they are given; empty for those without one. */
  readonly options: ReadonlyMap<string, string>
  readonly places: readonly HeldWord[]
  /** Values in which gh may fill something in. */
  readonly fields: readonly HeldWord[]
}

const REPO = texts('-R', '--repo')
const BODY = { ...texts('-b', '--body'), ...files('-F', '--body-file') }
const COMMENT = {
  ...REPO,
  ...BODY,
  ...alone('--edit-last', '--create-if-none', '--delete-last', '--yes'),
}
const LISTS = texts('-m', '--milestone', '--add-label', '--remove-label', '--add-assignee')
const MORE_LISTS = texts('--remove-assignee', '--add-project', '--remove-project')
const EDIT = {
  ...REPO,
  ...BODY,
  ...LISTS,
  ...MORE_LISTS,
  ...texts('-t', '--title'),
  ...alone('--remove-milestone'),
}
const NEW = {
  ...REPO,
  ...BODY,
  ...texts(
    '-t',
    '--title',
    '-a',
    '--assignee',
    '-l',
    '--label',
    '-m',
    '--milestone',
    '-p',
    '--project',
  ),
}
const CLOSE = { ...REPO, ...texts('-c', '--comment') }
const RELEASE = {
  ...REPO,
  ...texts('-t', '--title', '-n', '--notes', '--target', '--discussion-category'),
  ...files('-F', '--notes-file'),
  ...alone('-d', '--draft', '-p', '--prerelease', '--latest', '--verify-tag'),
}
const FIELDS: Readonly<Record<string, Kind>> = {
  ...texts('-f', '--raw-field'),
  '-F': 'field',
  '--field': 'field',
}

/** By the first two words; of `api` by the first. What prints by a template of its own could print secrets. */
const FORMS: Readonly<Record<string, Form>> = {
  'pr create': one({
    ...NEW,
    ...texts('-B', '--base', '-H', '--head', '-r', '--reviewer'),
    ...alone('-d', '--draft', '--no-maintainer-edit', '--dry-run'),
  }),
  'pr comment': one(COMMENT),
  'pr edit': one({ ...EDIT, ...texts('-B', '--base', '--add-reviewer', '--remove-reviewer') }),
  'pr close': one({ ...CLOSE, ...alone('-d', '--delete-branch') }),
  'pr reopen': one(CLOSE),
  'pr ready': one({ ...REPO, ...alone('--undo') }),
  'pr merge': one({
    ...REPO,
    ...BODY,
    ...texts('-t', '--subject', '-A', '--author-email', '--match-head-commit'),
    ...alone('--admin', '--auto', '--disable-auto', '-d', '--delete-branch'),
    ...alone('-m', '--merge', '-r', '--rebase', '-s', '--squash'),
  }),
  'pr review': one({
    ...REPO,
    ...BODY,
    ...alone('-a', '--approve', '-c', '--comment', '-r', '--request-changes'),
  }),
  'issue create': one(NEW),
  'issue comment': one(COMMENT),
  'issue edit': { ...one(EDIT), others: 'text' },
  'issue close': one({ ...CLOSE, ...texts('-r', '--reason') }),
  'issue reopen': one(CLOSE),
  'release create': {
    ...one({
      ...RELEASE,
      ...texts('--notes-start-tag'),
      ...alone('--generate-notes', '--fail-on-no-commits'),
    }),
    others: 'file',
  },
  'release edit': one({ ...RELEASE, ...texts('--tag') }),
  'release upload': { ...one({ ...REPO, ...alone('--clobber') }), others: 'file' },
  'release delete': one({ ...REPO, ...alone('-y', '--yes', '--cleanup-tag') }),
  'gist create': {
    options: { ...texts('-d', '--desc', '-f', '--filename'), ...alone('-p', '--public') },
    first: 'file',
    others: 'file',
  },
  'label create': one({
    ...REPO,
    ...texts('-c', '--color', '-d', '--description'),
    ...alone('-f', '--force'),
  }),
  'label edit': one({ ...REPO, ...texts('-c', '--color', '-d', '--description', '-n', '--name') }),
  'label delete': one({ ...REPO, ...alone('--yes') }),
  'workflow run': one({ ...REPO, ...FIELDS, ...texts('-r', '--ref') }),
  api: one({
    ...FIELDS,
    ...texts('-X', '--method', '-H', '--header', '--hostname', '-p', '--preview'),
    ...files('--input'),
    ...alone('-i', '--include', '--paginate', '--silent', '--slurp'),
  }),
}

function one(options: Readonly<Record<string, Kind>>): Form {
  return { options, first: 'text', others: null }
}

function texts(...names: readonly string[]): Readonly<Record<string, Kind>> {
  return kinds(names, 'text')
}

function files(...names: readonly string[]): Readonly<Record<string, Kind>> {
  return kinds(names, 'file')
}

function alone(...names: readonly string[]): Readonly<Record<string, Kind>> {
  return kinds(names, 'alone')
}

function kinds(names: readonly string[], kind: Kind): Readonly<Record<string, Kind>> {
  return Object.fromEntries(names.map((name) => [name, kind]))
}

const OPTION = /^(--[a-z][a-z-]*|-[A-Za-z])(?:=([\s\S]*))?$/

/** Fails if a word is not one of the form of its call. */
export function ghWords(argv: readonly HeldWord[]): GhWords {
  const [kind, action] = argv
  const name = kind === 'api' ? 'api' : `${text(kind)} ${text(action)}`
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined
  if (form === undefined) throw refused(`\`gh ${name}\` is no command that is held`)
  const rest = argv.slice(kind === 'api' ? 1 : 2)
  const options = new Map<string, string>()
  const places: HeldWord[] = []
  const fields: HeldWord[] = []
  for (let at = 0; at < rest.length; at++) {
    const word = joinedOf(rest[at] ?? '')
    if (word === null) {
      const place = rest[at] ?? ''
      const wanted = places.length === 0 ? form.first : form.others
      if (wanted === null) throw refused(`\`${text(place)}\` is a word too many`)
      requireKind(wanted, place, true)
      places.push(place)
      continue
    }
    const { option, value } = word
    const wanted = Object.hasOwn(form.options, option) ? form.options[option] : undefined
    if (wanted === undefined) throw refused(`\`${option}\` is not taken from a session`)
    if (options.has(option) && SINGLE.has(option)) throw refused(`\`${option}\` is there twice`)
    if (wanted === 'alone') {
      if (value !== undefined && value !== 'true' && value !== 'false') {
        throw refused(`\`${option}\` takes no value`)
      }
      options.set(option, '')
      continue
    }
    const given = value ?? rest[++at]
    if (given === undefined) throw refused(`\`${option}\` needs a value`)
    requireKind(wanted, given, false)
    if (wanted === 'field') fields.push(given)
    options.set(option, text(given))
  }
  return { options, places, fields }
}

/** gh takes the last one, and the question is about one. */
const SINGLE = new Set(['-X', '--method', '--hostname', '-R', '--repo'])

interface Joined {
  readonly option: string
  /** Absent where the next word is the value. */
  readonly value: HeldWord | undefined
}

/** An option, with a value that is part of its word; null for a word without an option. */
function joinedOf(word: HeldWord): Joined | null {
  if (typeof word === 'string') {
    if (!word.startsWith('-')) return null
    const [, option, value] = OPTION.exec(word) ?? []
    // Several letters in one word, and a value without `=`, could be read in two ways.
    if (option === undefined) throw refused(`write \`${word}\` as options of their own`)
    return { option, value }
  }
  const [, option, before = ''] = /^(--[a-z][a-z-]*)=([\s\S]*)$/.exec(word.before ?? '') ?? []
  if (option === undefined) return null
  return { option, value: { ...word, before } }
}

function requireKind(kind: Kind, word: HeldWord, isPlace: boolean): void {
  const isFile = typeof word !== 'string'
  const { before = '', after = '' } = isFile ? word : {}
  // An asset of a release has a label behind it.
  const isPlain = after === '' || (isPlace && after.startsWith('#'))
  const isRight =
    kind === 'file'
      ? isFile && before === '' && isPlain
      : kind === 'field'
        ? isFile
          ? /^[^=@]+=@$/.test(before) && after === ''
          : /^[^=]+=(?!@)/.test(word)
        : !isFile
  if (isRight) return
  const why = isFile ? 'is a file where none is read' : 'names a file that was not handed over'
  throw refused(`\`${text(word)}\` ${why}`)
}

function text(word: HeldWord | undefined): string {
  return typeof word === 'string' ? word : `${word?.before ?? ''}(a file)`
}

function refused(message: string) {
  return faultError('request.failed', 'gh', `the command cannot be held: ${message}`)
}

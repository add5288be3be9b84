/**
 * Inspects source files against the law of the house. A function of texts, so that the tests can
 * seed a breach of every rule and see it found.
 */
import { posix } from 'node:path'
import type { Room } from './rooms.ts'

export interface House {
  readonly rooms: Readonly<Record<string, Room>>
  readonly exceptions: Readonly<Record<string, string>>
  readonly oversized: readonly string[]
}

const IMPURE =
  /['"]node:|\bDate\.now\(|new Date\(\)|Math\.random\(|\bprocess\.|\bfetch\(|\bset(?:Timeout|Interval|Immediate)\(|\bperformance\.now\(|\bcrypto\./
/** The words `from` and `import` before a specifier, not as a key or a string of their own. */
const SPECIFIER = /(?<![\w'"$.])(?:from|import)\s*\(?\s*['"]([^'"\n]+)['"]/g
const BANNED_NAME =
  /\b(?:class|interface|type|function|const)\s+\w*(?:Manager|Helper|Util|Service|Info)s?\b|\bfunction\s+handle[A-Z]/
const DRAWER = /(?:^|\/)(?:utils?|helpers?|common|misc|types)(?:\/|\.ts$)/
/** A busy machine fails such a test, and a fast one hides what it was written for. */
const TIMED = /\bcpuUsage\s?\(|\bnow\(\) - \w+\)\s*\.toBeLess/
const LINES_MAX = 500
/** The one file that starts programs; it finds them in system directories. */
const STARTER = 'src/machine/programs.ts'
const STARTING =
  /import (?!type )[^'"]*?from ['"](?:node:)?(?:child_process|cluster)['"]|(?:import|require)\(['"](?:node:)?(?:child_process|cluster)/

/** The one file that knows which SQLite there is; tests and benches go through it as well. */
const SQLITE_DRIVER = 'src/store/database/sqlite-driver.ts'
const SQLITE_PACKAGE =
  /(?:from|import|require|load)\s*\(?\s*['"](?:better-sqlite3|node:sqlite)(?:\/[^'"]*)?['"]/

/** Every breach, one line each; the files' own order. */
export function inspect(files: ReadonlyMap<string, string>, house: House): readonly string[] {
  const breaches: string[] = []
  const impure = new Set<string>()
  for (const [path, text] of files) {
    breaches.push(...inspectFile(path, text, house))
    const room = house.rooms[roomOf(path) ?? '']
    if (room?.pure === true && !isTest(path) && IMPURE.test(withoutComments(text))) impure.add(path)
  }
  for (const path of impure) {
    if (!Object.hasOwn(house.exceptions, path))
      breaches.push(`${path}: a pure room touches the machine`)
  }
  for (const path of Object.keys(house.exceptions)) {
    if (!impure.has(path)) breaches.push(`${path}: listed as an exception, but pure`)
  }
  for (const path of house.oversized) {
    const lines = files.get(path)?.split('\n').length ?? 0
    if (lines <= LINES_MAX) breaches.push(`${path}: listed as oversized, but is not`)
  }
  return breaches
}

function inspectFile(path: string, text: string, house: House): readonly string[] {
  const breaches: string[] = []
  if (!text.startsWith('/**')) breaches.push(`${path}: does not begin with a header comment`)
  if (/^export \*/m.test(text))
    breaches.push(`${path}: exports everything; name what leaves the room`)
  if (/^export default/m.test(text)) breaches.push(`${path}: has a default export`)
  if (DRAWER.test(path)) breaches.push(`${path}: is a drawer; name it by its noun`)
  const banned = BANNED_NAME.exec(withoutComments(text))
  if (banned !== null && !isTest(path)) breaches.push(`${path}: banned name in \`${banned[0]}\``)
  if (/(?:^|[\s'"`(])\/(?:root|work)\//m.test(text))
    breaches.push(`${path}: names a path of one machine`)
  if (roomOf(path) !== null && !isTest(path) && path !== STARTER && STARTING.test(text))
    breaches.push(`${path}: starts programs; ${STARTER} does that, with full paths and a clean env`)
  if (path !== SQLITE_DRIVER && SQLITE_PACKAGE.test(withoutComments(text)))
    breaches.push(`${path}: opens SQLite; ${SQLITE_DRIVER} does that`)
  if (!path.startsWith('bench/') && TIMED.test(text))
    breaches.push(`${path}: holds a run to a time; speed is measured in bench/`)
  if (!isTest(path) && text.split('\n').length > LINES_MAX && !house.oversized.includes(path)) {
    breaches.push(`${path}: is longer than ${LINES_MAX} lines`)
  }
  const door = inspectDoor(path, text, house)
  return [...breaches, ...door, ...inspectImports(path, text, house)]
}

/** The header of a room's door tells which rooms it sees, as the law has them. */
function inspectDoor(path: string, text: string, { rooms }: House): readonly string[] {
  const name = /^src\/(\w+)\/index\.ts$/.exec(path)?.[1]
  const room = rooms[name ?? '']
  if (name === undefined || room === undefined) return []
  const header = (/^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? '').replace(/\s*\n \* ?/g, ' ')
  const said = /\bSees ([^.]+)\./.exec(header)?.[1]?.split(/, | and /) ?? []
  const wanted = room.sees.length === 0 ? ['no other room'] : room.sees
  const isLaw = header.trim().startsWith(`Room: ${name}.`) && said.join() === wanted.join()
  return isLaw ? [] : [`${path}: the header is not \`Room: ${name}. … Sees ${wanted.join(', ')}.\``]
}

function inspectImports(path: string, text: string, house: House): readonly string[] {
  const name = roomOf(path)
  if (name === null) return []
  const room = house.rooms[name]
  if (room === undefined) return [`${path}: the room ${name} is not in the law`]
  const breaches: string[] = []
  for (const [, specifier = ''] of withoutComments(text).matchAll(SPECIFIER)) {
    const breach = specifier.startsWith('.')
      ? inspectRelative(path, name, room, specifier)
      : inspectPackage(path, room, specifier)
    if (breach !== null) breaches.push(breach)
  }
  return breaches
}

function inspectRelative(path: string, name: string, room: Room, specifier: string): string | null {
  const target = posix.join(posix.dirname(path), specifier)
  if (!/\.(?:ts|tsx|json|css)$/.test(target)) return `${path}: ${specifier} does not name a file`
  const other = roomOf(target)
  if (other === name) return null
  if (other === null) return isTest(path) ? null : `${path}: ${specifier} leaves src`
  if (isTest(path)) return null
  if (!room.sees.includes(other)) return `${path}: ${name} may not see ${other}`
  return target === `src/${other}/index.ts` ? null : `${path}: enter ${other} by its index.ts`
}

function inspectPackage(path: string, room: Room, specifier: string): string | null {
  if (isTest(path) || specifier.startsWith('node:')) return null
  const parts = specifier.split('/')
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
  return room.packages.includes(name)
    ? null
    : `${path}: the package ${name} may not be imported here`
}

function roomOf(path: string): string | null {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? null
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('tests/')
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}

/**
 * Reviewers of which writ cannot tell what they start or load: open ones. While one of them judges, a stage
 * may hold data only, so that there is nothing of the work that it could run. Closed are a program in
 * JavaScript or Python that only reads, and a few tools that start nothing.
 */
import { basename } from 'node:path'
import { showName, showPath } from '../../base/index.ts'
import type { Flow, FlowNode } from '../../contracts/index.ts'
import type { OpenReviewer } from '../../flow/index.ts'
import { programReason } from './closed-programs.ts'
import { isPython, isShell } from './code-names.ts'
import { loadedBy } from './imports.ts'
import { commandOf, runsWork } from './participant-command.ts'
import { below, WorkspaceFiles } from './workspace-files.ts'

/** Tools that start no program and evaluate nothing, in any of their forms. */
const TOOLS: ReadonlySet<string> = new Set([
  ...['cat', 'head', 'tail', 'wc', 'true', 'false', 'test', 'grep', 'egrep', 'fgrep', 'cmp'],
  ...['diff', 'comm', 'sha1sum', 'sha256sum', 'sha512sum', 'md5sum', 'b2sum', 'cksum'],
])
/** Words of jq that name no file with a program. */
const JQ_OPTION = /^-[acCejMnrsS]+$|^--(?:arg|argjson|args|jsonargs|exit-status|raw-output|slurp)$/
const NODE_OPTION = /^--(?:no-warnings|no-deprecation|max-old-space-size=\d+)$/
const PYTHON_OPTION = /^-[BEIOPsSu]+$/
const SYSTEM_PLACES = /^\/(?:usr\/(?:local\/)?)?bin\/[^/]+$/
const SHEBANG = /^#! ?\/usr\/bin\/(?:env )?(?:node|python3)\n/
/** Where any process may have put a file: what lies there is no program of the host. */
const TEMPORARY = /^\/(?:tmp|var\/tmp|dev|proc|run|var\/run)(?:\/|$)/

/** Directories of the search path that lie in the workspace. */
export function insidePath(files: WorkspaceFiles, searchPath: string): readonly string[] {
  return searchPath.split(':').flatMap((one) => files.pathOf(one === '' ? '.' : one) ?? [])
}

/** Why the reviewer of a node is open, with the place; null for one that is closed or not on this host. */
export function openReason(
  files: WorkspaceFiles,
  { kind, reviewer }: FlowNode,
  inside: readonly string[],
): string | null {
  const command = commandOf(reviewer)
  if (kind !== 'CHECK' || command === null || runsWork(reviewer)) return null
  return commandReason(files, command, inside)
}

/** Each open reviewer of a flow, with its reason. */
export function openReviewersOf(
  files: WorkspaceFiles,
  { nodes }: Flow,
  searchPath: string,
): readonly OpenReviewer[] {
  const inside = insidePath(files, searchPath)
  return nodes.flatMap((node) => {
    const why = openReason(files, node, inside)
    return why === null ? [] : [{ node_id: node.node_id, why }]
  })
}

function commandReason(
  files: WorkspaceFiles,
  [program = '', ...words]: readonly string[],
  inside: readonly string[],
): string | null {
  const own = program.includes('/')
    ? files.pathOf(program)
    : inside.map((place) => below(place, program)).find((path) => files.isFile(path))
  if (own !== null && own !== undefined) {
    return SHEBANG.test(files.text(own))
      ? programReason(files, own)
      : `a program that writ does not read (${showPath(own)})`
  }
  const name = basename(program)
  if (!program.includes('/') && inside.includes(''))
    return 'the search path `PATH` leads into the workspace'
  if (program.includes('/') && !SYSTEM_PLACES.test(program)) return unknown(program)
  if (isShell(name)) return `${showName(name)} is a shell, which can start anything (its command)`
  if (TOOLS.has(name)) return null
  if (name === 'jq') return jqReason(words)
  const isNode = /^node(?:js)?$/.test(name)
  if (!isNode && !isPython(name)) return unknown(name)
  const option = isNode ? NODE_OPTION : PYTHON_OPTION
  const entry = words.find((word) => !option.test(word)) ?? '-'
  if (entry.startsWith('-')) return `it is not of the form \`${name} FILE\` (its command)`
  return entryReason(files, entry)
}

function unknown(program: string): string {
  return `writ does not know what ${showName(program)} starts or loads (its command)`
}

/** Of a file of the workspace, or of the host, which no participant changes. */
function entryReason(files: WorkspaceFiles, entry: string): string | null {
  const path = files.pathOf(entry)
  if (path !== null)
    return files.isFile(path) ? programReason(files, path) : `${showPath(path)} is not there`
  const host = new WorkspaceFiles('/')
  const file = host.pathOf(entry, files.root.slice(1))
  if (file === null || TEMPORARY.test(`/${file}`) || !host.isFile(file))
    return `${showPath(entry)} may be made by the work`
  const isWithin = [...loadedBy(host, [file]).modules].some(
    (path) => files.pathOf(`/${path}`) !== null,
  )
  return isWithin ? `${showPath(entry)} loads a file of the workspace` : programReason(host, file)
}

function jqReason(words: readonly string[]): string | null {
  const other = words.find((word) => word.startsWith('-') && !JQ_OPTION.test(word))
  if (other !== undefined) return `writ does not know the option ${showName(other)} of \`jq\``
  return words.some((word) => /\b(?:import|include)\b/.test(word))
    ? 'a text for `jq` loads a file'
    : null
}

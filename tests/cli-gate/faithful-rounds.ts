/**
 * One round: a random tree with owners, groups and hard links, and a random program over it. The
 * program runs plainly on a copy, and through writ on the tree. The two must be alike in path, kind,
 * mode, owner, group, content and in which names are one file, or writ has to ask and say why.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './place.ts'

export interface Account {
  /** In front of a command that this account gives. */
  readonly through: readonly string[]
  /** Ids that files of the tree get; the first is the account's own. */
  readonly owners: readonly string[]
  /** The program gives them as well. */
  readonly gives: boolean
}

export interface Round {
  readonly program: string
  /** Codes that were asked about besides the question that every such run is, and failed steps. */
  readonly told: readonly string[]
  /** Lines that are not alike; empty when writ told why. */
  readonly wrong: readonly string[]
}

/** What writ may ask instead of doing the same. */
const TELLS = ['diff.link_split', 'diff.owner_lost']
export const FAILED_INSIDE = 'failed inside'

/** Numbers below a bound, from a seed (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** What a round does instead of chance. */
interface Scripts {
  readonly build: string
  readonly change: string
}

export function faithfulRound(
  place: Place,
  seed: number,
  account: Account,
  scripts?: Scripts,
): Round {
  const random = numbers(seed)
  const [tree, plain] = [join(place.project, `t${seed}`), join(place.folder, 'plain')]
  const around = { through: account.through, cwd: tree, isWarm: true }
  mkdirSync(tree)
  shell(tree, scripts?.build ?? buildScript(random, account.owners))
  if (account.through.length > 0) {
    execFileSync('find', [
      tree,
      '-user',
      '0',
      '-exec',
      'chown',
      '-h',
      account.owners[0] ?? '',
      '{}',
      '+',
    ])
  }
  execFileSync('cp', ['-a', tree, plain])
  const program = scripts?.change ?? changeScript(random, account)
  const [command = 'sh', ...words] = [...account.through, 'sh', '-c', program]
  const steps = spawnSync(command, words, { cwd: plain, encoding: 'utf8' }).stdout
  try {
    const ran = place.exec([], program, around)
    const [question] = ran.status === 75 ? place.writ(['inbox', '--json'], around).json.pending : []
    const reasons: readonly { code: string }[] = question?.reasons ?? []
    const codes = reasons.map(({ code }) => code)
    // A step that fails inside tells the command, which may say so or not.
    const failed = ran.out === steps ? [] : [FAILED_INSIDE]
    const told = [...failed, ...codes.filter((code) => TELLS.includes(code))]
    const words = told.length > 0 ? ['deny', question?.id] : ['approve', question?.id, '--yes']
    const answered = question === undefined ? null : place.writ(words, around)
    const unlike = told.length > 0 ? [] : differences(listing(plain), listing(tree))
    const isOver = answered === null || answered.status === 0
    return { program, told, wrong: isOver ? unlike : [answered.err, ...unlike] }
  } finally {
    rmSync(plain, { recursive: true })
  }
}

function shell(cwd: string, script: string): void {
  execFileSync('sh', ['-ec', script], { cwd })
}

const DIRECTORIES = ['a', 'a/b', 'a/b/c', 'd', 'd/e']

/** Owners lie below the top level only in some trees, on it in others. */
function buildScript(random: (below: number) => number, owners: readonly string[]): string {
  const lines = ['mkdir -p a/b/c d/e']
  const files: string[] = []
  for (const directory of DIRECTORIES) {
    for (let index = random(3); index >= 0; index--) {
      const file = `${directory}/f${index}`
      const known = files[random(files.length * 4 + 1)]
      lines.push(known === undefined ? `echo ${file} > ${file}` : `ln ${known} ${file}`)
      files.push(file)
    }
  }
  for (const path of [...files, ...DIRECTORIES]) {
    if (random(6) === 0) lines.push(`chown ${owners[random(owners.length)]} ${path}`)
    if (random(8) === 0 && files.includes(path))
      lines.push(`chmod ${random(2) === 0 ? 600 : 755} ${path}`)
  }
  return lines.join('\n')
}

/** Every line may fail, in both trees alike. */
function changeScript(random: (below: number) => number, { owners, gives }: Account): string {
  const directory = (): string => DIRECTORIES[random(DIRECTORIES.length)] ?? 'a'
  const file = (): string => `${directory()}/f${random(3)}`
  const steps: readonly (() => string)[] = [
    () => `mv ${file()} ${directory()}/m${random(3)}`,
    () => `mv ${directory()} n${random(3)}`,
    () => `mv ${directory()} ${directory()}`,
    () => `mv ${file()} ${file()}`,
    () => `ln ${file()} ${directory()}/l${random(3)}`,
    () => `echo more >> ${file()}`,
    () => `echo new > ${directory()}/w${random(3)}`,
    () => `sed -i s/f/g/ ${file()}`,
    () => `rm -f ${file()}`,
    () => `chmod ${random(2) === 0 ? 640 : 755} ${file()}`,
    () => `chgrp ${owners[random(owners.length)]?.split(':')[1]} ${file()}`,
    () => `chown ${owners[random(owners.length)]} ${directory()}`,
  ].slice(0, gives ? undefined : -2)
  const lines = Array.from({ length: 1 + random(4) }, () => steps[random(steps.length)]?.() ?? ':')
  return lines.map((line) => `${line} 2>/dev/null && echo done || echo failed`).join('\n')
}

function listing(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const firsts = new Map<number, string>()
  const open = ['']
  for (let below = open.pop(); below !== undefined; below = open.pop()) {
    const at = join(root, below)
    const { mode, uid, gid, ino } = lstatSync(at)
    const isDirectory = (mode & 0o170000) === 0o040000
    const isLink = (mode & 0o170000) === 0o120000
    const content = isDirectory ? '' : isLink ? readlinkSync(at) : readFileSync(at, 'utf8')
    // The number of names counts what writ keeps for an undo.
    const first = firsts.get(ino) ?? below
    firsts.set(ino, first)
    found.set(below, [mode.toString(8), uid, gid, first, content].join(' '))
    if (isDirectory)
      open.push(
        ...readdirSync(at)
          .sort()
          .reverse()
          .map((name) => join(below, name)),
      )
  }
  return found
}

function differences(plain: ReadonlyMap<string, string>, real: ReadonlyMap<string, string>) {
  const names = new Set([...plain.keys(), ...real.keys()])
  return [...names].flatMap((name) => {
    const [one, other] = [plain.get(name), real.get(name)]
    return one === other ? [] : [`${name}: ${one} plainly, ${other} through writ`]
  })
}

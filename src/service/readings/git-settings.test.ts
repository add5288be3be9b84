/** Git's configuration files are read as git reads them, and few settings name what git runs. */
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { namesFile, readGitSettings } from './git-settings.ts'

/** Returns what git reads, as `section.subsection.key` and value; null where git refuses. */
function readByGit(text: string): readonly string[] | null {
  const listing = ['config', '-f', '-', '--no-includes', '--list', '-z']
  const { status, stdout } = spawnSync('git', listing, {
    input: Buffer.from(text),
    encoding: 'latin1',
  })
  return status === 0 ? stdout.split('\0').slice(0, -1) : null
}

function readHere(text: string): readonly string[] | null {
  const settings = readGitSettings(Buffer.from(text).toString('latin1'))
  const lines = settings?.map(({ section, subsection, key, value }) => {
    const name = [section, ...(subsection === '' ? [] : [subsection]), key].join('.')
    return `${name}\n${value}`
  })
  return lines ?? null
}

describe('a text is read as by git', () => {
  it.each([
    ['ordinary settings', '[core]\n\tbare = false\n[user]\n\tname = Ann B\n'],
    ['a key in the line of its section', '[core] hooksPath = a\n'],
    ['two sections in one line', '[a][core]fsmonitor=x'],
    ['a bracket in a subsection', '[a "]"] path = x\n[core] editor = y\n'],
    ['escapes in a subsection', '[url "a\\"b\\\\c"]\n insteadOf = x\n'],
    ['a subsection after a dot', '[Diff.Word] command = x\n'],
    ['a value in parts', '[core] editor = too"ls/a b"c   d \n'],
    ['a value over two lines', '[core] editor = to\\\nols/a\n'],
    ['escapes in a value', '[core] editor = "a\\tb\\\\c\\"d"\n'],
    ['comments', '# one\n; two\n[core] editor = a # b\n pager = "a # b" ; c'],
    ['letters of both cases', '[CORE] hooksPATH = x\n'],
    ['line ends of other systems', '[core]\r\n editor = a\r\n'],
    ['a mark of the byte order', '\ufeff[core]\neditor = a\n'],
    ['nothing', ''],
    ['a section without an end', '[core'],
    ['a quote without an end', '[core] editor = "a\n'],
    ['an unknown escape', '[core] editor = a\\qb\n'],
    ['a key of digits', '[core] 1 = a\n'],
    ['a word after the key', '[core] editor a\n'],
  ])('%s', (_, text) => {
    expect(readHere(text)).toEqual(readByGit(text))
  })
})

function isNaming(text: string): boolean {
  return (readGitSettings(text) ?? []).some(namesFile)
}

describe('a value that git runs or opens', () => {
  it.each([
    '[core] hooksPath = a',
    '[core] fsmonitor = a',
    '[core] pager = a',
    '[pager] log = a',
    '[include] path = a',
    '[includeIf "gitdir:x"] path = a',
    '[diff "x"] textconv = a',
    '[filter "x"] process = a',
    '[merge "x"] driver = a',
    '[gpg "ssh"] program = a',
    '[credential "https://x"] helper = a',
    '[remote "o"] uploadpack = a',
    '[url "ext::a"] insteadOf = x',
    '[submodule "s"] update = !a',
    '[alias] x = !a',
    '[alias] x = -c core.editor=a commit',
    '[alias] x = rebase -x a',
    '[later] someCommand = a',
  ])('%s', (text) => {
    expect(isNaming(text)).toBe(true)
  })
})

describe('a value that is a word', () => {
  it.each([
    '[user] name = a',
    '[user] email = a',
    '[branch "x"] remote = a',
    '[alias] x = commit',
    '[alias] x = log --oneline',
    '[init] defaultBranch = a',
    '[merge] tool = a',
    '[later] something = a',
  ])('%s', (text) => {
    expect(isNaming(text)).toBe(false)
  })
})

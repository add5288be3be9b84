/**
 * Where git takes configuration and hooks from: the directory that a `.git` file names, `commondir`,
 * `core.hooksPath`, included files, programs that a setting names, links among the hooks, and bare
 * repositories that lie in a tree.
 */
import { joinRaw, type PointedBy, parentOfRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import type { ChangedView } from './changed-view.ts'
import { type GitSetting, namesFile, readGitSettings } from './git-settings.ts'

interface GitTarget {
  readonly path: RawPath
  readonly by: PointedBy
  /** Everything below it as well. */
  readonly isTree: boolean
}

const CONFIG_BYTES_MAX = 1024 * 1024
const CONFIGS_MAX = 100

const name = rawOfText
const GIT = name('.git')
const CONFIGS = ['config', 'config.worktree'].map(name)
const HOOKS = name('hooks')
const SHARED = [...CONFIGS, HOOKS, name('info/attributes')]

export class GitReach {
  readonly #view: ChangedView
  readonly #homes: readonly RawPath[]
  readonly #targets: GitTarget[] = []
  readonly #read = new Set<string>()

  constructor(view: ChangedView, homes: readonly RawPath[]) {
    this.#view = view
    this.#homes = homes
  }

  /** Looks at one directory: as a work tree, and as a bare repository. */
  look(directory: RawPath): void {
    if (this.#isBare(directory)) {
      this.#add([...SHARED, name('HEAD'), name('commondir')], directory, 'bare_repository')
      this.#repository(directory, directory)
    }
    const git = joinRaw(directory, GIT)
    const kind = this.#view.kind(git)
    if (kind === null) return
    const place = kind === 'file' ? this.#named(git, directory, /^gitdir:(.*)$/m) : git
    if (place === null) return
    const own = this.#view.resolve(place).path
    if (own !== git) this.#add(SHARED, own, 'git_directory')
    this.#repository(own, directory)
    const common = this.#named(joinRaw(own, name('commondir')), own, /^(.*)$/m)
    if (common === null) return
    const shared = this.#view.resolve(common).path
    if (!shared.endsWith('/.git')) this.#add(SHARED, shared, 'git_directory')
    this.#repository(shared, directory)
  }

  found(): readonly GitTarget[] {
    return this.#targets
  }

  /** A directory that git obeys without being called `.git`. */
  #isBare(directory: RawPath): boolean {
    if (directory.endsWith('/.git') || `${directory}/`.includes('/.git/')) return false
    const kindOf = (entry: string) => this.#view.kind(joinRaw(directory, name(entry)))
    if (kindOf('HEAD') === null) return false
    return kindOf('commondir') !== null || (kindOf('objects') !== null && kindOf('refs') !== null)
  }

  #add(names: readonly RawPath[], directory: RawPath, by: PointedBy): void {
    for (const each of names) {
      this.#targets.push({ path: joinRaw(directory, each), by, isTree: each === HOOKS })
    }
  }

  #repository(git: RawPath, worktree: RawPath): void {
    for (const each of CONFIGS) this.#config(joinRaw(git, each), worktree)
    for (const home of this.#homes) {
      this.#config(joinRaw(home, name('.gitconfig')), worktree)
      this.#config(joinRaw(home, name('.config/git/config')), worktree)
    }
    this.#hookLinks(joinRaw(git, HOOKS))
  }

  #hookLinks(hooks: RawPath): void {
    const { path } = this.#view.resolve(hooks)
    if (path !== hooks) this.#targets.push({ path, by: 'link', isTree: true })
    for (const each of this.#view.names(path)) {
      const hook = joinRaw(path, each)
      if (this.#view.kind(hook) !== 'symlink') continue
      this.#targets.push({ path: this.#view.resolve(hook).path, by: 'link', isTree: false })
    }
  }

  /** Looks at the settings of a configuration that name a program or a file. */
  #config(path: RawPath, worktree: RawPath): void {
    const key = `${path}\0${worktree}`
    if (this.#read.has(key) || this.#read.size > CONFIGS_MAX) return
    this.#read.add(key)
    const file = this.#view.resolve(path).path
    if (file !== path) this.#point(file)
    const text = this.#view.read(file, CONFIG_BYTES_MAX)
    if (text === null) return
    const settings = readGitSettings(text)
    // Git stops at such a file. Other programs may read it, so each of its words counts.
    if (settings === null) this.#words(text, worktree)
    for (const setting of settings ?? []) this.#setting(setting, file, worktree)
  }

  #setting(setting: GitSetting, file: RawPath, worktree: RawPath): void {
    if (!namesFile(setting)) return
    const { section, subsection, key } = setting
    const value = setting.value.replace(/^:\(optional\)/, '')
    if (key === 'hookspath') {
      const hooks = this.#placed(value, worktree)
      this.#targets.push({ path: hooks, by: 'git_config', isTree: true })
      this.#hookLinks(hooks)
      return
    }
    if (key === 'templatedir') {
      // `git init` and `git clone` copy all of it into the new repository.
      const template = this.#placed(value, worktree)
      this.#targets.push({ path: template, by: 'git_config', isTree: true })
      this.#hookLinks(joinRaw(template, HOOKS))
      return
    }
    if (key === 'path' && section.startsWith('include')) {
      const included = this.#placed(value, parentOfRaw(file))
      this.#point(included)
      this.#config(included, worktree)
    }
    if (section === 'url') this.#words(subsection, worktree)
    if (value !== '') this.#point(this.#placed(value, worktree))
    this.#words(value, worktree)
  }

  #words(text: string, worktree: RawPath): void {
    for (const word of text.split(/[\s'"`;|&<>()=!]+/)) {
      // A name without a slash is looked up in PATH, but a shell may read it as a file here.
      if (word === '' || word.startsWith('-')) continue
      this.#point(this.#placed(word, worktree))
    }
  }

  #point(path: RawPath): void {
    this.#targets.push({ path, by: 'git_config', isTree: false })
  }

  #placed(text: string, directory: RawPath): RawPath {
    const [home] = this.#homes
    // Raw all the way: the text is of a file that was read as bytes.
    if (text.startsWith('~/') && home !== undefined) {
      return this.#view.resolve(`${home}${text.slice(1)}` as RawPath).path
    }
    const whole = text.startsWith('/') ? text : `${directory}/${text}`
    return this.#view.resolve(whole as RawPath).path // Raw, as above.
  }

  /** The path that a small file of git names. */
  #named(file: RawPath, base: RawPath, pattern: RegExp): RawPath | null {
    const text = this.#view.kind(file) === 'file' ? this.#view.read(file, CONFIG_BYTES_MAX) : null
    const named = pattern.exec(text ?? '')?.[1]?.trim()
    return named === undefined || named === '' ? null : this.#placed(named, base)
  }
}

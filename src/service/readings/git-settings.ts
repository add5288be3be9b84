/**
 * Reads git's configuration files by git's own grammar, and says which settings name what git runs or
 * reads: a hook, a filter or an included file acts later, a name of a person does not.
 */

export interface GitSetting {
  /** In lower case, as git compares it. */
  readonly section: string
  /** Between the quotes of a section, or after its dot; empty without one. */
  readonly subsection: string
  /** In lower case. */
  readonly key: string
  readonly value: string
}

/** Keys of git's documentation whose value git runs, or reads as a path or an address. */
const NAMING: ReadonlySet<string> = new Set([
  ...['alternaterefscommand', 'askpass', 'fsmonitor', 'gitproxy', 'sshcommand', 'worktree'],
  ...['attributesfile', 'excludesfile', 'template', 'templatedir', 'hookspath', 'packobjectshook'],
  ...['external', 'orderfile', 'difffilter', 'cmd', 'cccmd', 'tocmd', 'headercmd', 'sendmailcmd'],
  ...['smtpserver', 'aliasesfile', 'signaturefile', 'tunnel', 'browser', 'viewer', 'httpd'],
  ...['uploadpack', 'receivepack', 'vcs', 'url', 'pushurl', 'uri', 'insteadof', 'pushinsteadof'],
  ...['signingkey', 'allowedsignersfile', 'revocationfile', 'ignorerevsfile', 'skiplist', 'file'],
  ...['cookiefile', 'sslcainfo', 'sslcert', 'sslkey', 'proxysslcainfo', 'proxysslcert'],
  ...['proxysslkey', 'normaltarget', 'perftarget', 'eventtarget', 'authorsprog', 'authorsfile'],
])

/** How keys end that run something, also those that no version of git had when this was written. */
const RUNNING =
  /(?:command|program|path|hook|driver|editor|pager|helper|textconv|clean|smudge|process)$/

/** Options of git's commands that run something or set settings, in an alias. */
const RUNNING_OPTION =
  /(?:^|\s)-(?:[cCOx]|-(?:config|exec|extcmd|git-dir|open|receive|upload|work-tree))/

/** Returns whether the value may name a program or a file that git uses. */
export function namesFile({ section, key, value }: GitSetting): boolean {
  if (value.startsWith('!') || section === 'pager') return true
  if (section === 'alias') return RUNNING_OPTION.test(value)
  return NAMING.has(key) || RUNNING.test(key)
}

/** Returns the settings in their order; null for a text that git refuses. */
export function readGitSettings(text: string): readonly GitSetting[] | null {
  const reading = new SettingsReader(
    text.replace(/^\u00ef\u00bb\u00bf/, '').replaceAll('\r\n', '\n'),
  )
  return reading.all()
}

const HEADER = /\[([\w.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y
const KEY = /([A-Za-z][A-Za-z0-9-]*)[ \t]*/y
const BLANK = /(?:[ \t\r\n]|[#;][^\n]*)+/y
const ESCAPED: Readonly<Record<string, string>> = {
  t: '\t',
  b: '\b',
  n: '\n',
  '\\': '\\',
  '"': '"',
}

class SettingsReader {
  readonly #text: string
  #at = 0
  #section = ''
  #subsection = ''

  constructor(text: string) {
    this.#text = text
  }

  all(): readonly GitSetting[] | null {
    const settings: GitSetting[] = []
    for (this.#take(BLANK); this.#at < this.#text.length; this.#take(BLANK)) {
      if (this.#text[this.#at] === '[') {
        if (!this.#header()) return null
        continue
      }
      const key = this.#take(KEY)?.[1]
      const value = key === undefined || this.#section === '' ? null : this.#assigned()
      if (key === undefined || value === null) return null
      const [section, subsection] = [this.#section, this.#subsection]
      settings.push({ section, subsection, key: key.toLowerCase(), value })
    }
    return settings
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found !== null) this.#at = pattern.lastIndex
    return found
  }

  #header(): boolean {
    const found = this.#take(HEADER)
    if (found === null) return false
    const [, name = '', quoted] = found
    const [section = '', ...rest] = name.toLowerCase().split('.')
    this.#section = section
    this.#subsection = quoted === undefined ? rest.join('.') : quoted.replace(/\\(.)/g, '$1')
    return true
  }

  /** Returns what follows the key; empty for a key alone, null for what git does not take. */
  #assigned(): string | null {
    const next = this.#text[this.#at] ?? '\n'
    if (next === '\n') return ''
    if (next !== '=') return null
    this.#at++
    return this.#value()
  }

  #value(): string | null {
    let [value, blanks, isQuoted] = ['', 0, false]
    while (this.#at < this.#text.length) {
      const next = this.#text[this.#at++] ?? ''
      if (next === '\n') return isQuoted ? null : value
      if (!isQuoted && /[ \t\r]/.test(next)) {
        if (value !== '') blanks++
        continue
      }
      if (!isQuoted && /[#;]/.test(next)) {
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end === -1 ? this.#text.length : end + 1
        return value
      }
      value += ' '.repeat(blanks)
      blanks = 0
      if (next === '"') isQuoted = !isQuoted
      else if (next !== '\\') value += next
      else {
        const escaped = this.#text[this.#at++] ?? '\n'
        const meant = escaped === '\n' ? '' : ESCAPED[escaped]
        if (meant === undefined) return null
        value += meant
      }
    }
    return isQuoted ? null : value
  }
}

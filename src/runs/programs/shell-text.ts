/**
 * Reads the text of a shell as the simple commands that it starts, one after another, each with the
 * directory and the variables that it starts with. A part that only the run knows, such as `$X` of
 * another place, is `UNKNOWN` in its word, so that callers can refuse instead of guess.
 *
 * Not read: what a word means to the program that gets it; see `invocations.ts`.
 */
import { dirname, resolve } from 'node:path'
import { balanced, lineEnd } from './text-ends.ts'

/** The part of a word that is known at run time alone. No path and no argument can hold it. */
export const UNKNOWN = '\0'

/** Variables that the shell starts with and that a text often repeats to add to them. */
const INHERITED = ['PATH', 'NODE_PATH', 'NODE_OPTIONS', 'PYTHONPATH', 'PERL5LIB', 'RUBYLIB']

export interface ShellCommand {
  readonly words: readonly string[]
  /** Absolute; null if it is known at run time alone. */
  readonly directory: string | null
  /** Assigned in the text. */
  readonly variables: ReadonlyMap<string, string>
  /** Files that its input comes from. */
  readonly reads?: readonly string[]
  /** Where it runs instead if a `cd` before it fails. */
  readonly behind?: readonly string[]
  /** The text and line that it is in: `review.sh:3`. */
  readonly at?: string
  /** Why not all that it starts is followed. */
  readonly open?: string
}

interface Scope {
  directory: string | null
  readonly variables: Map<string, string>
  behind: readonly string[]
  /** A command that fails ends the shell: `set -e`. */
  isStrict: boolean
}

/** An open part of the grammar, the directory that it began in, and the commands before it. */
interface Compound {
  readonly kind: 'branch' | 'case' | 'loop' | 'function' | 'group'
  readonly directory: string | null
  readonly from: number
  /** How many subshells were open. */
  readonly depth: number
  readonly isPiped: boolean
  isMoved: boolean
}

/** What a command comes behind. */
type Link = '&&' | '||' | '|' | null

interface ShellStart {
  readonly directory: string | null
  readonly variables?: ReadonlyMap<string, string>
  readonly behind?: readonly string[]
  /** `$0`: absolute, or null for a text without a file. */
  readonly script: string | null
  /** What the text is called, and the line that it begins in. */
  readonly source?: string
  readonly line?: number
}

export function shellCommands(text: string, start: ShellStart): readonly ShellCommand[] {
  const reader = new ShellReader(text, start)
  reader.read()
  return reader.commands
}

/** Words of the shell's grammar that a command can follow. */
const KEYWORDS = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', 'time'])
/** Commands that start nothing: the rest of the grammar. */
const CLOSED = new Set(['fi', 'done', 'esac', '}', 'case', 'for', 'select'])
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/
const ENDS = /^(?:fi|done|esac|\})$/
const FUNCTION = /^\(\s*\)/
const NAMED = /^[A-Za-z_]\w*|^[0-9@*#?!$-]/

class ShellReader {
  readonly commands: ShellCommand[] = []
  readonly #text: string
  readonly #script: string | null
  readonly #outer: Scope[] = []
  readonly #ends: string[] = []
  #scope: Scope
  #at = 0
  #words: string[] = []
  #reads: string[] = []
  #link: Link = null
  /** `behind` of the scope where a chain of `&&` began. */
  #chain: readonly string[]
  readonly #compounds: Compound[] = []
  /** Commands of functions, by their places: a function runs where it is called. */
  readonly #bodies: (readonly [from: number, to: number])[] = []
  /** The name and `()` of a function were read, and its body follows. */
  #isFunction = false
  /** What functions of the text are called: their bodies are read. */
  readonly #functions = new Set<string>()
  /** A pattern of `case` is read. */
  #isPattern = false
  readonly #source: string | undefined
  readonly #line: number
  /** Where the command begins. */
  #from = 0

  constructor(text: string, { directory, variables, behind = [], script, ...from }: ShellStart) {
    this.#text = text
    this.#source = from.source
    this.#line = from.line ?? 1
    this.#script = script
    this.#chain = behind
    const inherited = INHERITED.map((name) => [name, ''] as const)
    const own = new Map([...inherited, ...(variables ?? [])])
    this.#scope = { directory, variables: own, behind, isStrict: false }
  }

  read(): void {
    while (this.#at < this.#text.length) {
      const sign = this.#text[this.#at] ?? ''
      if (/[ \t\r]/.test(sign)) this.#at++
      else if (sign === '#') this.#at = lineEnd(this.#text, this.#at)
      else if (sign === '<' || sign === '>') this.#redirect()
      else if (/[\n;&|()]/.test(sign)) this.#operate(sign)
      else if (this.#text.startsWith('\\\n', this.#at)) this.#at += 2
      else this.#take(this.#word())
    }
    this.#end()
  }

  /** A number directly before a redirection is a descriptor, no word. */
  #take(word: string): void {
    if (/^\d+$/.test(word) && /[<>]/.test(this.#text[this.#at] ?? '')) return
    if (this.#words.length === 0) this.#from = this.#at
    this.#words.push(word)
  }

  #operate(sign: string): void {
    if (sign === '(' && this.#function()) return
    const isDouble = this.#text[this.#at + 1] === sign && /[&|;]/.test(sign)
    this.#at += isDouble ? 2 : 1
    if (sign === '|' && this.#isPattern && this.#words[0] !== 'esac') {
      this.#words = []
      return
    }
    if (sign === ';' && isDouble) this.#isPattern = true
    if (sign === '&' && this.#text[this.#at] === '>') return
    if (sign === ')' && this.#pattern()) return
    const before = ENDS.test(this.#words[0] ?? '') ? this.#compounds.at(-1) : this.#scope
    const from = before?.directory
    this.#end()
    // A part of a pipeline, and what runs in the background, moves only itself.
    const isApart = !isDouble && (sign === '|' || sign === '&')
    if (isApart && this.#scope.directory !== from) this.#scope.directory = null
    this.#link = sign === '|' ? (isDouble ? '||' : '|') : isDouble && sign === '&' ? '&&' : null
    const { variables } = this.#scope
    if (sign === '(') {
      this.#outer.push(this.#scope)
      this.#scope = { ...this.#scope, variables: new Map(variables) }
      if (this.#isFunction) this.#scope.directory = null
      this.#isFunction = false
    }
    if (sign === ')') this.#scope = this.#outer.pop() ?? this.#scope
    if (sign === '\n') this.#skipDocuments()
  }

  /** Whether this is the `()` of a function, which is then behind. */
  #function(): boolean {
    const [sign] = FUNCTION.exec(this.#text.slice(this.#at, this.#at + 20)) ?? []
    const names = this.#words.filter((word) => word !== 'function')
    if (sign === undefined || names.length !== 1) return false
    this.#at += sign.length
    this.#functions.add(names[0] ?? '')
    this.#words = []
    this.#isFunction = true
    return true
  }

  /** Whether this was the end of a pattern of `case`: what follows begins where the `case` began. */
  #pattern(): boolean {
    if (this.#words[0] === 'case') this.#end()
    const compound = this.#compounds.at(-1)
    if (compound?.kind !== 'case' || compound.depth !== this.#outer.length) return false
    this.#words = []
    this.#isPattern = false
    if (this.#scope.directory !== compound.directory) compound.isMoved = true
    this.#scope.directory = compound.directory
    return true
  }

  /** The target of a redirection is no word of the command; what `<(…)` starts is read. */
  #redirect(): void {
    const sign = /^(?:<<<|<<-?|<&|<>|>>|>&|>\||<|>)/.exec(this.#text.slice(this.#at, this.#at + 3))
    const [redirection = '<'] = sign ?? []
    this.#at += redirection.length
    if (this.#text[this.#at] === '(') return
    while (/[ \t]/.test(this.#text[this.#at] ?? '')) this.#at++
    if (/[\n;&|()]|^$/.test(this.#text[this.#at] ?? '')) return
    const word = this.#word()
    if (redirection === '<' || redirection === '<>') this.#reads.push(word)
    if (redirection === '<<' || redirection === '<<-') this.#ends.push(word)
  }

  #skipDocuments(): void {
    for (const end of this.#ends.splice(0)) {
      while (this.#at < this.#text.length) {
        const line = this.#text.slice(this.#at, lineEnd(this.#text, this.#at))
        this.#at += line.length + 1
        if (line.trim() === end) break
        if (/\$\(|`/.test(line)) this.#leave('a text behind `<<` that starts programs')
      }
    }
  }

  #word(): string {
    const [test] = /^\[\[?(?=\s)/.exec(this.#text.slice(this.#at, this.#at + 3)) ?? []
    let word = test ?? ''
    this.#at += word.length
    while (this.#at < this.#text.length) {
      const sign = this.#text[this.#at] ?? ''
      if (/[\s;&|()<>]/.test(sign)) break
      if (sign === "'") word += this.#single()
      else if (sign === '"') word += this.#double()
      else if (sign === '\\') word += this.#escaped()
      else if (sign === '$') word += parted(this.#expansion())
      else if (sign === '`') word += this.#backquoted()
      else {
        // What a pattern means is known when it is run.
        const next = this.#text[this.#at + 1] ?? ''
        const isPattern = /[*?[]/.test(sign) || (sign === '{' && !/[}\s]/.test(next))
        word += isPattern || (sign === '~' && /(?:^|[=:])$/.test(word)) ? UNKNOWN : sign
        this.#at++
      }
    }
    return word
  }

  /** Adds a command in the place of something that is not read. */
  #leave(open: string): void {
    const { directory, variables } = this.#scope
    this.commands.push({ words: [':'], directory, variables, open, ...this.#place() })
  }

  #place(): Pick<ShellCommand, 'at'> {
    const line = this.#text.slice(0, this.#from).split('\n').length + this.#line - 1
    return this.#source === undefined ? {} : { at: `${this.#source}:${line}` }
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at + 1)
    const last = end === -1 ? this.#text.length : end
    const inside = this.#text.slice(this.#at + 1, last)
    this.#at = last + 1
    return inside
  }

  #double(): string {
    let inside = ''
    for (this.#at++; this.#at < this.#text.length; ) {
      const sign = this.#text[this.#at] ?? ''
      if (sign === '"') break
      if (sign === '$') inside += this.#expansion()
      else if (sign === '`') inside += this.#backquoted()
      else if (sign === '\\' && /["$`\\\n]/.test(this.#text[this.#at + 1] ?? ''))
        inside += this.#escaped()
      else {
        inside += sign
        this.#at++
      }
    }
    this.#at++
    return inside
  }

  #escaped(): string {
    const sign = this.#text[this.#at + 1] ?? ''
    this.#at += 2
    return sign === '\n' ? '' : sign
  }

  #backquoted(): string {
    const end = this.#text.indexOf('`', this.#at + 1)
    const last = end === -1 ? this.#text.length : end
    const inside = this.#text.slice(this.#at + 1, last)
    this.#at = last + 1
    return this.#substituted(inside)
  }

  #expansion(): string {
    const rest = this.#text.slice(this.#at + 1)
    if (rest.startsWith('(')) {
      const inside = balanced(rest)
      this.#at += inside.length + 3
      // Arithmetic starts nothing.
      if (/^\([^$`]*\)$/.test(inside)) return UNKNOWN
      return this.#substituted(inside)
    }
    if (rest.startsWith('{')) {
      const end = rest.indexOf('}')
      const inside = rest.slice(1, end === -1 ? rest.length : end)
      this.#at += inside.length + 3
      if (/^(?:0|BASH_SOURCE(?:\[0\])?)%\/\*$/.test(inside)) return folderOf(this.#valueOf('0'))
      return this.#valueOf(inside)
    }
    const [name] = NAMED.exec(rest) ?? []
    this.#at += 1 + (name?.length ?? 0)
    return name === undefined ? '$' : this.#valueOf(name)
  }

  #valueOf(name: string): string {
    if (name === '0' || /^BASH_SOURCE(?:\[0\])?$/.test(name)) return this.#script ?? UNKNOWN
    if (name === 'PWD') return this.#scope.directory ?? UNKNOWN
    return this.#scope.variables.get(name) ?? UNKNOWN
  }

  /** A file that is read into this shell may set every variable; that of a Python environment is known. */
  #sourced(file: string): void {
    const environment = /^(.*\bbin)\/activate$/.exec(file)?.[1]
    const path = environment === undefined ? UNKNOWN : this.#resolved(environment)
    this.#scope.variables.set('PATH', path)
  }

  /** What `$(…)` gives: a directory in the usual spellings, else unknown. What it starts is read. */
  #substituted(text: string): string {
    const plain = text.trim()
    if (/^pwd(?:\s+-[PL])?$/.test(plain)) return this.#scope.directory ?? UNKNOWN
    const [, moved] =
      /^cd\s+(?:--\s+)?([\s\S]+?)\s*(?:>\s*\/dev\/null\s*)?(?:&&|;)\s*pwd(?:\s+-[PL])?$/.exec(
        plain,
      ) ?? []
    if (moved !== undefined) return this.#resolved(this.#inner(moved))
    const [, named] = /^dirname\s+(?:--\s+)?([\s\S]+)$/.exec(plain) ?? []
    if (named !== undefined) return folderOf(this.#inner(named))
    const [, real] = /^(?:realpath|readlink\s+-f)\s+(?:--\s+)?([\s\S]+)$/.exec(plain) ?? []
    if (real !== undefined) return this.#resolved(this.#inner(real))
    const { at = '' } = this.#place()
    const line = Number(/\d+$/.exec(at)?.[0] ?? 1)
    const source = this.#source === undefined ? {} : { source: this.#source }
    const start = { ...this.#scope, script: this.#script, line, ...source }
    this.commands.push(...shellCommands(text, start))
    return UNKNOWN
  }

  /** One word inside a substitution; unknown where it is not one word. */
  #inner(text: string): string {
    const reader = new ShellReader(`: ${text}`, { ...this.#scope, script: this.#script })
    reader.read()
    const [only, ...others] = reader.commands
    const [, word = UNKNOWN, ...more] = only?.words ?? []
    return others.length > 0 || more.length > 0 ? UNKNOWN : word
  }

  #resolved(word: string): string {
    const { directory } = this.#scope
    return word.includes(UNKNOWN) || directory === null ? UNKNOWN : resolve(directory, word)
  }

  #end(): void {
    const words = this.#words
    const reads = this.#reads
    this.#words = []
    this.#reads = []
    const link = this.#link
    this.#link = null
    if (words[0] === 'function') {
      words.splice(0, 2)
      this.#isFunction = true
    }
    const isNegated = this.#openings(words, link)
    const [first] = words
    // A file that no program reads is read by the shell: `$(< file)`, `done < file`.
    const isAlone = first === undefined || CLOSED.has(first)
    if (reads.length > 0 && isAlone) this.#start([':'], link, reads)
    if (first === undefined) return
    if (CLOSED.has(first)) return this.#compound(first, words, link)
    this.#start(words, isNegated ? '||' : link, reads)
  }

  /** Takes the words of the grammar off a command, and says whether one of them is `!`. */
  #openings(words: string[], link: Link): boolean {
    let isNegated = false
    for (; words[0] !== undefined && KEYWORDS.has(words[0]); words.shift()) {
      const [word] = words
      if (word === 'if') this.#open('branch', link)
      if (word === 'while' || word === 'until') this.#open('loop', link)
      if (word === '{') this.#open(this.#isFunction ? 'function' : 'group', link)
      if (word === '{') this.#isFunction = false
      if (word === '!') isNegated = true
      const isOther = this.#compounds.at(-1)?.directory !== this.#scope.directory
      if ((word === 'else' || word === 'elif') && isOther) this.#scope.directory = null
    }
    return isNegated
  }

  #open(kind: Compound['kind'], link: Link): void {
    const { directory } = this.#scope
    const [from, depth] = [this.commands.length, this.#outer.length]
    this.#compounds.push({ kind, directory, from, depth, isPiped: link === '|', isMoved: false })
  }

  #compound(first: string, words: readonly string[], link: Link): void {
    if (ENDS.test(first)) this.#close()
    if (first === 'esac') this.#isPattern = false
    if (first === 'case') this.#open('case', link)
    if (first === 'for' || first === 'select') this.#open('loop', link)
    // The variable of a loop has many values.
    if (first !== 'case' && words[1] !== undefined) this.#scope.variables.delete(words[1])
  }

  /** After a compound that may have changed the directory, it is not known, nor where a loop runs again. */
  #close(): void {
    const compound = this.#compounds.pop()
    if (compound === undefined) return
    const { kind, from, isPiped } = compound
    if (kind === 'function') this.#bodies.push([from, this.commands.length])
    const isMoved = compound.isMoved || compound.directory !== this.#scope.directory
    if (!isMoved || (kind === 'group' && !isPiped)) return
    this.#scope.directory = null
    if (kind === 'loop' || kind === 'function') this.#lose(from, this.commands.length)
  }

  /** Forgets where these commands run. */
  #lose(from: number, to: number): void {
    for (let place = from; place < to; place++) {
      const command = this.commands[place]
      if (command !== undefined) this.commands[place] = { ...command, directory: null }
    }
  }

  #start(words: string[], link: Link, reads: readonly string[]): void {
    const isConditional = link !== null || this.#compounds.some(({ kind }) => kind !== 'group')
    if (link === null) this.#chain = this.#scope.behind
    const own = new Map(this.#scope.variables)
    const set: string[] = []
    while (ASSIGNMENT.test(words[0] ?? '')) set.push(words.shift() ?? '')
    for (const word of set) assign(own, word, false)
    const [first, ...rest] = words
    if (first === undefined || /^(?:export|readonly|local|declare|typeset)$/.test(first)) {
      for (const word of [...set, ...rest]) assign(this.#scope.variables, word, isConditional)
      if (rest.some((word) => word.startsWith(UNKNOWN)))
        this.#leave('a variable whose name is known only when it runs')
      return
    }
    if (first === 'read' || first === 'unset')
      for (const name of rest) this.#scope.variables.set(name, UNKNOWN)
    if (first === '.' || first === 'source') this.#sourced(rest[0] ?? UNKNOWN)
    if (first === 'set' && rest.some((word) => /^-[a-z]*e|^errexit$/.test(word)))
      this.#scope.isStrict = true
    // Behind `cd DIR || exit`, the directory is the new one.
    if (link === '||' && /^(?:exit|return)$/.test(first)) this.#scope.behind = this.#chain
    if (/^(?:cd|pushd|popd)$/.test(first)) return this.#move(first, rest, link)
    const { directory } = this.#scope
    const behind = link === '&&' ? this.#chain : this.#scope.behind
    const input = reads.length === 0 ? {} : { reads }
    // The body of a function is read where it is written.
    const said = this.#functions.has(first) ? [':', ...rest] : words
    this.commands.push({
      words: said,
      directory,
      variables: own,
      behind,
      ...input,
      ...this.#place(),
    })
  }

  #move(first: string, words: readonly string[], link: Link): void {
    const { directory, behind, isStrict } = this.#scope
    const to = words.find((word) => !/^-[PLe@]*$|^--$/.test(word))
    const place = to === undefined || first === 'popd' ? UNKNOWN : this.#resolved(to)
    this.#scope.directory = place === UNKNOWN || link === '||' || link === '|' ? null : place
    if (this.#scope.directory === directory) return
    if (directory !== null && !isStrict) this.#scope.behind = [...behind, directory]
    for (const [from, end] of this.#bodies) this.#lose(from, end)
  }
}

/** One that may not take place, over another value, leaves neither. */
function assign(variables: Map<string, string>, word: string, isConditional: boolean): void {
  const [, name, given = ''] = ASSIGNMENT.exec(word) ?? []
  if (name === undefined) return
  const known = variables.get(name)
  // An empty search path is the present directory.
  const plain = name === 'PATH' && given === '' ? UNKNOWN : given
  const value = /^\w+\+=/.test(word) ? `${known ?? UNKNOWN}${plain}` : plain
  const isOther = known !== undefined && known !== '' && known !== value
  variables.set(name, isConditional && isOther ? UNKNOWN : value)
}

/** Without quotation marks the shell makes several words of a value with white space. */
function parted(value: string): string {
  return /[\s*?[]/.test(value) ? UNKNOWN : value
}

function folderOf(path: string): string {
  return path.includes(UNKNOWN) ? UNKNOWN : dirname(path)
}

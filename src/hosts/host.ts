/**
 * What an adapter of a coding agent is: data, and a translator of its hooks. All paths of state are
 * relative to the user's home directory. A fact without a tested version comes from documentation.
 */
import type { HookAnswer, HookBoundary, PrintedAnswer, ToolReport } from './report.ts'

export type AgentName =
  | 'claude-code'
  | 'codex'
  | 'gemini'
  | 'copilot'
  | 'opencode'
  | 'cline'
  | 'pi'
  | 'qwen'
  | 'cursor'
  | 'vscode'
  | 'windsurf'
  | 'kiro'
  | 'goose'

export interface AgentHost {
  readonly name: AgentName
  readonly title: string
  /** Versions whose facts were measured; empty if all come from documentation. */
  readonly tested: readonly string[]
  /** Names of its program, without directory and extension. */
  readonly programs: readonly string[]
  /** npm packages that hold it, as `npx` and paths below `node_modules` name them. */
  readonly packages: readonly string[]
  readonly session: SessionSettings
  readonly state: HostState
  readonly endpoints: readonly ModelEndpoint[]
  readonly hooks: HookContract
  /** Files of a repository that switch hooks off or widen rights, and what survives each. */
  readonly switches: readonly RepositorySwitch[]
  /** How it runs one turn without a person and without an account; null if it cannot. */
  readonly trial: HostTrial | null
}

/** One turn of a host against a stand-in for its model, in a home directory of its own. */
interface HostTrial {
  /** The arguments; the last one is the prompt. */
  readonly arguments: (model: TrialModel) => readonly string[]
  readonly variables: (model: TrialModel) => Readonly<Record<string, string>>
  /** Files below the home directory that must be there first. */
  readonly files: (model: TrialModel) => Readonly<Record<string, string>>
  /** Arguments that let every tool run, and those that leave the host's own rules in force. */
  readonly open: readonly string[]
  readonly locked: (order: Pick<InstallOrder, 'writ'>) => readonly string[]
  /** The model's call of the shell tool, and of the tool that creates a file. */
  readonly shell: (command: string) => TrialCall
  readonly write: (path: string, content: string) => TrialCall
}

/** Several words: a single one may be taken for a command. */
export const TRIAL_PROMPT = 'take the next step'

interface TrialModel {
  /** The base URL of the stand-in, without a path. */
  readonly url: string
  readonly project: string
}

type TrialCall =
  | { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly tool: string; readonly patch: string }

/** What `writ run` adds, because the session already confines the host; never what is there. */
export interface SessionSettings {
  readonly arguments: readonly SessionArgument[]
  readonly variables: readonly SessionVariable[]
}

interface SessionArgument {
  /** Words placed behind the program's own. */
  readonly add: readonly string[]
  /** Does not add if one of these is there, as a word or as `WORD=…`. */
  readonly unless: readonly string[]
  readonly why: string
}

interface SessionVariable {
  readonly name: string
  readonly value: string
  readonly why: string
}

interface HostState {
  /** What the host writes for itself: directories end with a slash. */
  readonly places: readonly string[]
  /** Variables that move a place; a session leaves them out. */
  readonly movedBy: readonly string[]
  /** Globs below the places: parts that run code or grant rights. */
  readonly powers: readonly string[]
  /** Globs among the powers: what the host makes again at each start, so that no session inherits it. */
  readonly remade: readonly string[]
  /** Files that hold memory and rights together: only these keys are compared. */
  readonly mixed: readonly MixedFile[]
  /** Keys by which the host notes that it trusts a directory. */
  readonly trusts?: readonly TrustNote[]
  /** Files of the user that the private state begins with. */
  readonly copied: readonly string[]
  readonly logins: readonly LoginFile[]
}

interface MixedFile {
  readonly file: string
  /** Key paths from the top; `*` is any key. */
  readonly keys: readonly (readonly string[])[]
}

interface TrustNote {
  readonly file: string
  readonly key: (directory: string) => readonly string[]
  /** What it notes; any other value is a change like others. */
  readonly values: readonly (string | boolean)[]
}

interface LoginFile {
  readonly file: string
  readonly risk: string
}

type ModelWire = 'anthropic' | 'responses' | 'chat' | 'gemini'

/** A model host that the gateway may reach, and how the agent is pointed at the gateway. */
export interface ModelEndpoint {
  readonly wire: ModelWire
  readonly host: string
  readonly calls: readonly ModelCall[]
  readonly key: ModelKey
  /** Points the host at another base URL, such as that of the gateway. `url` has no final slash. */
  readonly redirect: (url: string) => Redirection
}

export interface ModelCall {
  readonly method: 'GET' | 'POST'
  /** `*` matches one or more characters without a slash. */
  readonly path: string
}

interface ModelKey {
  readonly header: string
  /** Text before the key in the header. */
  readonly prefix: string
  /** Variables that hold the key; the first one is set to the placeholder. */
  readonly variables: readonly string[]
  readonly placeholder: string
}

interface Redirection {
  readonly variables: Readonly<Record<string, string>>
  readonly arguments: readonly string[]
  readonly files: readonly RedirectedFile[]
}

interface RedirectedFile {
  readonly file: string
  readonly format: 'json' | 'toml'
  /** Values by key path, as JSON Pointers. */
  readonly set: Readonly<Record<string, unknown>>
}

/** Takes the place of a key inside a session; the gateway replaces it. */
export const KEY_PLACEHOLDER = 'writ-session-placeholder'

export type HookMode = 'session' | 'wrap'
export type HookLevel = 'user' | 'project' | 'managed'

interface HookContract {
  /** The host's names of the boundaries that it reports. */
  readonly events: Readonly<Partial<Record<HookBoundary, string>>>
  readonly modes: readonly HookMode[]
  readonly levels: readonly HookLevel[]
  /** Tools that hooks or wrapping do not cover. */
  readonly uncovered: readonly UncoveredTool[]
  /** Null if the input is no event of this host. `event` is what the hook's command names, if it does. */
  readonly read: (input: unknown, event: string | null) => ToolReport | null
  readonly print: (answer: HookAnswer, report: ToolReport) => PrintedAnswer
  readonly steps: (order: InstallOrder) => readonly InstallStep[]
}

interface UncoveredTool {
  readonly tool: string
  readonly why: string
}

export interface InstallOrder {
  readonly mode: HookMode
  readonly level: HookLevel
  /** The absolute path of `writ`, without a character that a shell would interpret. */
  readonly writ: string
  /** The absolute path of `writ-shell`. */
  readonly shell: string
  /** The directory of writ's plugins for hosts whose hooks are scripts inside the host. */
  readonly plugins: string
  /** After this time the host gives a hook up; hooks of writ answer sooner. */
  readonly seconds: number
  /** The user's home directory. */
  readonly home: string
  /** Where the host sees that directory; absent if at the same path. */
  readonly homeInside?: string
  /** The top directory of the project. */
  readonly project: string
  /** The value of a configuration file as it is now; undefined if there is none. */
  readonly present: (file: string) => unknown
}

/** A step of an installation. Files are absolute. */
export type InstallStep =
  | {
      readonly kind: 'merge'
      readonly file: string
      readonly format: 'json' | 'toml' | 'yaml'
      readonly parts: readonly ConfigurationPart[]
    }
  /** A file of writ's own; nothing else may be there. */
  | {
      readonly kind: 'file'
      readonly file: string
      readonly text: string
      readonly isExecutable: boolean
    }

export type ConfigurationPart =
  | { readonly kind: 'item'; readonly at: readonly string[]; readonly value: unknown }
  | { readonly kind: 'value'; readonly at: readonly string[]; readonly value: unknown }

interface RepositorySwitch {
  /** Relative to the top of the repository. */
  readonly file: string
  /** The key path that matters, and the value that switches off; null means any value. */
  readonly keys: readonly string[]
  readonly value: unknown
  /** A value that switches off, for a trial. */
  readonly example: unknown
  readonly effect: string
  readonly survives: string
}

/** The line that a rewritten command has: no quote and no argument of the actor's. */
export function ticketLine(writ: string, ticket: string): string {
  return `${writ} ${TICKET_WORDS.join(' ')} ${ticket}`
}

/** The words between the program and the ticket. The locks of hosts allow this prefix alone. */
export const TICKET_WORDS = ['exec', '--ticket'] as const

/** The command that hosts run as their hook; it names the event where the host's input does not. */
export function eventCommand(order: InstallOrder, host: AgentName, event?: string): string {
  return [order.writ, ...eventWords(order, host, event)].join(' ')
}

export function eventWords(
  { mode }: Pick<InstallOrder, 'mode'>,
  host: AgentName,
  event?: string,
): readonly string[] {
  const words = ['hook', 'event', ...(mode === 'wrap' ? ['--wrap'] : []), host]
  return event === undefined ? words : [...words, event]
}

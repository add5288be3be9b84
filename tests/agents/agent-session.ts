/**
 * A real coding agent in a session of `writ run`, in a repository of its own, with a stand-in for its
 * model that plays a script. The key lies in writ's store of secrets, as a person would keep it.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type StandIn, startStandIn } from '../../src/hooks/doctor/stand-in.ts'
import { prepareTrial } from '../../src/hooks/doctor/trial.ts'
import type { ModelTurn } from '../../src/hooks/doctor/wires.ts'
import { type AgentHost, hostNamed } from '../../src/hosts/index.ts'
import type { Around, Ended, Json, Step } from '../cli-gate/place.ts'
import { copyProgram } from '../program-copy.ts'
import { TEST_UID, userWrapper, type Who } from '../sandbox/drive.ts'
import { RunningAgent, SessionPlace } from '../sessions/session-place.ts'
import { AGENTS_PLACE, programOf } from './programs.ts'

type Trial = NonNullable<AgentHost['trial']>

/** A key that is nowhere else, so that one look finds every place it reached. */
export const KEY = 'sk-canary-000000000000000000004711'
/** OpenCode puts a file of its own into `.git`; a question about such a file takes a passphrase. */
const PASS = 'correct horse battery staple'

interface SessionWords {
  /** Words behind the program; the adapter of a session adds its own. */
  readonly words: readonly string[]
  readonly variables?: readonly string[]
}

/** How each agent takes one turn inside a session, by the model that the adapter redirects. */
const WORDS: Readonly<Record<string, (trial: Trial) => SessionWords>> = {
  opencode: () => ({
    words: ['run', '--format', 'json', '-m', 'anthropic/claude-sonnet-4-5', 'take the next step'],
    variables: ['OPENCODE_DISABLE_DEFAULT_PLUGINS=1'],
  }),
  pi: () => ({
    words: ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5', '-p', 'take the next step'],
  }),
  copilot: (trial) => ({ words: ownWords(trial), variables: ['COPILOT_MODEL=stand-in'] }),
  qwen: (trial) => ({ words: ownWords(trial), variables: ['OPENAI_MODEL=stand-in'] }),
}

function ownWords(trial: Trial): readonly string[] {
  return trial.arguments({ url: '', project: '.' })
}

export class AgentSession extends SessionPlace {
  readonly host: AgentHost
  readonly trial: Trial
  readonly #around: Around
  #agent: readonly string[] = []
  #model: StandIn | null = null

  constructor(name: string, who: Who = 'root') {
    super(`agent-${name}`)
    const host = hostNamed(name)
    if (host === null || host.trial === null) throw new Error(`${name} cannot be tried`)
    this.host = host
    this.trial = host.trial
    // The wrapper's last words set another home than the one of this test.
    this.#around = who === 'root' ? {} : { through: userWrapper('user').slice(0, -2) }
  }

  /** Commits the files, makes a home of writ, and keeps the keys of the agent. */
  begin(files: Readonly<Record<string, string>>): this {
    this.commit(files)
    const place = { home: this.home, project: this.project, temporary: this.folder }
    prepareTrial(this.host, place, 'http://127.0.0.1:9')
    if (this.host.name === 'opencode') {
      const to = join(this.home, '.config/opencode')
      cpSync(join(AGENTS_PLACE, 'agents-opencode'), to, { recursive: true })
    }
    this.#install()
    if (this.#hasPass) this.did(['init', '--pass-fd', '3', '--name', 'ann'], { passphrase: PASS })
    else this.did(['init', '--no-pass', '--name', 'ann'])
    const names = new Set(this.host.endpoints.flatMap(({ key }) => key.variables.slice(0, 1)))
    for (const name of names) this.did(['secret', 'set', name], { input: `${KEY}\n` })
    return this
  }

  /** An ordinary user has agent and writ in the home; that of root is the checkout's. */
  #install(): void {
    const { name } = this.host
    const isUsers = this.#around.through !== undefined
    // A session has a `/tmp` of its own, so its hooks would not find a checkout below it.
    const isHidden = /^\/(?:var\/)?tmp\//.test(process.cwd())
    if (isUsers || isHidden) this.program = copyProgram(this.home)
    if (isUsers) {
      chmodSync(this.folder, 0o755)
      execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, this.folder])
    }
    this.#agent = isUsers ? agentIn(this.home, name) : programOf(name)
  }

  get #hasPass(): boolean {
    return this.host.name === 'opencode'
  }

  get model(): StandIn {
    if (this.#model === null) throw new Error('no turn was begun')
    return this.#model
  }

  /** Starts the agent at a terminal, as a person does who follows the steps. */
  async atTerminal(turns: readonly ModelTurn[], steps: readonly Step[], seconds: number) {
    this.#model = await startStandIn(turns)
    const words = ['run', '--model-url', this.#model.url, '--', ...this.#agent]
    return { seen: this.personMeanwhile(this.argv(words), steps, seconds) }
  }

  /** Starts the agent; its model does what `turns` says. */
  async turn(
    turns: readonly ModelTurn[],
    options: readonly string[] = [],
    more: readonly string[] = [],
  ): Promise<RunningAgent> {
    await this.#model?.close()
    this.#model = await startStandIn(turns)
    const { name } = this.host
    const own = WORDS[name]?.(this.trial) ?? { words: ownWords(this.trial) }
    const variables = (own.variables ?? []).flatMap((one) => ['--env', one])
    const words = ['run', '--model-url', this.#model.url, ...variables, ...options, '--']
    const at = own.words.findIndex((word) => word.startsWith('-'))
    const agent = [...this.#agent, ...own.words.slice(0, at), ...more, ...own.words.slice(at)]
    const running = new RunningAgent(this.start([...words, ...agent], this.#around))
    // Some agents read their standard input to its end before they begin.
    running.child.stdin?.end()
    return running
  }

  /** A call that must succeed. */
  did(args: readonly string[], around: Around = {}): Ended {
    const ended = this.writ(args, { ...this.#around, ...around })
    expect(ended.status, `${args.join(' ')}: ${ended.err}`).toBe(0)
    return ended
  }

  waiting(): Json[] {
    return this.did(['inbox', '--json']).json.pending
  }

  /** Says yes at a terminal. */
  approve(id: string): void {
    const pass = this.#hasPass ? [{ expect: 'assphrase' }, { send: `${PASS}\r` }] : []
    const steps = [{ expect: '[y' }, { send: 'y\r' }, ...pass]
    const seen = this.person(['approve', id], steps, this.#around)
    expect(seen.failed, seen.output).toBeNull()
  }

  /** What the model was sent, as one text. */
  sent(): string {
    return JSON.stringify(this.model.requests.map(({ body }) => body))
  }

  /** The lines of writ that reached the model. */
  told(): string {
    return [...new Set(this.sent().match(/writ: [^"\\]{1,400}/g))].join('\n')
  }

  override facts(type: string): Json[] {
    const { facts } = this.did(['log', '--type', type, '--json', '--limit', '1000']).json
    return facts.map((fact: Json) => fact.record.payload)
  }

  /** Paths of the working tree that differ from the commit. */
  changed(): readonly string[] {
    const own = ['--no-optional-locks', '-c', `safe.directory=${this.project}`]
    return this.git(...own, 'status', '--porcelain', '-uall')
      .split('\n')
      .filter((line) => line !== '' && !line.includes('.writ'))
      .map((line) => line.slice(3))
      .sort()
  }

  async end(): Promise<void> {
    await this.#model?.close()
    this.remove()
  }
}

/**
 * Puts the program of an agent into a home, as npm does for an ordinary user. Hard links: the files stay
 * root's, and are removed with the home.
 */
function agentIn(home: string, name: string): readonly string[] {
  const isFirst = programOf(name).some((word) => word.includes('/agents-first/'))
  execFileSync('cp', ['-al', join(AGENTS_PLACE, isFirst ? 'agents-first' : 'agents'), home])
  return programOf(name).map((word) => word.replace(AGENTS_PLACE, home))
}

/** Whether a file holds the key. */
export function holdsKey(file: string): boolean {
  return readFileSync(file).includes(KEY)
}

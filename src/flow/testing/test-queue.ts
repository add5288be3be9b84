/** What a test has still to do: commands with the moment at which they are answered, and scripted attempts. */
import type { ScriptedAttempt } from '../../contracts/index.ts'

/** An answer to a command; a command has one at a time. */
interface Scheduled {
  readonly atMs: number
  readonly command: number
  readonly run: () => void
}

export class TestQueue {
  #entries: Scheduled[] = []

  add(entry: Scheduled): void {
    this.#entries.push(entry)
  }

  drop(isDropped: (entry: Scheduled) => boolean): void {
    this.#entries = this.#entries.filter((entry) => !isDropped(entry))
  }

  /** The earliest; of those at one moment the one that came first. */
  first(): Scheduled | null {
    return this.#entries.reduce<Scheduled | null>(
      (first, one) => (first === null || one.atMs < first.atMs ? one : first),
      null,
    )
  }
}

export class Scripts {
  readonly #nodes: ReadonlyMap<string, ScriptedAttempt[]>

  constructor(nodes: Readonly<Record<string, readonly ScriptedAttempt[]>>) {
    this.#nodes = new Map(
      Object.entries(nodes).map(([name, list]) => [
        name,
        list.flatMap((script) => Array<ScriptedAttempt>(script.times ?? 1).fill(script)),
      ]),
    )
  }

  /** The next scripted attempt of a node; null when the script has no more. */
  next(nodeId: string): ScriptedAttempt | null {
    return this.#nodes.get(nodeId)?.shift() ?? null
  }
}

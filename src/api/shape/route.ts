/**
 * What a route is. The table of routes is the contract of the service: the server registers what is in
 * it and nothing else, and OpenAPI document and client are made from it.
 */
import type { Static, TObject, TSchema } from 'typebox'

/**
 * Who may call. `anyone`: without a token. `caller`: every principal. `human`: a human, who needs no
 * proof for it. `proven`: a human who proves it in the request.
 */
export type Who = 'anyone' | 'caller' | 'human' | 'proven'

/**
 * How a command of the program answers a route. Fields of the request are its options, by the same
 * names (`dry_run` is `--dry-run`), but for those that are named here.
 */
export interface CommandLine {
  /**
   * `document`: looks at documents of the request alone, and opens no home. `read`: ends when the
   * client goes away. `act`: is carried to its end. `walk`: goes on after an answer 202.
   */
  readonly kind: 'document' | 'read' | 'act' | 'walk'
  /** Fields that are words of the command line, in their order. */
  readonly words?: readonly string[]
  /** Fields that are documents or texts; the command gets them as files. */
  readonly files?: readonly string[]
  /** The one of `files` that is a list, which the command gets as a folder. */
  readonly folder?: string
  /** The one of `words` that the command reads from its standard input. */
  readonly input?: string
  /** Options that the route always gives. */
  readonly always?: readonly string[]
  /** Waits for no other command of the service. */
  readonly isUrgent?: true
  /** The command asks for the passphrase too. */
  readonly takesProof?: true
  /** Afterwards the service goes on with the run. */
  readonly walksOn?: true
  /** The command has no `--json`: its text is the answer. */
  readonly isText?: true
  /** The whole body is the field that `input` names. */
  readonly isWhole?: true
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters are written `{name}`. */
  readonly path: string
  readonly tag: string
  /** One sentence for people. */
  readonly says: string
  readonly who: Who
  /** The command that does the same; null where the command line has none. */
  readonly command: string | null
  /** Without it a function of the service answers. */
  readonly runs?: CommandLine
  /**
   * How the command answers a route of a function, for a client that wants what the command prints
   * (`Accept: text/plain`, or `COMMAND_JSON` for its JSON).
   */
  readonly spoken?: CommandLine
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TSchema
  /** What is answered, by status; problems are the same everywhere and left out. */
  readonly answers: Readonly<Record<number, TSchema>>
  /** The media type of the answer; JSON without it. */
  readonly media?: 'text/plain' | 'text/event-stream' | 'application/octet-stream'
}

/** The media type of what a command prints with `--json`, where its route answers in another form. */
export const COMMAND_JSON = 'application/vnd.writ.command+json'

/** Keeps the literal types of a route for the client. */
export function route<const R extends Route>(one: R): R {
  return one
}

type Part<R extends Route, K extends 'params' | 'query' | 'body'> = R[K] extends TSchema
  ? { readonly [Name in K]: Static<R[K]> }
  : unknown

/** What a caller hands in. */
export type RequestOf<R extends Route> = Part<R, 'params'> & Part<R, 'query'> & Part<R, 'body'>

/** What comes back when it goes well. */
export type AnswerOf<R extends Route> = R['answers'][keyof R['answers']] extends infer S
  ? S extends TSchema
    ? Static<S>
    : never
  : never

/**
 * What the house has one of: the file that may do it, and the text of any other file that does it as
 * well. A function of texts, as `inspect.ts` is.
 */

interface Single {
  readonly what: string
  /** The files that do it. */
  readonly home: RegExp
  readonly breach: RegExp
}

const SINGLES: readonly Single[] = [
  {
    what: 'opens an entry without following links; `openEntry` does that',
    home: /^src\/machine\/no-follow\.ts$/,
    breach: /constants\.O_NOFOLLOW|\bO_NOFOLLOW\b[^;]*\} =\s*constants/,
  },
  {
    what: 'removes a tree; `removeTree` and `removeTreeSync` do that',
    home: /^src\/machine\/remove-tree\.ts$/,
    breach: /\b(?:rm|rmSync|rmdir|rmdirSync)\((?:[^()]|\([^()]*\))*\brecursive\b/,
  },
  {
    what: 'syncs a directory; `syncDirectory` and `syncPath` do that',
    home: /^src\/machine\/sync\.ts$/,
    breach:
      /promisify\(fsync\)|\bopen(?:Sync)?\([^\n]*(?:'r'|O_DIRECTORY)\)[^}]{0,60}\b(?:fsync(?:Sync)?\(|sync\()/,
  },
  {
    what: 'repeats an append; `retryWhileMoved` does that',
    home: /\/head-moved\.ts$/,
    breach: /[=!]== 'ledger\.head_moved'/,
  },
  {
    what: 'steps a flow; `FlowRun` does that, and `replayRun` again',
    home: /^src\/runs\/run\.ts$|^src\/flow\//,
    breach: /[^.#\w]step\((?:this\.)?#?(?:state|before), ?\w*[eE]vent\)/,
  },
]

/** Returns `file: what` for everything that a file of `src` does in place of the one that should. */
export function seconds(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files]
    .filter(([path]) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    .flatMap(([path, text]) =>
      SINGLES.filter(({ home, breach }) => !home.test(path) && breach.test(text)).map(
        ({ what }) => `${path}: ${what}`,
      ),
    )
}

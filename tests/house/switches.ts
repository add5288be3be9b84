/**
 * Switches that a new kind could slip through: `default` has to say `satisfies never`, so that the
 * compiler refuses a kind without a case, or a comment has to say what the other kinds have in common.
 * A function of texts, as `inspect.ts` is.
 */

const HEAD = /^(\s*).*\bswitch \(.*\) \{$/
const COMMENT = /^\s*(?:\/\/|\/\*|\*)|\/\/ /

/** Returns the numbers of the lines with a switch that is neither closed nor explained. */
export function looseSwitches(text: string): readonly number[] {
  const lines = text.split('\n')
  return [...lines.entries()].flatMap(([index, line]) => {
    const indent = HEAD.exec(line)?.[1]
    if (indent === undefined) return []
    const length = lines.slice(index).findIndex((each) => each.startsWith(`${indent}}`))
    const body = lines.slice(index, index + length)
    const last = body.findIndex((each) => each.startsWith(`${indent}  default:`))
    // Switches inside a case are indented further and have lines of their own.
    const closing = body.slice(last).some((each) => /\bsatisfies never\b/.test(each))
    const near = last === -1 ? [] : [body[last - 1], body[last], body[last + 1]]
    const isExplained = near.some((each) => each !== undefined && COMMENT.test(each))
    return last !== -1 && (closing || isExplained) ? [] : [index + 1]
  })
}

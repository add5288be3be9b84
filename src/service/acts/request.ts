/**
 * What the host and a program inside a sandbox agree on: how the program gets what it is asked, as a
 * value that is there when it begins, and how it ends.
 */

const NAME = 'writRequest'

/** The line in front of a program that sets its request. */
export function requestLine(request: unknown): string {
  // A text in a text: no key of the request can be taken for code.
  return `globalThis.${NAME} = JSON.parse(${JSON.stringify(JSON.stringify(request))});\n`
}

/** What the program that calls was asked. */
export function takeRequest<T>(): T {
  // Set by the line in front of the program; nothing else runs before it.
  return (globalThis as Record<string, unknown>)[NAME] as T
}

/** How the program that drives a browser ends when it does not succeed. */
export const UI_STATUS = { browser: 80, step: 81 } as const

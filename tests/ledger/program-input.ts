/** The input of a test program: its argument as JSON, or the file that holds a long one. */
import { readFileSync } from 'node:fs'

export function readInput<T>(): T {
  const argument = process.argv[2] ?? ''
  // The test that runs the program wrote what it types.
  return JSON.parse(argument.startsWith('{') ? argument : readFileSync(argument, 'utf8')) as T
}

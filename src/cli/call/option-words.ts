/** Options that several commands have, in the same words. */
import type { OptionWords } from './command.ts'

export const HOME: OptionWords = {
  name: 'home',
  value: 'DIR',
  says: 'the home to use; else WRIT_HOME, else the nearest `.writ` upwards',
}

export const STREAM: OptionWords = {
  name: 'stream',
  value: 'NAME',
  says: 'the stream of facts; `main` without it',
}

export const PASS_FD: OptionWords = {
  name: 'pass-fd',
  value: 'N',
  says: 'read the passphrase from this file descriptor',
}

export const ACCEPT_YES: OptionWords = {
  name: 'yes',
  short: 'y',
  value: null,
  says: 'show what the laws change and do not ask',
}

/**
 * How a sandbox fails: with a fault, before anything ran or after everything is dead.
 *
 * What the programs of the machine say when a control is missing, reported as such: never a failure that
 * could be tried again, and with the one command that repairs it.
 */

import { existsSync, readFileSync } from 'node:fs'
import { faultError } from '../../base/index.ts'

const SIGNS: readonly { readonly sign: RegExp; readonly control: string; hint(): string }[] = [
  { sign: /^unshare: /, control: 'user_namespace', hint: userNamespaceHint },
  {
    sign: /^bwrap: .*(?:namespace|uid map|seccomp)/i,
    control: 'bubblewrap',
    hint: userNamespaceHint,
  },
  { sign: /^mount: .*\/t: .*permission/i, control: 'mount_namespace', hint: userNamespaceHint },
]

/** A missing control, or that the sandbox failed for another reason. */
export function startFailure(words: string) {
  const [line = ''] = words.split('\n')
  for (const { sign, control, hint } of SIGNS) {
    if (sign.test(line)) {
      const message = `the control \`${control}\` is missing: ${line}`
      return faultError('sandbox.control_missing', control, message, hint())
    }
  }
  return faultError('sandbox.failed', '', line || 'the sandbox ended before it began')
}

/** Distributions forbid them to ordinary users in different ways. */
export function userNamespaceHint(): string {
  const setting = (name: string): string | null => {
    const file = `/proc/sys/${name.replaceAll('.', '/')}`
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
  }
  if (setting('kernel.apparmor_restrict_unprivileged_userns') === '1') {
    return 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'
  }
  if (setting('kernel.unprivileged_userns_clone') === '0') {
    return 'sudo sysctl -w kernel.unprivileged_userns_clone=1'
  }
  if (setting('user.max_user_namespaces') === '0') {
    return 'sudo sysctl -w user.max_user_namespaces=15000'
  }
  return 'a container has to be started with user namespaces allowed: --security-opt seccomp=unconfined'
}

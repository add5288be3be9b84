/** Which isolation is on in an open sandbox, in the words of `controls[]` of a result. */
import type { Control, SandboxRequest } from '../driver/driver.ts'
import type { Opened } from './open-sandbox.ts'

export function controlsOf(request: SandboxRequest, opened: Opened): readonly Control[] {
  const { plan, unseen, hidden, backing, group } = opened
  return [
    { name: 'user_namespace', profile: request.allOwners ? 'full_map' : 'single_user' },
    { name: 'pid_namespace' },
    { name: 'mount_namespace' },
    { name: 'ipc_namespace' },
    { name: 'uts_namespace' },
    { name: 'network_namespace', profile: request.network === undefined ? 'none' : 'proxy' },
    { name: 'no_new_privileges' },
    { name: 'seccomp', profile: `unix_sockets_${request.sockets}` },
    {
      name: 'overlay',
      profile: backing.kind,
      detail: plan.roots.map(({ path }) => path).join(' '),
    },
    ...(plan.readOnly.length === 0 ? [] : [{ name: 'read_only', detail: plan.readOnly.join(' ') }]),
    ...(unseen.length === 0 ? [] : [{ name: 'unseen', detail: unseen.join(' ') }]),
    ...(request.emptied ?? []).map((path) => ({ name: 'allow_list', detail: path })),
    { name: 'hidden', detail: `${hidden} places` },
    { name: 'control_group', profile: group === null ? 'polled' : 'kernel' },
  ]
}

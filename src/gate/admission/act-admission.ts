/**
 * What single kinds of acts have to declare beyond what their contract asks: where the answer to a
 * request is kept, since no rehearsal shows it, and packages by names that reach for nothing else.
 */
import { type Code, show } from '../../base/index.ts'
import { declaresEffect, type Proposal, packageReach, readEffects } from '../../contracts/index.ts'

interface ActRefusal {
  readonly code: Code
  /** JSON Pointer into the proposal. */
  readonly path: string
  readonly message: string
  readonly hint?: string
}

export function actRefusals({ descriptor, operation }: Proposal): readonly ActRefusal[] {
  switch (operation?.type) {
    case 'NETWORK_REQUEST':
      return keptRefusals(descriptor, operation.save_to)
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE': {
      const { manager, packages, type } = operation
      return packages.flatMap((name, index) => packageRefusals(manager, name, type, index))
    }
    // Other operations have no check of their kind.
    default:
      return []
  }
}

/** An effect that is left out is one of the hard fails (G-6). */
function keptRefusals(
  { effects }: Proposal['descriptor'],
  path: string | undefined,
): readonly ActRefusal[] {
  if (path === undefined) return []
  const declared = readEffects(effects)
  if (declaresEffect(declared, 'create', path) || declaresEffect(declared, 'modify', path))
    return []
  const message = `${show(path, '')} would be written, but no effect declares it`
  return [{ code: 'descriptor.effects_omitted', path: '/operation/save_to', message }]
}

function packageRefusals(
  manager: string,
  name: string,
  type: 'PACKAGE_INSTALL' | 'PACKAGE_REMOVE',
  index: number,
): readonly ActRefusal[] {
  const reach = packageReach(manager, name)
  // PACKAGE_REMOVE takes plain names only, no file and no address.
  if (reach !== null && (reach.kind === 'name' || type === 'PACKAGE_INSTALL')) return []
  return [
    {
      code: 'operation.package',
      path: `/operation/packages/${index}`,
      message: `${show(name, '')} is no package that could be declared`,
      hint: 'a name with a version, a file of the scope, or an address on a host of the scope',
    },
  ]
}

/**
 * Node's crypto module where the code runs on Node, undefined in a browser. Hashes and signature
 * checks use it when it is there, because it is several times faster than JavaScript.
 *
 * Looked up at run time, so that one build of the library loads everywhere.
 */
export type NodeCrypto = typeof import('node:crypto')

/** The part of Node's `process` that is used; a browser has no such object. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:crypto'): NodeCrypto
}

// The platform's own types promise a process everywhere; a browser has none.
const host = (globalThis as { readonly process?: NodeProcess }).process

export const nodeCrypto: NodeCrypto | undefined = host?.getBuiltinModule?.('node:crypto')

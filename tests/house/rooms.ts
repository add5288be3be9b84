/**
 * The law of the house: which rooms there are, whom each may see, which are pure, and which
 * packages each may bring in. Changing a row is a decision about the architecture.
 */

export interface Room {
  readonly sees: readonly string[]
  readonly pure: boolean
  /** Packages from outside that the room may import. */
  readonly packages: readonly string[]
}

export const ROOMS: Readonly<Record<string, Room>> = {
  base: { sees: [], pure: true, packages: ['@noble/curves', '@noble/ed25519', '@noble/hashes'] },
  contracts: { sees: ['base'], pure: true, packages: ['typebox', 'yaml'] },
  constitution: { sees: ['base', 'contracts'], pure: true, packages: [] },
  ledger: { sees: ['base', 'contracts'], pure: true, packages: [] },
  expression: { sees: ['base'], pure: true, packages: [] },
  configuration: {
    sees: ['base', 'contracts'],
    pure: true,
    packages: ['toml-eslint-parser', 'yaml'],
  },
  policy: { sees: ['base', 'contracts', 'expression'], pure: true, packages: ['yaml'] },
  gate: { sees: ['base', 'contracts', 'policy', 'ledger'], pure: true, packages: [] },
  flow: {
    sees: ['base', 'contracts', 'expression', 'policy'],
    pure: true,
    packages: ['@dagrejs/dagre'],
  },
  api: { sees: ['base', 'contracts'], pure: true, packages: ['typebox'] },
  hosts: { sees: ['base'], pure: true, packages: [] },
  machine: { sees: ['base', 'contracts', 'gate'], pure: false, packages: [] },
  hooks: { sees: ['base', 'configuration', 'hosts', 'machine'], pure: false, packages: [] },
  network: { sees: ['base', 'contracts', 'gate', 'machine'], pure: false, packages: [] },
  sandbox: { sees: ['base', 'contracts', 'machine', 'network'], pure: false, packages: [] },
  tree: { sees: ['base', 'gate', 'machine', 'sandbox'], pure: false, packages: [] },
  view: { sees: ['base', 'gate', 'machine', 'sandbox', 'tree'], pure: false, packages: [] },
  promotion: { sees: ['base', 'gate', 'machine', 'tree'], pure: false, packages: [] },
  store: {
    sees: ['base', 'contracts', 'ledger', 'gate', 'machine'],
    pure: false,
    packages: ['better-sqlite3', 'pg', 'pgpass'],
  },
  home: {
    sees: ['base', 'contracts', 'policy', 'ledger', 'gate', 'machine', 'promotion', 'store'],
    pure: false,
    packages: [],
  },
  service: {
    sees: [
      'base',
      'contracts',
      'configuration',
      'policy',
      'ledger',
      'gate',
      'machine',
      'network',
      'sandbox',
      'tree',
      'promotion',
      'store',
      'home',
    ],
    pure: false,
    packages: ['playwright-core'],
  },
  runs: {
    sees: [
      'base',
      'contracts',
      'ledger',
      'flow',
      'machine',
      'promotion',
      'store',
      'home',
      'service',
    ],
    pure: false,
    packages: ['@modelcontextprotocol/client', 'openai'],
  },
  history: {
    sees: ['base', 'contracts', 'ledger', 'promotion', 'store', 'home'],
    pure: false,
    packages: [],
  },
  witness: {
    sees: ['base', 'contracts', 'ledger', 'machine', 'store'],
    pure: false,
    packages: [],
  },
  export: {
    sees: ['base', 'contracts', 'ledger', 'gate', 'machine', 'store', 'history'],
    pure: false,
    packages: [],
  },
  words: {
    sees: ['base', 'contracts', 'gate', 'machine', 'service'],
    pure: false,
    packages: [],
  },
  notifications: {
    sees: ['base', 'contracts', 'gate', 'ledger', 'machine', 'store', 'service', 'words'],
    pure: false,
    packages: ['nodemailer'],
  },
  schedules: {
    sees: ['base', 'contracts', 'ledger', 'flow', 'store', 'runs'],
    pure: false,
    packages: ['croner'],
  },
  broker: { sees: ['base'], pure: false, packages: ['mqtt'] },
  dispatch: {
    sees: ['base', 'contracts', 'ledger', 'store', 'service', 'history', 'notifications', 'broker'],
    pure: false,
    packages: [],
  },
  device: {
    sees: ['api', 'base', 'contracts', 'ledger', 'machine', 'broker'],
    pure: false,
    packages: ['typebox'],
  },
  fleet: {
    sees: [
      'base',
      'contracts',
      'ledger',
      'store',
      'home',
      'service',
      'runs',
      'history',
      'schedules',
    ],
    pure: false,
    packages: ['graphile-worker', 'pg'],
  },
  gateway: { sees: [], pure: false, packages: [] },
  sessions: {
    sees: [
      'base',
      'contracts',
      'configuration',
      'ledger',
      'gate',
      'hosts',
      'machine',
      'gateway',
      'sandbox',
      'view',
      'home',
      'service',
    ],
    pure: false,
    packages: [],
  },
  mcp: {
    sees: ['base', 'contracts', 'ledger', 'store', 'home', 'history', 'service', 'words'],
    pure: false,
    packages: ['@modelcontextprotocol/server', 'typebox'],
  },
  server: {
    sees: [
      'api',
      'base',
      'contracts',
      'constitution',
      'ledger',
      'gate',
      'machine',
      'sandbox',
      'store',
      'home',
      'history',
      'service',
      'notifications',
      'dispatch',
      'words',
      'mcp',
      'witness',
    ],
    pure: false,
    packages: ['@simplewebauthn/server', 'fastify', 'pino', 'prom-client', 'typebox'],
  },
  console: {
    sees: ['api', 'base', 'contracts', 'ledger'],
    // A page has a clock, timers and a network.
    pure: false,
    packages: [
      '@codemirror/merge',
      '@codemirror/state',
      '@codemirror/view',
      '@dagrejs/dagre',
      '@simplewebauthn/browser',
      '@tanstack/react-query',
      '@tanstack/react-router',
      '@xyflow/react',
      'lucide-react',
      'react',
      'react-aria-components',
      'react-dom',
    ],
  },
  cli: {
    sees: [
      'api',
      'base',
      'contracts',
      'constitution',
      'policy',
      'ledger',
      'gate',
      'flow',
      'hosts',
      'machine',
      'hooks',
      'sandbox',
      'view',
      'promotion',
      'store',
      'home',
      'history',
      'service',
      'runs',
      'sessions',
      'schedules',
      'fleet',
      'notifications',
      'broker',
      'dispatch',
      'device',
      'server',
      'words',
      'mcp',
      'witness',
      'export',
    ],
    pure: false,
    packages: ['diff', 'yaml'],
  },
}

/** Files of pure rooms that name something impure, each with the reason why it is no breach. */
export const PURE_BY_EXCEPTION: Readonly<Record<string, string>> = {
  'src/base/hash.ts': 'node:crypto as functions of their bytes',
}

/** Files over 500 lines; their headers say why. The list may only shrink. */
export const OVERSIZED: readonly string[] = ['src/base/codes.ts']

/** Doors of the package, and the files that are the programs: others than the house import them. */
export function isOpen(path: string): boolean {
  return /^src\/(?:(?:contracts|constitution|ledger|gate|flow|api)\/)?index\.ts$|^src\/cli\/(?:exec-|run-|hook-|serve-|field-|worker-)?main\.ts$|^src\/console\/start\.ts$/.test(
    path,
  )
}

/** Folders that import each other. The list stays empty. */
export const CIRCLES: readonly string[] = []

/** Folders with more than 25 source files: why. The list may only shrink. */
export const FULL: Readonly<Record<string, string>> = {
  'src/cli/commands': 'one kind: a file a command or a family of commands',
}

/**
 * Who may call what (I1), as data: every command, what it is called with, and how it ends for each
 * kind of caller. A number is an exit status, a text is the code of the refusal. `held` names what
 * has to be there first; it is made again when a call may have used it up. Over 500 lines on purpose: it
 * is one table, and a command without a row would be seen.
 */

export const CALLERS = ['ai', 'script', 'device', 'bare', 'human'] as const
/** `bare` is the local human without proof, `human` the same with the passphrase. */
export type Caller = (typeof CALLERS)[number]
export type End = number | string

export interface Row {
  readonly command: string
  readonly argv: readonly string[]
  readonly held?: 'question' | 'plain question' | 'act' | 'halt' | 'token' | 'blocked'
  readonly input?: 'proposal' | 'task' | 'receipt' | 'flow' | 'nothing'
  readonly ends: Readonly<Record<Caller, End>>
}

/** Everybody alike. */
function all(end: End): Row['ends'] {
  return { ai: end, script: end, device: end, bare: end, human: end }
}

/** Actors are refused; a human needs the passphrase, or not. */
function humans(bare: End, human: End = 0): Row['ends'] {
  const refused = 'principal.not_human'
  return { ai: refused, script: refused, device: refused, bare, human }
}

const PROVEN = humans('credential.required')
/** A key of a log, and of no witness. */
const NO_WITNESS_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const NO_ACTION = '11111111-1111-4111-8111-111111111111'

export const ROWS: readonly Row[] = [
  { command: 'init', argv: ['init', '--no-pass'], ends: humans(0) },
  { command: 'trust', argv: ['trust'], ends: PROVEN },
  {
    command: 'run',
    argv: ['run', '--', 'true'],
    // Like every runner it ends with 125 where writ itself refuses.
    ends: { ai: 125, script: 125, device: 125, bare: 0, human: 0 },
  },
  { command: 'session list', argv: ['session', 'list'], ends: humans(0) },
  {
    command: 'session show',
    argv: ['session', 'show', NO_ACTION],
    ends: humans('session.unknown', 'session.unknown'),
  },
  {
    command: 'session diff',
    argv: ['session', 'diff', NO_ACTION],
    ends: humans('session.unknown', 'session.unknown'),
  },
  {
    command: 'session settle',
    argv: ['session', 'settle', NO_ACTION],
    ends: humans('session.unknown', 'session.unknown'),
  },
  {
    command: 'session discard',
    argv: ['session', 'discard', NO_ACTION, '--all'],
    ends: humans('session.unknown', 'session.unknown'),
  },
  {
    command: 'session extend',
    argv: ['session', 'extend', NO_ACTION, '--time', '1h'],
    ends: humans('session.unknown', 'session.unknown'),
  },
  {
    command: 'session stop',
    argv: ['session', 'stop', NO_ACTION],
    ends: humans('session.unknown', 'session.unknown'),
  },
  { command: 'secret set', argv: ['secret', 'set', 'A_KEY'], input: 'nothing', ends: humans(2, 2) },
  { command: 'secret list', argv: ['secret', 'list'], ends: humans(0) },
  {
    command: 'secret remove',
    argv: ['secret', 'remove', 'A_KEY'],
    ends: humans('secret.unknown', 'secret.unknown'),
  },
  { command: 'exec', argv: ['exec', '--', 'true'], ends: all(0) },
  { command: 'propose', argv: ['propose', '-', '--dry-run'], input: 'proposal', ends: all(0) },
  { command: 'inbox', argv: ['inbox'], ends: all(0) },
  { command: 'approve', argv: ['approve', '{question}'], held: 'question', ends: PROVEN },
  {
    command: 'approve',
    argv: ['approve', '--yes', '{plain question}'],
    held: 'plain question',
    ends: humans(0),
  },
  {
    command: 'approve',
    argv: ['approve', '--like', '{question}'],
    held: 'question',
    ends: PROVEN,
  },
  { command: 'deny', argv: ['deny', '{plain question}'], held: 'plain question', ends: humans(0) },
  { command: 'rollback', argv: ['rollback', '{act}'], held: 'act', ends: humans(0) },
  { command: 'undo', argv: ['undo'], held: 'act', ends: humans(0) },
  { command: 'halt', argv: ['halt'], ends: humans(0) },
  { command: 'resume', argv: ['resume'], held: 'halt', ends: PROVEN },
  { command: 'grant list', argv: ['grant', 'list'], ends: humans(0) },
  {
    command: 'grant revoke',
    argv: ['grant', 'revoke', NO_ACTION],
    ends: humans('grant.unknown', 'grant.unknown'),
  },
  {
    command: 'override',
    argv: ['override', '--law', 'NO_CRITICAL', '--for', '1m', '--reason', 'x'],
    ends: PROVEN,
  },
  {
    command: 'override',
    argv: ['override', '--lift', '{blocked}', '--reason', 'x'],
    held: 'blocked',
    ends: PROVEN,
  },
  { command: 'recover', argv: ['recover'], ends: humans(0) },
  {
    command: 'recover',
    argv: ['recover', NO_ACTION, '--revert'],
    ends: humans('credential.required', 'recovery.unknown'),
  },
  { command: 'purge', argv: ['purge', '--before', '9d'], ends: PROVEN },
  { command: 'du', argv: ['du'], ends: humans(0) },
  { command: 'gc', argv: ['gc', '--dry-run'], ends: humans(0) },
  { command: 'gc', argv: ['gc'], ends: PROVEN },
  { command: 'home list', argv: ['home', 'list'], ends: humans(0) },
  {
    command: 'home remove',
    argv: ['home', 'remove', '--yes', '--export', '/proc/none'],
    // Nothing can be written there, so that the home of the other rows stays.
    ends: humans('credential.required', 'cli.file_unwritable'),
  },
  {
    command: 'hook install',
    argv: ['hook', 'install', 'claude-code', '--project', '--yes'],
    ends: humans(0),
  },
  {
    command: 'hook uninstall',
    argv: ['hook', 'uninstall', 'codex', '--project', '--yes'],
    // Nothing is installed for it here.
    ends: humans('hook.not_installed', 'hook.not_installed'),
  },
  {
    command: 'hook doctor',
    argv: ['hook', 'doctor', 'windsurf'],
    // It cannot run without a person.
    ends: humans('hook.host', 'hook.host'),
  },
  {
    command: 'serve',
    argv: ['serve', '--listen', '0.0.0.0:0'],
    // It would serve until it is ended; here it is asked to listen where it must not.
    ends: humans('service.address', 'service.address'),
  },
  {
    command: 'mcp',
    argv: ['mcp'],
    input: 'nothing',
    // A client that has nothing to say; a person has no token of a program.
    ends: { ai: 0, script: 0, device: 0, bare: 'mcp.no_token', human: 'mcp.no_token' },
  },
  { command: 'laws check', argv: ['laws', 'check'], ends: all(0) },
  { command: 'laws test', argv: ['laws', 'test'], ends: all(0) },
  { command: 'laws learn', argv: ['laws', 'learn'], ends: humans(0) },
  { command: 'laws explain', argv: ['laws', 'explain', '{act}'], held: 'act', ends: all(0) },
  { command: 'laws accept', argv: ['laws', 'accept'], ends: PROVEN },
  {
    command: 'task issue',
    argv: ['task', 'issue', '-'],
    input: 'task',
    ends: {
      ...PROVEN,
      ai: 'task.issuer_mismatch',
      script: 'task.issuer_mismatch',
      device: 'task.issuer_mismatch',
    },
  },
  { command: 'task list', argv: ['task', 'list'], ends: all(0) },
  { command: 'task show', argv: ['task', 'show', 'act-x'], ends: all('history.unknown') },
  {
    command: 'receipt submit',
    argv: ['receipt', 'submit', '-'],
    input: 'receipt',
    // Every caller may report; this report is about a task that does not exist.
    ends: all(1),
  },
  { command: 'log', argv: ['log', '--limit', '1'], ends: all(0) },
  { command: 'show', argv: ['show', '{act}'], held: 'act', ends: all(0) },
  {
    command: 'ledger verify',
    argv: ['ledger', 'verify'],
    // The command reads every stream, and these callers may read only their own.
    ends: { ...all('principal.scope'), bare: 0, human: 0 },
  },
  { command: 'ledger prove', argv: ['ledger', 'prove', '0'], ends: all(0) },
  { command: 'ledger checkpoint', argv: ['ledger', 'checkpoint'], ends: all(0) },
  { command: 'ledger key', argv: ['ledger', 'key'], ends: all(0) },
  { command: 'ledger export', argv: ['ledger', 'export', '{new}'], ends: humans(0) },
  { command: 'ledger export', argv: ['ledger', 'export', '{new}', '--bodies'], ends: humans(0) },
  { command: 'ledger export', argv: ['ledger', 'export', '{new}', '--proof'], ends: humans(0) },
  { command: 'ledger reindex', argv: ['ledger', 'reindex'], ends: humans(0) },
  { command: 'ledger rotate', argv: ['ledger', 'rotate'], ends: PROVEN },
  {
    command: 'ledger anchor',
    argv: ['ledger', 'anchor'],
    ends: humans('witness.unknown', 'witness.unknown'),
  },
  {
    command: 'witness init',
    argv: ['witness', 'init', 'w 1'],
    ends: humans('witness.key', 'witness.key'),
  },
  {
    command: 'witness add-log',
    argv: ['witness', 'add-log', NO_WITNESS_KEY],
    ends: humans('witness.missing', 'witness.missing'),
  },
  {
    command: 'witness logs',
    argv: ['witness', 'logs'],
    ends: humans('witness.missing', 'witness.missing'),
  },
  {
    command: 'witness serve',
    argv: ['witness', 'serve'],
    ends: humans('witness.missing', 'witness.missing'),
  },
  {
    command: 'witness pin',
    argv: ['witness', 'pin', 'http://127.0.0.1:1', NO_WITNESS_KEY],
    ends: humans('credential.required', 'witness.key'),
  },
  {
    command: 'witness unpin',
    argv: ['witness', 'unpin', 'w1'],
    ends: humans('credential.required', 'witness.unknown'),
  },
  { command: 'witness list', argv: ['witness', 'list'], ends: humans(0) },
  {
    command: 'machine join',
    argv: ['machine', 'join', 'nowhere'],
    ends: humans('ledger.store_malformed', 'ledger.store_malformed'),
  },
  { command: 'machine key', argv: ['machine', 'key'], ends: humans(0) },
  {
    command: 'machine admit',
    argv: ['machine', 'admit', 'm', NO_WITNESS_KEY],
    ends: humans('credential.required', 'machine.key'),
  },
  {
    command: 'machine remove',
    argv: ['machine', 'remove', 'm'],
    ends: humans('credential.required', 'machine.alone'),
  },
  {
    command: 'machine list',
    argv: ['machine', 'list'],
    ends: humans('machine.alone', 'machine.alone'),
  },
  {
    command: 'worker prepare',
    argv: ['worker', 'prepare'],
    ends: humans('credential.required', 'machine.alone'),
  },
  {
    command: 'worker list',
    argv: ['worker', 'list'],
    ends: humans('machine.alone', 'machine.alone'),
  },
  {
    command: 'worker retry',
    argv: ['worker', 'retry', '1'],
    ends: humans('credential.required', 'machine.alone'),
  },
  {
    command: 'worker drop',
    argv: ['worker', 'drop', '1'],
    ends: humans('credential.required', 'machine.alone'),
  },
  {
    command: 'worker',
    argv: ['worker'],
    ends: humans('machine.alone', 'machine.alone'),
  },
  { command: 'export', argv: ['export', '--format', 'jsonl'], ends: all(0) },
  { command: 'replay', argv: ['replay'], ends: all(0) },
  {
    command: 'principal add',
    argv: ['principal', 'add', 'ai:new-{fresh}@local'],
    ends: PROVEN,
  },
  {
    command: 'principal pass',
    argv: ['principal', 'pass'],
    // Ann has one, and it is not exchanged.
    ends: humans('credential.exists', 'credential.exists'),
  },
  {
    command: 'principal endorse',
    argv: ['principal', 'endorse', 'human:ann@local'],
    ends: PROVEN,
  },
  { command: 'principal list', argv: ['principal', 'list'], ends: humans(0) },
  { command: 'passkey list', argv: ['passkey', 'list'], ends: humans(0) },
  {
    command: 'passkey remove',
    argv: ['passkey', 'remove', 'pk-0000000000000000'],
    ends: humans('credential.required', 'credential.unknown'),
  },
  {
    command: 'passkey code',
    argv: ['passkey', 'code'],
    // Ann has a passphrase, and registers with that.
    ends: humans('credential.exists', 'credential.exists'),
  },
  { command: 'token create', argv: ['token', 'create', 'ai:bot@local'], ends: PROVEN },
  { command: 'token revoke', argv: ['token', 'revoke', '{token}'], held: 'token', ends: PROVEN },
  { command: 'token list', argv: ['token', 'list'], ends: humans(0) },
  { command: 'doctor', argv: ['doctor'], ends: all(0) },
  { command: 'flow run', argv: ['flow', 'run', '-'], input: 'flow', ends: humans(0) },
  { command: 'flow resume', argv: ['flow', 'resume'], ends: humans(0) },
  {
    command: 'flow plan',
    argv: ['flow', 'plan', '--resume'],
    // No planning was interrupted here.
    ends: humans('flow.unknown_run', 'flow.unknown_run'),
  },
  {
    command: 'flow answer',
    argv: ['flow', 'answer', NO_ACTION, 'draft', 'retry'],
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow budget',
    argv: ['flow', 'budget', NO_ACTION, '--seconds', '60'],
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow approve',
    argv: ['flow', 'approve', NO_ACTION, 'review'],
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow reject',
    argv: ['flow', 'reject', NO_ACTION, 'review', '--comment', 'no'],
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow signal',
    argv: ['flow', 'signal', NO_ACTION, 'go'],
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow skip',
    argv: ['flow', 'skip', NO_ACTION, 'draft', '--comment', 'x'],
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow migrate',
    argv: ['flow', 'migrate', NO_ACTION, '-', '--yes'],
    input: 'flow',
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow cancel',
    argv: ['flow', 'cancel', NO_ACTION],
    ends: humans('credential.required', 1),
  },
  {
    command: 'flow evidence',
    argv: [
      'flow',
      'evidence',
      NO_ACTION,
      'claim',
      '--id',
      'e',
      '--digest',
      `sha256:${'0'.repeat(64)}`,
    ],
    ends: humans('credential.required', 1),
  },
  {
    command: 'schedule add',
    argv: ['schedule', 'add', 'each', '0 0 1 1 *', '{none}'],
    // The flow is read before the passphrase is asked for, and there is none.
    ends: humans('cli.file_unreadable', 'cli.file_unreadable'),
  },
  {
    command: 'schedule update',
    argv: ['schedule', 'update', 'each'],
    ends: humans('schedule.unknown', 'schedule.unknown'),
  },
  { command: 'schedule list', argv: ['schedule', 'list'], ends: all(0) },
  {
    command: 'schedule show',
    argv: ['schedule', 'show', 'each'],
    ends: all('schedule.unknown'),
  },
  {
    command: 'schedule pause',
    argv: ['schedule', 'pause', 'each'],
    ends: humans('schedule.unknown', 'schedule.unknown'),
  },
  {
    command: 'schedule resume',
    argv: ['schedule', 'resume', 'each'],
    ends: humans('schedule.unknown', 'schedule.unknown'),
  },
  {
    command: 'schedule remove',
    argv: ['schedule', 'remove', 'each'],
    ends: humans('schedule.unknown', 'schedule.unknown'),
  },
  { command: 'schedule run', argv: ['schedule', 'run', '--once'], ends: humans(0) },
  { command: 'notify run', argv: ['notify', 'run', '--once'], ends: humans(0) },
  { command: 'dispatch run', argv: ['dispatch', 'run', '--once'], ends: humans(0) },
  { command: 'dispatch check', argv: ['dispatch', 'check'], ends: humans(0) },
  {
    command: 'device enroll',
    argv: ['device', 'enroll', 'pump-9@local', '--remove'],
    // The passphrase is asked for first; then there is no such device.
    ends: humans('credential.required', 'dispatch.device'),
  },
  { command: 'device list', argv: ['device', 'list'], ends: humans(0) },
  {
    command: 'task withdraw',
    argv: ['task', 'withdraw', 'act-none'],
    ends: humans('credential.required', 'dispatch.unknown_task'),
  },
  {
    command: 'notify test',
    argv: ['notify', 'test'],
    ends: humans('notify.unknown', 'notify.unknown'),
  },
]

/** Commands that open no home, or only read a file: they do not check the caller. */
export const OPEN_TO_ALL: readonly string[] = [
  'check',
  'normalize',
  'schema',
  'config show',
  'config reference',
  'remote add',
  'remote list',
  'remote remove',
  'hook list',
  'hook event',
  'completion',
  'man',
  'rules check',
  'rules eval',
  'rules test',
  'rules prove',
  'rules diff',
  'rules import',
  'rules fmt',
  'ledger compare',
  'flow check',
  'flow test',
  'flow reference',
  'flow import',
  'flow export',
  'device run',
  'device key',
  'demo',
]

/** What reads a flow is open to actors; what carries one out is a person's. */
export const OF_FLOWS = /^flow (?:status|list|report|show)$/

/**
 * The same over HTTP (H-5): who may call which route. `caller`: every token. `human`: tokens of humans
 * alone. `proven`: a human who proves it in that request; the token alone is not enough.
 */
export const HTTP_WHO = {
  anyone: [
    'isAlive',
    'isReady',
    'describeApi',
    'showDoor',
    'offerLogin',
    'login',
    'offerPasskey',
    'addPasskey',
  ],
  caller: [
    'showMe',
    'showMetrics',
    'proposeAction',
    'listActions',
    'showAction',
    'listQuestions',
    'showQuestion',
    'showInbox',
    'showInboxEntry',
    'showLog',
    'requestUndo',
    'listUndoRequests',
    'listRuns',
    'showRun',
    'reportRun',
    'drawRun',
    'showNode',
    'checkFlow',
    'testFlow',
    'importFlow',
    'exportFlow',
    'testRules',
    'proveRules',
    'diffRules',
    'formatRules',
    'importRules',
    'listSchedules',
    'showSchedule',
    'listTasks',
    'showTask',
    'submitReceipt',
    'listDeviceTasks',
    'claimTask',
    'startTask',
    'sayAsDevice',
    'showLaws',
    'checkLaws',
    'testLaws',
    'explainDecision',
    'listStreams',
    'listFacts',
    'showCheckpoint',
    'proveFact',
    'proveKeys',
    'readTile',
    'followEvents',
    'checkDocument',
    'normalizeDocument',
    'checkRules',
    'evaluateRules',
    'diagnose',
    'showSettings',
    'showRecord',
    'replay',
    'listKeys',
    'compareCheckpoints',
    'showCheckpointOfAll',
    'showSchema',
    'exportEvents',
  ],
  human: [
    'showChange',
    'listSimilar',
    'learnLaws',
    'logout',
    'createChallenge',
    'listPasskeys',
    'showPart',
    'listSessions',
    'showSession',
    'diffSession',
    'halt',
    'listGrants',
    'listPrincipals',
    'listDevices',
    'listTokens',
    'showUse',
    'verifyLedger',
    'listWitnesses',
    'anchorLedger',
  ],
  proven: [
    'pinWitness',
    'unpinWitness',
    'endorseCredential',
    'approveQuestion',
    'denyQuestion',
    'approveUndo',
    'denyUndo',
    'settleSession',
    'discardSession',
    'extendSession',
    'stopSession',
    'startRun',
    'resumeRun',
    'answerNode',
    'approveNode',
    'rejectNode',
    'skipNode',
    'signalRun',
    'setBudget',
    'bringEvidence',
    'migrateRun',
    'cancelRun',
    'makePlan',
    'addSchedule',
    'updateSchedule',
    'pauseSchedule',
    'resumeSchedule',
    'removeSchedule',
    'issueTask',
    'withdrawTask',
    'enrollDevice',
    'acceptLaws',
    'overrideLaw',
    'resume',
    'revokeGrant',
    'rollBackAction',
    'rollBackSince',
    'addPrincipal',
    'createToken',
    'revokeToken',
    'removePasskey',
    'renewRecoveryCodes',
    'listRecoveries',
    'recover',
    'removeUnneeded',
    'purge',
    'rotateKey',
    'reindex',
  ],
} as const

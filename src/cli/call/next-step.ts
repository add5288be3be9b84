/**
 * What to type next, for refusals whose own words do not say it. A fault that was made with a hint
 * keeps that; this page is for the others, by code.
 */
import { type Code, isCode } from '../../base/index.ts'

const AGAIN = 'run the command again'
const CORRECT = 'correct the file or the proposal, then propose it again'
const READ_AGAIN = '`writ ledger verify` checks the facts; the next command reads them again'
const RESTORE =
  'keep a copy of the state directory, then put the ledger back from a backup; `writ ledger verify` checks it'

const STEPS: Readonly<Partial<Record<Code, string>>> = {
  halted: '`writ resume` lets acts run again',
  'laws.changed': 'read the law file (`writ laws check`), then `writ laws accept`',
  'precondition.failed': 'see to what has to hold beforehand, then propose it again',
  'evaluation.failed': '`writ laws check` shows which law cannot be evaluated',
  'effect.undeclared':
    'declare it (`--write GLOB`, `--delete GLOB`; in a proposal `effects.filesystem`), or run without both options to be asked',
  'effect.out_of_scope':
    'name its directory with `--scope DIR` (in a proposal `scope.filesystem`), or do not write there',
  'effect.privileged': 'no person can let this through: leave out setuid, setgid and capabilities',
  'effect.git_forged':
    'objects are made by git itself (`git add`, `git commit`); `git fsck` names those that are false',
  'effect.host_state': 'no person can let this through: leave the state of writ alone',
  'rehearsal.background':
    'wait for the processes in the command itself (`wait`), or start services outside of writ',
  'rehearsal.interfered': `${AGAIN} when no other program changes these files`,
  'diff.unsupported': 'leave this kind of file out, or make the change without writ',
  'diff.too_large': 'run the command in parts; `--disk MB` raises the cap of written bytes',
  'diff.path_too_long': 'use shorter names',
  'diff.clock': 'move the project to a local filesystem (ext4, xfs, btrfs)',
  'result.timeout': '`--time` raises the cap (in a proposal `resources.max_duration_ms`)',
  'result.resource_killed':
    '`--memory`, `--disk` and `--time` raise the caps (in a proposal `resources`)',
  'result.policy_aborted': AGAIN,
  'result.sandbox_error': '`writ doctor` checks the sandbox; then run the command again',
  'rollback.impossible': 'leave out what cannot be taken back, or make the change without writ',
  'promote.interrupted': AGAIN,
  'promote.unsupported_fs':
    'move the project to a local filesystem with hard links (ext4, xfs, btrfs)',
  'home.malformed': 'put the files of the state directory back from a backup',
  'config.no_file': CORRECT,
  'config.not_file': CORRECT,
  'config.too_large': CORRECT,
  'config.encoding': CORRECT,
  'config.syntax': CORRECT,
  'config.duplicate': CORRECT,
  'config.type': CORRECT,
  'config.nothing': CORRECT,
  'config.value': CORRECT,
  'config.shared': CORRECT,
  'config.inexact': CORRECT,
  'stage.mismatch': `nothing was changed; ${AGAIN}`,
  'stage.missing': `nothing was changed; ${AGAIN}`,
  'stage.tool': `nothing was changed; look at the disk and its rights, then ${AGAIN}`,
  'request.failed': 'look at the answer with `writ show ID`, then propose it again',
  'request.refused': 'look at the answer with `writ show ID`, then propose it again',
  'request.unknown': 'look on the other side whether it arrived before you propose it again',
  'request.altered': 'propose it again',
  'request.save_to': 'name a path in scope that can be written, then propose it again',
  'compensation.used': 'nothing is left to do: `writ log` shows the act that undid it',
  'rollback.irreversible': '`writ show ID` tells what was sent',
  'rollback.nothing': '`writ log` lists the acts; only what was promoted can be taken back',
  'ui.browser': 'install a browser: `apt-get install chromium`; `writ doctor` looks for it',
  'ui.step': 'look at the screenshot and the step in `writ show ID --json`',
  'sandbox.platform': 'use Linux 5.11 or newer; docs/platforms.md lists what works where',
  'sandbox.filesystem': 'move the project to a local filesystem (ext4, xfs, btrfs)',
  'sandbox.control_missing': '`writ doctor` says which control is missing and how to get it',
  'sandbox.overlay_attributes': 'choose another directory with `--scope`',
  'sandbox.scope_mount': 'choose a scope below or next to the mount with `--scope`',
  'sandbox.root': 'name an existing directory with `--scope`',
  'sandbox.cwd': 'change to a directory that exists and that you may enter',
  'sandbox.failed': '`writ doctor` checks the sandbox; then run the command again',
  'sandbox.closed': AGAIN,
  'block.permanent': 'a person lifts it: `writ override --lift ID --reason "…"`',
  'credential.wrong':
    'try again; `writ principal pass` sets another one while you know the old one',
  'credential.weak': 'take four words or more, or at least 12 characters',
  'credential.exists': '`writ principal pass` changes it',
  'credential.assertion':
    'try again with the passkey that you registered here; `writ passkey list` names them',
  'credential.challenge': 'load the page again and answer within five minutes',
  'credential.cloned': 'remove the passkey with `writ passkey remove`, and register another one',
  'principal.token':
    '`writ token list` shows the tokens; `writ token create PRINCIPAL` makes a new one',
  'principal.unknown': '`writ principal list` and `writ token list` show what there is',
  'principal.endorsement': 'another human types the same command within a day',
  'principal.exists': '`writ principal list` shows it',
  'principal.scope':
    'use another token: `writ token list` says what each is for, `writ principal list` which streams',
  'principal.not_human': 'a person does this, without WRIT_TOKEN in the environment',
  'principal.name': 'a principal is written kind:id@namespace, as ai:coder@local',
  'principal.malformed': RESTORE,
  'history.unknown': '`writ log` lists the acts, `writ inbox` the questions',
  'replay.unreplayable':
    'bodies were purged or expired; the facts still verify: `writ ledger verify`',
  'replay.different':
    '`writ show ID` shows what was recorded; `writ ledger verify` checks the facts',
  'replay.engine_changed': 'replay it with the version of writ that recorded it',
  'standing.damaged': READ_AGAIN,
  'standing.version': READ_AGAIN,
  'standing.ahead': READ_AGAIN,
  'standing.forked': READ_AGAIN,
  'standing.different': READ_AGAIN,
  'fact.malformed': RESTORE,
  'laws.unusable': '`writ laws check` lists every fault of the file',
  'ledger.missing': '`writ init` makes one',
  'ledger.exists': 'use it as it is, or choose another place',
  'ledger.version': 'use the version of writ that wrote it, or a newer one',
  'ledger.busy': 'wait until the other writers are done, then run the same again',
  'ledger.disk_full': 'make room on the disk of the state directory (`writ du`, `writ gc`)',
  'ledger.corrupt': RESTORE,
  'ledger.tampered': RESTORE,
  'ledger.truncated': RESTORE,
  'ledger.unsigned_tail': '`writ ledger verify` says how far the history is signed',
  'ledger.signature_invalid': RESTORE,
  'ledger.signature_missing': 'name the right key with `--key`; `writ ledger key` prints it',
  'ledger.unreachable': '`writ doctor` checks the home; look at the rights of the state directory',
  'ledger.unclear': '`writ log --facts` shows whether it is recorded',
  'ledger.head_moved': 'run the same again',
  'ledger.stream_unknown': '`writ log --stream NAME`; `writ principal list` shows the streams',
  'ledger.key_malformed': 'put the key file back from a backup',
  'ledger.checkpoint_malformed': '`writ ledger checkpoint` prints one of the right form',
  'ledger.note_malformed': '`writ ledger checkpoint` prints one of the right form',
  'bundle.exists': 'name a directory that does not exist yet',
  'body.missing': 'it was purged or its retention is over; the fact itself stays: `writ show ID`',
  'body.altered': RESTORE,
  'confirm.used': '`writ log` shows what became of it',
  'confirm.expired': `${AGAIN}; its new question is shown by \`writ inbox\``,
  'confirm.mismatch': '`writ inbox` shows the question as it is now',
  'confirm.assurance': '`writ inbox ID` says what the answer needs',
  'confirm.unproven': '`writ inbox ID` shows which approvals count',
  'override.unknown_law': '`writ laws check` lists the laws',
  'override.tier': '`writ laws explain ID` says what a person can do',
  'override.release': 'name hosts and methods of the proposal itself',
  'recovery.unknown': '`writ recover` lists what was interrupted',
  'cli.file_unreadable': 'look at the name and its rights: `ls -l`',
  'cli.file_unwritable': 'look at the directory and its rights: `ls -ld`',
  'cli.not_built': 'run `npm run build` in the checkout',
  'rules.inadmissible': '`writ rules check FILE` lists every fault of the rules',
  'rules.claim_word': 'correct the claim; docs/constitution.md lists the words of each field',
  'rules.claim_empty': 'correct the condition after `--when`',
  'rules.case': 'correct the case file; `writ rules test --help` shows an example',
  'rules.analysis_budget': 'split the rules, or narrow the claim',
  'flow.log_foreign': 'rename the file, then call again',
  'flow.taken': 'wait until the other process ends; `writ flow status RUN` shows it',
  'flow.unknown_run': '`writ flow list` lists the runs',
  'flow.not_waiting': '`writ flow status RUN` shows what the run waits for',
  'flow.flow_missing': 'put the body back from a backup, or start a new run: `writ flow run`',
  'flow.output_missing': 'start a new run: `writ flow run`',
  'flow.plan_refused':
    'read the reasons, change the task or the participants, then run the same again',
  'flow.secret_missing': 'set the variable in the environment, then run the same again',
  'flow.input_missing': 'put it where the message says, then `writ flow resume RUN`',
}

/** Null where nothing can be said by the code alone. */
export function nextStep(code: string): string | null {
  return isCode(code) ? (STEPS[code] ?? null) : null
}

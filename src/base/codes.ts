/**
 * The page of stable codes. A code is never renamed and never reused: ledgers hold them.
 *
 * A row says how a code leaves writ: HTTP status, exit status of the command line, and what it
 * means in one lower-case sentence. A code that is no longer given keeps its row, `retired: true`.
 * The page over 500 lines is on purpose: one place answers "what does code X mean?".
 */

export interface CodeRow {
  readonly http: number
  readonly exit: 1 | 2 | 3 | 4
  readonly says: string
  readonly retired?: true
}

/** A document was read and is wrong: the answer is no. */
function wrong<const S extends string>(says: S) {
  return { http: 422, exit: 1, says } as const
}

/** The call itself was wrong. */
function usage<const S extends string>(says: S) {
  return { http: 400, exit: 2, says } as const
}

/** The gate said no. */
function refused<const S extends string>(says: S) {
  return { http: 403, exit: 1, says } as const
}

/** The gate waits for a human. */
function waiting<const S extends string>(says: S) {
  return { http: 202, exit: 3, says } as const
}

/** Writ could not do its work; nothing was let through. */
function broken<const S extends string>(says: S) {
  return { http: 500, exit: 4, says } as const
}

export const CODES = {
  // Documents before any contract (C-3).
  'document.not_json': wrong('the text is not JSON, or the value is not a JSON value'),
  'document.too_deep': wrong('the document nests deeper than 64 levels'),
  'document.too_large': wrong('the document has too many values or bytes'),
  'document.duplicate_key': wrong('an object names the same key twice'),
  'document.bad_number': wrong('a number is not finite, or an integer beyond 2^53-1'),
  'document.lone_surrogate': wrong('a string holds half of a surrogate pair'),
  'document.unknown_contract': wrong('no contract or scope has this name'),
  'document.undetected': wrong('the document does not say which contract it follows'),
  'document.envelope': wrong('the line is not an envelope of the documented form'),

  // Command line.
  'cli.usage': usage('the command was called in a way it does not understand'),
  'cli.unknown_command': usage('there is no such command'),
  'cli.unknown_option': usage('the command has no such option'),
  'cli.file_unreadable': usage('the named file cannot be read'),
  'cli.file_unwritable': broken('the named file cannot be written'),
  'cli.not_built': broken('the program files are missing'),
  'cli.bug': broken('writ broke one of its own promises'),

  // Commands on rules.
  'rules.analysis_budget': broken('the analysis used up its budget; nothing is claimed'),
  'rules.inadmissible': wrong('the rules are not admissible, so nothing can be said about them'),
  'rules.case': wrong('a case file is not of the documented form'),

  // AO-ACT task.
  'task.type_const': wrong('the type is not `ao_act_task_v0`'),
  'task.required': wrong('a mandatory field is missing'),
  'task.field_type': wrong('a field has the wrong JSON type'),
  'task.unknown_key': wrong('the contract has no such key'),
  'task.issuer_kind': wrong('a task is issued by a human only'),
  'task.action_type': wrong('the action type is not on the allow-list'),
  'task.target_kind': wrong('the target kind is not field, area or path'),
  'task.ref_not_pointer': wrong('the reference is not an id, hash or URI-like token'),
  'task.time_window_order': wrong('the window starts after it ends'),
  'task.schema_keys_min': wrong('the parameter schema has no keys'),
  'task.schema_key_type': wrong('the parameter type is not number, boolean or enum'),
  'task.schema_enum_required': wrong('an enum parameter has no list of values'),
  'task.schema_facet_misplaced': wrong('min, max or enum does not fit the parameter'),
  'task.coverage_extra': wrong('a parameter is not in the parameter schema'),
  'task.coverage_missing': wrong('a parameter of the schema has no value'),
  'task.coverage_duplicate': wrong('the parameter schema names a parameter twice'),
  'task.bounds': wrong('the value is outside min and max'),
  'task.param_value_type': wrong('the value is not of the declared type'),
  'task.param_composite': wrong('a parameter is an object or an array'),
  'task.constraint_composite': wrong('a constraint is an object or an array'),
  'task.constraint_value_type': wrong('a constraint is not a number, boolean or enum string'),
  'task.free_string': wrong('a string stands where no enum parameter allows one'),
  'task.enum_not_in_list': wrong('the value is not in the list of its enum'),
  'task.forbid_key': wrong('the key is forbidden at any depth of a task'),
  'task.id_reused': wrong('two facts claim the id of one task'),
  'task.issuer_mismatch': { http: 403, exit: 1, says: 'the issuer is not the caller' },

  // AO-ACT receipt.
  'receipt.type_const': wrong('the type is not `ao_act_receipt_v0`'),
  'receipt.required': wrong('a mandatory field is missing'),
  'receipt.field_type': wrong('a field has the wrong JSON type'),
  'receipt.unknown_key': wrong('the contract has no such key'),
  'receipt.executor_kind': wrong('the executor kind is not human, script or device'),
  'receipt.coverage_kind': wrong('the coverage kind is not field, area or path'),
  'receipt.ref_not_pointer': wrong('the reference is not an id, hash or URI-like token'),
  'receipt.execution_time_order': wrong('the execution starts after it ends'),
  'receipt.resource_usage_keys': wrong('one of the four resource keys is missing'),
  'receipt.resource_usage_type': wrong('a resource value is neither a number nor null'),
  'receipt.logs_refs_min': wrong('the receipt names no log'),
  'receipt.status_enum': wrong('the status is not executed or not_executed'),
  'receipt.constraint_check_inconsistent': wrong('violations are listed but violated is false'),
  'receipt.observed_composite': wrong('an observed parameter is an object or an array'),
  'receipt.observed_value_type': wrong('an observed value is not a number, boolean or enum string'),
  'receipt.free_string': wrong('a string stands where no enum parameter allows one'),
  'receipt.enum_not_in_list': wrong('the value is not in the list of its enum'),
  'receipt.forbid_key': wrong('the key is forbidden at any depth of a receipt'),
  'receipt.executor_mismatch': { http: 403, exit: 1, says: 'the executor is not the caller' },
  'receipt.unknown_task': { http: 404, exit: 1, says: 'no task has this id' },
  'receipt.idempotency_key': wrong('the receipt has no idempotency key'),
  'receipt.duplicate': { http: 409, exit: 1, says: 'this receipt was already given' },

  // The ledger envelope.
  'record.type': wrong('the record type is missing or not registered'),
  'record.payload': wrong('the payload is missing or not valid for its type'),

  // Agent contracts: executor output.
  'action.required': wrong('a mandatory field is missing'),
  'action.field_type': wrong('a field has the wrong JSON type'),
  'action.enum': wrong('the value is not one of the allowed ones'),
  'action.version': wrong('the schema version is not `xiaobo_action_v1`'),

  // Agent contracts: review output.
  'review.required': wrong('a mandatory field is missing'),
  'review.field_type': wrong('a field has the wrong JSON type'),
  'review.enum': wrong('the value is not one of the allowed ones'),
  'review.version': wrong('the schema version is not `xiaojing_review_v1`'),
  'review.target': wrong('the review target does not fit the scope'),
  'review.score_range': wrong('the total score is outside 0 to 100'),
  'review.score_gate': wrong('the action does not follow from the score'),

  // Agent contracts: plan.
  'plan.required': wrong('a mandatory field is missing'),
  'plan.field_type': wrong('a field has the wrong JSON type'),
  'plan.enum': wrong('the value is not one of the allowed ones'),
  'plan.version': wrong('the schema version is not `plan_json_v1`'),
  'plan.unknown_ref': wrong('an id refers to nothing in this plan'),
  'plan.duplicate_id': wrong('an id is used twice'),
  'plan.cycle': wrong('the edges form a cycle'),
  'plan.and_or': wrong('a DECOMPOSE edge has no consistent AND or OR'),
  'plan.group_id': wrong('an ALTERNATIVE edge has no group'),
  'plan.root': wrong('the root task is missing or not a GOAL'),

  // Constitution: the three inputs.
  'problem_state.type_const': wrong('the type is not `problem_state_v1`'),
  'problem_state.required': wrong('a mandatory field is missing'),
  'problem_state.field_type': wrong('a field has the wrong JSON type'),
  'problem_state.unknown_key': wrong('the contract has no such key'),
  'problem_state.enum': wrong('the value is not one of the allowed ones'),
  'problem_state.version': wrong('the schema version is not MAJOR.MINOR.PATCH'),
  'problem_state.length': wrong('the text is shorter or longer than allowed'),
  'problem_state.empty': wrong('a text or list that must hold something is empty'),
  'problem_state.window_order': wrong('the window does not end after its start'),
  'uncertainty_envelope.type_const': wrong('the type is not `uncertainty_envelope_v0`'),
  'uncertainty_envelope.required': wrong('a mandatory field is missing'),
  'uncertainty_envelope.field_type': wrong('a field has the wrong JSON type'),
  'uncertainty_envelope.unknown_key': wrong('the contract has no such key'),
  'uncertainty_envelope.enum': wrong('the value is not one of the allowed ones'),
  'uncertainty_envelope.version': wrong('the schema version is not MAJOR.MINOR.PATCH'),
  'uncertainty_envelope.length': wrong('the text is longer than allowed'),
  'uncertainty_envelope.empty': wrong('a text that must hold something is empty'),
  'uncertainty_envelope.duplicate': wrong('an uncertainty source is named twice'),
  'permission_set.type_const': wrong('the type is not `permission_set_v0`'),
  'permission_set.required': wrong('a mandatory field is missing'),
  'permission_set.field_type': wrong('a field has the wrong JSON type'),
  'permission_set.unknown_key': wrong('the contract has no such key'),
  'permission_set.enum': wrong('the value is not one of the allowed ones'),
  'permission_set.version': wrong('the schema version is not MAJOR.MINOR.PATCH'),
  'permission_set.length': wrong('the text is shorter or longer than allowed'),
  'permission_set.empty': wrong('a text that must hold something is empty'),
  'permission_set.window_order': wrong('the window does not end after its start'),
  'permission_set.action_code': wrong('the action code is not in the registry'),
  'permission_set.duplicate': wrong('a candidate action is named twice'),
  'permission_set.verdict_word': wrong('the notes speak a verdict'),

  // Constitution: rulesets in either form (K-1).
  'ruleset.shape': wrong(
    'a field is missing, has the wrong JSON type, or the guard cannot be read',
  ),
  'ruleset.extra_field': wrong('the contract has no such field'),
  'ruleset.semver': wrong('the version is not MAJOR.MINOR.PATCH'),
  'ruleset.action_code': wrong(
    'the action code is not in the registry, or not that of its ruleset',
  ),
  'ruleset.combine': wrong('the combine strategy is not FIRST_MATCH or DENY_OVERRIDES'),
  'ruleset.default_verdict': wrong('the default verdict is not UNDETERMINED'),
  'ruleset.verdict': wrong('the verdict is not ALLOW, DENY or UNDETERMINED'),
  'ruleset.template': wrong('there is no such template'),
  'ruleset.template_not_allowed': wrong('the template is not in allowed_template_ids'),
  'ruleset.template_mismatch': wrong('the rule and its expression name different templates'),
  'ruleset.path': wrong('the path is not one of the 28 inputs'),
  'ruleset.undeclared_input': wrong('a path is read that inputs_used does not list'),
  'ruleset.value': wrong('a value is not a string that says something'),
  'ruleset.empty': wrong('a set, an argument list or a list of rules is empty'),
  'ruleset.evidence_content': wrong('a path that may only be tested with EXISTS is read'),
  'ruleset.duplicate_rule': wrong('a rule id is used twice'),
  'ruleset.duplicate_ruleset': wrong('two rulesets speak of one action code'),
  'ruleset.owner': wrong('the rule owner is not `Control Constitution`'),
  'ruleset.type_mismatch': wrong('the operator does not fit the kind of the path'),
  'ruleset.vocabulary': wrong('the value is not in the vocabulary of its field'),
  'ruleset.unused_input': wrong('a declared path is read by nothing'),

  // Constitution: the verdict (K-5).
  'verdict.type_const': wrong('the type is not `control_verdict_v0`'),
  'verdict.required': wrong('a mandatory field is missing'),
  'verdict.field_type': wrong('a field has the wrong JSON type'),
  'verdict.unknown_key': wrong('the contract has no such key'),
  'verdict.enum': wrong('the value is not one of the allowed ones'),
  'verdict.version': wrong('the schema version is not `0.1.0`'),
  'verdict.empty': wrong('a text that must hold something is empty'),
  'verdict.digest': wrong('the value is not a digest'),
  'verdict.rule_ref': wrong('the rule reference is not of the documented form'),
  'verdict.inconsistent': wrong(
    'verdict, ruleset status and ruleset reference contradict one another',
  ),

  // Constitution: a recorded evaluation (L-9).
  'evaluation.required': wrong('a mandatory field is missing'),
  'evaluation.field_type': wrong('a field has the wrong JSON type'),
  'evaluation.unknown_key': wrong('the contract has no such key'),
  'evaluation.empty': wrong('a text that must hold something is empty'),
  'evaluation.digest': wrong('the value is not a digest'),
  'evaluation.moment': wrong('a verdict has another time than its evaluation'),

  // Action descriptor, and what a proposal breaks of it (G-1 to G-7).
  'descriptor.required': wrong('a mandatory field is missing'),
  'descriptor.field_type': wrong(
    'a field has the wrong JSON type, or a value that is not foreseen',
  ),
  'descriptor.unknown_key': wrong('the contract has no such key'),
  'descriptor.version': wrong('the descriptor version is not `1.0`'),
  'descriptor.action_id': wrong('the action id is not a UUID'),
  'descriptor.action_id_reused': { http: 409, exit: 1, says: 'the action id was used before' },
  'descriptor.created_at': wrong('the time of creation is not an ISO 8601 moment, or not recent'),
  'descriptor.created_by': wrong('a descriptor is created by `ai`'),
  'descriptor.intent': wrong('the intent is not one paragraph of at most 500 characters'),
  'descriptor.action_type': wrong('the action type is not one of the thirteen'),
  'descriptor.risk_level': wrong('the risk level is not LOW, MEDIUM, HIGH or CRITICAL'),
  'descriptor.path_not_absolute': wrong('the path does not begin at the root'),
  'descriptor.path_not_normal': wrong('the path is not in its shortest form, or too long'),
  'descriptor.wildcard': wrong('a wildcard stands where none is allowed'),
  'descriptor.effects_omitted': wrong('an effect is not declared; an empty list would declare it'),
  'descriptor.effect_outside_scope': wrong('a declared effect lies outside the scope'),
  'descriptor.scope_implicit': wrong('a part of the scope is left unsaid'),
  'descriptor.resources': wrong('a resource limit is not a positive whole number'),
  'descriptor.ceiling': wrong('a resource limit is above what the host grants'),
  'descriptor.sandbox_required': wrong('this action is not allowed without a sandbox'),
  'descriptor.sandbox_runs': wrong('the sandbox runs exactly once'),
  'descriptor.sandbox_network': wrong('the sandbox asks for a network that is not declared'),
  'descriptor.rollback_disabled': wrong('the action cannot be rolled back'),
  'descriptor.rollback_scope': wrong('the extent of a rollback is not one of the two'),
  'descriptor.confirmation_reason': wrong('a confirmation is asked for without a reason'),
  'descriptor.audit': wrong('the action is not logged, or its retention is not a number of days'),
  'descriptor.log_level': wrong('the log level is not SUMMARY or DETAILED'),
  'descriptor.host_access': wrong('the action reaches for the host itself'),
  'descriptor.background': wrong('the operation leaves something running'),
  'descriptor.persistence': wrong('the operation installs itself outside the declared scope'),
  'descriptor.system_state': wrong('a change of system state can be neither staged nor undone'),
  'descriptor.operation_type': wrong('the operation is of another type than the descriptor says'),
  'descriptor.operation_scope': wrong('the operation reaches outside the scope'),
  'descriptor.composite_empty': wrong('a composite has no children'),
  'descriptor.composite_child': wrong('a child exceeds its parent, or repeats an action id'),
  'descriptor.composite_depth': wrong('composites nest more than 8 deep'),

  // Operation.
  'operation.required': wrong('a mandatory field is missing'),
  'operation.field_type': wrong('a field has the wrong JSON type'),
  'operation.unknown_key': wrong('the contract has no such key for this type of operation'),
  'operation.type': wrong('the type is not one of the operations'),
  'operation.path_not_absolute': wrong('the path does not begin at the root'),
  'operation.path_not_normal': wrong('the path is not in its shortest form, or too long'),
  'operation.wildcard': wrong('an operation names exact paths, without wildcards'),
  'operation.empty': wrong('the operation names nothing to act on'),
  'operation.content': wrong('a file is written from exactly one of content and content_base64'),
  'operation.base64': wrong('the text is not well-formed base64'),
  'operation.mode': wrong('the mode is not a file mode'),
  'operation.argv': wrong('the argument vector names no program, or holds a NUL'),
  'operation.env': wrong('an environment variable cannot be set so'),
  'operation.package': wrong('the name is no package name'),
  'operation.manager': wrong('the name is no package manager'),
  'operation.method': wrong('the method is not one of the HTTP methods'),
  'operation.url': wrong('the address is not a plain http or https URL'),
  'operation.header': wrong('a header cannot be sent so'),
  'operation.format': wrong('the format is not json, yaml or toml'),
  'operation.key_path': wrong('the key path is malformed, or overlaps another one'),
  'operation.step': wrong('the step is not one of the known ones'),
  'operation.compensation_depth': wrong('compensations nest more than 8 deep'),

  // Proposal.
  'proposal.required': wrong('a mandatory field is missing'),
  'proposal.field_type': wrong('a field has the wrong JSON type'),
  'proposal.unknown_key': wrong('the contract has no such key'),
  'proposal.choice': wrong('a composite has children, every other action has an operation'),

  // Sandbox result, the document; the gate's own verdict on it has codes of its own.
  'sandbox_result.required': wrong('a mandatory field is missing'),
  'sandbox_result.field_type': wrong('a field has the wrong JSON type'),
  'sandbox_result.unknown_key': wrong('the contract has no such key'),
  'sandbox_result.enum': wrong('the value is not one of the allowed ones'),
  'sandbox_result.action_id': wrong('the action id is not a UUID'),
  'sandbox_result.digest': wrong('the digest is not `sha256:` and 64 hex digits'),
  'sandbox_result.moment': wrong('the time is not an ISO 8601 moment'),
  'sandbox_result.time_order': wrong('the execution starts after it ends'),
  'sandbox_result.outcome': wrong('status, exit code, signal and cause contradict one another'),
  'sandbox_result.path': wrong('the path is not absolute and normal'),
  'sandbox_result.mode': wrong('the mode is not four octal digits'),
  'sandbox_result.base64': wrong('the text is not well-formed base64'),
  'sandbox_result.entry': wrong('an entry of the diff does not fit its list or its kind'),
  'sandbox_result.counts': wrong('the counts do not fit the lists'),
  'sandbox_result.code': wrong('the finding has no code'),
  'sandbox_result.compliance': wrong('compliance claims what the result contradicts'),

  // Decision.
  'decision.required': wrong('a mandatory field is missing'),
  'decision.field_type': wrong('a field has the wrong JSON type'),
  'decision.unknown_key': wrong('the contract has no such key'),
  'decision.decision': wrong('the decision is not PROMOTE, CONFIRM or BLOCK'),
  'decision.action_id': wrong('the action id is not a UUID'),
  'decision.digest': wrong('the digest is not `sha256:` and 64 hex digits'),
  'decision.moment': wrong('the time is not an ISO 8601 moment'),
  'decision.code': wrong('the code is malformed, or not among the codes'),
  'decision.contradiction': wrong('the codes do not allow this decision'),
  'decision.result_digest': wrong('only a BLOCK can be decided without a result'),
  'decision.tier': wrong('the tier is not 0, 1 or 2'),
  'decision.permanent': wrong('only a BLOCK can be permanent'),
  'decision.law_refs': wrong('a law among the codes is not referred to'),

  // Flow documents: the flow itself and its side file.
  'flow.type_const': wrong('the type is not the one of this contract'),
  'flow.required': wrong('a mandatory field is missing'),
  'flow.field_type': wrong('a field has the wrong JSON type'),
  'flow.unknown_key': wrong('the contract has no such key'),
  'flow.enum': wrong('the value is not one of the allowed ones'),
  'flow.empty': wrong('a name, phrase, expression or list is empty'),
  'flow.range': wrong('the number is smaller than it may be'),
  'flow.duplicate_id': wrong('an id is used twice'),
  'flow.unknown_ref': wrong('an id refers to nothing in this flow'),
  'flow.target': wrong('the target is not of a CHECK, or not a WORK node'),
  'flow.participant': wrong('a participant is not exactly one of the five kinds'),
  'flow.secret_name': wrong('a secret is not given by the name of a variable'),
  'flow.outside_workspace': wrong('the path does not stay under the workspace'),
  'flow.evidence_source': wrong('the evidence source is not of the form `path:field`'),
  'flow.reserved_field': wrong('the host keeps a state field of this name'),
  'flow.field_name': wrong('the name of a state field cannot be written in an expression'),
  'flow.join_mixed': wrong('one node is joined by AND and by OR'),
  'flow.policy_tie': wrong('two policies in conflict have the same priority'),
  'flow.policy_cycle': wrong('policies of one priority override one another in a circle'),
  'flow.invariant_weaker': wrong('a built-in invariant is restated weaker than it is'),

  // Law files.
  'laws.required': wrong('a mandatory field is missing'),
  'laws.field_type': wrong('a field has the wrong JSON type'),
  'laws.unknown_key': wrong('the contract has no such key'),
  'laws.enum': wrong('the value is not one of the allowed ones'),
  'laws.empty': wrong('an expression is empty'),
  'laws.range': wrong('the number is smaller or larger than it may be'),
  'laws.policy_id': wrong('the id of a law is not one plain word'),
  'laws.tier': wrong('the tier is not 0, 1 or 2'),
  'laws.duplicate_id': wrong('two laws have one id'),
  'laws.reserved_id': wrong('a law that is built in has this id'),
  'laws.unknown_ref': wrong('there is no law of this id'),
  'laws.policy_tie': wrong('two laws in conflict have the same priority'),
  'laws.policy_cycle': wrong('laws of one priority override one another in a circle'),
  'laws.tier_override': wrong('a law would override one of a stronger tier'),
  'laws.tier_action': wrong('a law of tier 2 would block'),
  'laws.phase': wrong('a law would be overridden by one that is judged later'),
  'laws.glob': wrong('a pattern names no place'),
  'laws.host': wrong('a host is not one exact host name'),

  // Expressions: why a source is refused, and why an evaluation is undetermined.
  'expression.too_long': wrong('the expression is longer than 4,096 bytes'),
  'expression.too_deep': wrong('the expression nests deeper than 64 levels'),
  'expression.too_large': wrong('the expression has more than 512 parts'),
  'expression.character': wrong('a character has no meaning in an expression'),
  'expression.string': wrong('a text does not end, or holds an escape that names no character'),
  'expression.number': wrong('a number is malformed or too large'),
  'expression.syntax': wrong('the expression is not of the form of CEL'),
  'expression.unsupported': wrong('the expression uses a part of CEL that writ leaves out'),
  'expression.unknown_name': wrong('there is no variable of this name'),
  'expression.unknown_field': wrong('there is no field of this name'),
  'expression.unknown_function': wrong('there is no function of this name'),
  'expression.arguments': wrong('a function is called with other arguments than it takes'),
  'expression.type': wrong('an operator stands between values that it cannot work with'),
  'expression.word': wrong('a field is compared with a word that it never holds'),
  'expression.not_boolean': wrong('the expression is neither true nor false'),
  'expression.absent': wrong('what the expression reads is not there'),
  'expression.mistyped': wrong('what the expression reads is not of its declared type'),
  'expression.overload': wrong('an operator met a value that it cannot work with'),
  'expression.overflow': wrong('a result is beyond 64 bits'),
  'expression.division': wrong('an int is divided by zero'),
  'expression.cost': wrong('the evaluation would take too many steps'),

  // Facts: what is asked to be appended, and what was found on the ledger.
  'fact.stream': wrong('the stream name is not a short lower-case token'),
  'fact.source': wrong('the source is not a short token'),
  'fact.principal': wrong('the principal has no kind, id and namespace of the known form'),
  'fact.idempotency_key': wrong('the idempotency key is not a token of 1 to 200 characters'),
  'fact.too_large': wrong('the fact is longer than 65,535 bytes'),
  'fact.malformed': broken('the stored fact is not a fact in canonical form'),

  // The ledger's own records.
  'ledger_record.required': wrong('a mandatory field is missing'),
  'ledger_record.field_type': wrong('a field has the wrong JSON type'),
  'ledger_record.unknown_key': wrong('the contract has no such key'),
  'ledger_record.stream': wrong('the name is no name of a stream'),
  'ledger_record.key': wrong('the text is no public key, or not another one'),
  'ledger_record.digest': wrong('the digest is not `sha256:` and 64 hex digits'),
  'ledger_record.size': wrong('the size is negative or contradicts the others'),
  'ledger_record.moment': wrong('the time is not an ISO 8601 moment'),
  'ledger_record.enum': wrong('the value is not one of the allowed ones'),
  'ledger_record.name': wrong('the name is empty or too long'),
  'ledger_record.misplaced': wrong('the field does not belong to this change'),

  // The ledger: stores, keys, checkpoints.
  'ledger.missing': { http: 404, exit: 2, says: 'there is no ledger at this place' },
  'ledger.exists': { http: 409, exit: 2, says: 'there is a ledger at this place already' },
  'ledger.store_malformed': {
    http: 422,
    exit: 2,
    says: 'the setting does not say where the facts of the ledger lie',
  },
  'ledger.version': broken('the ledger has a format that this version does not know'),
  'ledger.filesystem': broken('a ledger cannot lie on a network or foreign filesystem'),
  'ledger.busy': { http: 503, exit: 4, says: 'other writers held the ledger for too long' },
  'ledger.disk_full': { http: 507, exit: 4, says: 'the disk is full; nothing was recorded' },
  'ledger.corrupt': broken('the file of the ledger is damaged'),
  'ledger.unreachable': broken('the ledger could not be read or written'),
  'ledger.closed': broken('the ledger was closed'),
  'ledger.unclear': broken('the append failed and may be recorded all the same'),
  'ledger.head_moved': { http: 409, exit: 1, says: 'the stream has another size than expected' },
  'ledger.stream_unknown': { http: 404, exit: 1, says: 'there is no such stream' },
  'ledger.truncated': broken('the ledger is smaller than its newest checkpoint'),
  'ledger.unsigned_tail': broken('facts stand behind the newest checkpoint'),
  'ledger.tampered': broken('the stored history contradicts itself'),
  'ledger.forked': broken('two checkpoints of one size have different roots'),
  'ledger.note_malformed': wrong('the text is not a signed note'),
  'ledger.checkpoint_malformed': wrong('the note is not a checkpoint'),
  'ledger.signature_invalid': broken('the signature of a known key does not fit'),
  'ledger.signature_missing': broken('no known key signed the note'),
  'ledger.key_missing': broken('the key that has to sign is not there'),
  'ledger.key_malformed': broken('the file does not hold a key'),
  'ledger.key_exposed': broken('others can read the private key'),

  // Homes, principals, credentials.
  'home.missing': { http: 404, exit: 2, says: 'there is no home here' },
  'home.untrusted': { http: 403, exit: 4, says: 'no human registered this home as it is now' },
  'home.malformed': broken('the files of the home are not of the documented form'),
  'principal.not_human': { http: 403, exit: 1, says: 'only a human may do this' },
  'principal.scope': { http: 403, exit: 1, says: 'the caller belongs to some streams only' },
  'principal.token': { http: 401, exit: 1, says: 'the token is not known, revoked or expired' },
  'principal.exists': { http: 409, exit: 1, says: 'there is such a principal already' },
  'principal.unknown': { http: 404, exit: 1, says: 'there is no such principal or token' },
  'principal.name': wrong('the name of the principal is not of the documented form'),
  'principal.malformed': broken('the register of principals cannot be read'),
  'credential.weak': wrong('the passphrase has fewer than four words and than 12 characters'),
  'credential.wrong': { http: 403, exit: 1, says: 'the passphrase is not the right one' },
  'credential.required': { http: 403, exit: 1, says: 'this needs the credential of a human' },

  // History.
  'history.unknown': { http: 404, exit: 1, says: 'nothing here has this id' },
  'replay.different': wrong('what was recorded is not what is computed'),
  'replay.engine_changed': wrong('the record was made by an evaluator that is not here'),
  'replay.unreplayable': wrong('what the record rests on is no longer kept'),

  // Verification of a ledger: what it found. A history that is falsified is a no, not a fault.
  'ledger.schema': wrong('a table, view or guard of the file is missing, changed or too many'),
  'ledger.sequence': wrong('a fact is missing, doubled or out of its place'),
  'ledger.chain': wrong('the chain value of a fact does not follow from the one before'),
  'ledger.tile': wrong('a stored part of the tree is not that of the facts'),
  'ledger.root': wrong('a checkpoint has another root than the facts up to its size'),
  'ledger.checkpoint_missing': wrong('a checkpoint that has to be kept is not there'),
  'ledger.signers': wrong('a checkpoint is not signed by exactly the keys of its size'),
  'ledger.key_retired': wrong('a key signed beyond the last size it may sign'),
  'ledger.key_unfit': wrong('a change of keys does not follow from the keys before'),
  'ledger.key_unpinned': wrong('none of the keys is one that was pinned'),
  'ledger.stray': wrong('the file holds a row or stream that belongs to nothing'),
  'ledger.stream_missing': wrong('a stream that the host stream names is not there'),
  'ledger.clock': wrong('the time of a fact lies before that of the fact in front of it'),
  'ledger.key_reused': wrong('an idempotency key is used by two facts of one stream'),
  'ledger.not_extended': wrong('the history does not extend a checkpoint that was kept'),
  'ledger.anchor_foreign': wrong('the checkpoint that was kept is of none of these streams'),
  'ledger.index_wrong': wrong('the query index contradicts the facts'),
  'fact.contract': wrong('the record of a stored fact does not follow its contract'),
  'bundle.exists': { http: 409, exit: 2, says: 'there is something at the place of the bundle' },

  // Bodies: what is kept beside the ledger.
  'body.missing': { http: 404, exit: 1, says: 'the body is not kept here' },
  'body.altered': broken('the body is not the one that the fact names'),

  // The sandbox: what keeps a rehearsal from beginning. Nothing has run.
  'sandbox.platform': broken('commands cannot be rehearsed on this platform'),
  'sandbox.unmapped_owner': broken(
    'something in scope belongs to a user who does not exist inside',
  ),
  'sandbox.filesystem': broken('the filesystem cannot lie under an overlay'),
  'sandbox.scope_mount': broken('another filesystem is mounted inside a scope root'),
  'sandbox.root': broken('a scope root is no directory'),
  'sandbox.cwd': broken('the working directory cannot be entered inside'),
  'sandbox.closed': broken('the sandbox is closed'),
  'sandbox.failed': broken('the sandbox could not be made or ended without a word'),

  // The gate's own records.
  'gate_record.required': wrong('a mandatory field is missing'),
  'gate_record.field_type': wrong('a field has the wrong JSON type'),
  'gate_record.unknown_key': wrong('the contract has no such key'),
  'gate_record.enum': wrong('the value is not one of the allowed ones'),
  'gate_record.action_id': wrong('the action id is not a UUID'),
  'gate_record.id': wrong('the id is not a UUID'),
  'gate_record.digest': wrong('the digest is not `sha256:` and 64 hex digits'),
  'gate_record.moment': wrong('the time is not an ISO 8601 moment'),
  'gate_record.time_order': wrong('one time lies before another that it follows'),
  'gate_record.count': wrong('the number is smaller or larger than it may be'),
  'gate_record.empty': wrong('a text or list that must hold something is empty'),
  'gate_record.path': wrong('the path is not absolute'),
  'gate_record.code': wrong('the code is malformed'),
  'gate_record.tier': wrong('the tier is not 0, 1 or 2'),
  'gate_record.assurance': wrong('the answer does not stand on such a proof'),
  'gate_record.misplaced': wrong('the field has no meaning beside the others'),
  'gate_record.duplicate': wrong('the same thing is named twice'),
  'gate_record.contradiction': wrong('the record contradicts itself'),

  // The gate: what a decision says (G-8, G-15 to G-18). `law.<policy_id>` is made from the law.
  'promote.ok': { http: 200, exit: 1, says: 'nothing stands against the promotion' },
  'confirm.descriptor': waiting('the descriptor asks for a confirmation'),
  'confirm.law': waiting('a law asks for a confirmation'),
  'confirm.class': waiting('an effect is of a class that a human has to confirm'),
  'confirm.intent': waiting('the intent argues, or was rolled back before'),
  'confirm.denied': refused('a human said no'),
  'confirm.expired': refused('nobody answered in time, which is a no'),
  'confirm.used': refused('the question was answered before'),
  'confirm.mismatch': refused('the answer is about another proposal or another result'),
  'confirm.assurance': refused('the answer does not stand on the proof that this needs'),
  'precondition.failed': refused('what has to hold beforehand does not, or cannot be found out'),
  'evaluation.failed': refused('a law could not be evaluated, and so counts as broken'),
  'effect.undeclared': refused('something happened that was not declared'),
  'effect.out_of_scope': refused('something happened outside the scope'),
  'effect.not_observed': refused('a declared effect did not happen'),
  'effect.discarded': refused('a change to a place that nobody keeps was dropped'),
  'effect.deferred_execution': waiting('a path was changed that other programs run by themselves'),
  'effect.privileged': refused('a file would run with the rights of somebody else'),
  'effect.host_state': refused('the run reached for what belongs to writ'),
  'effect.irreversible': refused('an effect can be neither staged nor undone'),
  'result.failed': waiting('the command failed'),
  'result.timeout': refused('the run took longer than it may'),
  'result.resource_killed': refused('the run passed one of its caps'),
  'result.policy_aborted': refused('the run was stopped'),
  'result.sandbox_error': refused('the sandbox failed, so nothing is known'),
  'rehearsal.background': refused('processes lived on after the command had ended'),
  'rehearsal.interfered': refused('others changed what the rehearsal read'),
  'diff.unsupported': refused('a change cannot be carried over as it is'),
  'diff.link_split': waiting('a hard link would be split'),
  'diff.too_large': refused('more was written than the act may write'),
  'diff.path_too_long': refused('a path is longer than paths may be'),
  'diff.clock': refused('the filesystem does not say reliably when a file was changed'),
  'stage.mismatch': broken('what was set aside is not what the rehearsal left'),
  'stage.missing': broken('what was set aside for a promotion is not there, or is not whole'),
  'stage.tool': broken('a tool of the system failed while changes were set aside'),
  'sandbox.control_missing': refused('the machine lacks a control that the sandbox needs'),
  'rollback.impossible': refused('the effects could not be undone'),
  'block.permanent': refused('the same intent was blocked before and nobody lifted it'),
  cooldown: refused('the same intent was taken back or denied a short time ago'),
  halted: { http: 503, exit: 1, says: 'everything was halted by a human' },
  'laws.changed': refused('the laws are not the ones that a human accepted'),

  // Promotion, rollback and recovery (G-19 to G-21).
  'promote.conflict': {
    http: 409,
    exit: 1,
    says: 'a path is not as the rehearsal saw it, or somebody was faster',
  },
  'promote.busy': { http: 409, exit: 1, says: 'another process is writing to what would change' },
  'promote.no_space': broken('there is no room for everything that a promotion needs'),
  'promote.unsupported_fs': refused('the filesystem cannot do what a promotion needs'),
  'promote.stage_altered': broken('the staged bytes are not the rehearsed ones'),
  'promote.failed': broken('the machine refused a step; everything was put back'),
  'promote.unrecovered': {
    http: 409,
    exit: 1,
    says: 'an interrupted promotion or rollback has to be recovered first',
  },
  'recovery.conflict': {
    http: 409,
    exit: 1,
    says: 'a path is neither old nor new, and a human has to choose',
  },
  'recovery.unknown': { http: 404, exit: 1, says: 'nothing interrupted has this id' },
  'rollback.conflict': { http: 409, exit: 1, says: 'somebody else changed what would be restored' },
  'rollback.expired': { http: 410, exit: 1, says: 'the pre-images are not kept any more' },
  'rollback.altered': broken('a pre-image is not what was displaced'),
  'workspace.busy': { http: 409, exit: 1, says: 'another process of writ works on the workspace' },
} as const satisfies Record<string, CodeRow>

export type Code = keyof typeof CODES

export function isCode(text: string): text is Code {
  return Object.hasOwn(CODES, text)
}

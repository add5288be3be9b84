/** The files that a new home begins with. */

/** Keeps the id and everything else of this machine out of the repository. */
export const GITIGNORE = `# Laws and rules are shared; everything else belongs to one machine.
*
!.gitignore
!laws.yaml
!rules/
!rules/**
`

export const DEFAULT_LAWS = `# The laws of this home: what the gate refuses or asks about, besides what writ always refuses.
# After a change a human registers them again with \`writ trust\`; until then nothing here is obeyed.
#
# A law:
#   - policy_id: NO_CRITICAL
#     tier: 1
#     policy_expr: "descriptor.risk_level == 'CRITICAL'"
#     priority: 100
#     conflicts_with: []
#     override_mode: hard_override
#     violation_action: block
laws: []
`

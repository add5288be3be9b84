/** The files that a new home begins with, but for its laws, which the policy room writes. */

/** Keeps the id and everything else of this machine out of the repository. */
export const GITIGNORE = `# Laws and rules are shared; everything else belongs to one machine.
*
!.gitignore
!laws.yaml
!rules/
!rules/**
`

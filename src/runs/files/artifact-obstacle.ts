/** Why the host could not put an artifact into its place, where that is no defect of the host. */
import { faultCode } from '../../base/index.ts'

/**
 * Says why the artifact cannot be written; throws the failure if it is another one. `isOfParticipant`: the folder
 * of artifacts is not as the host made it.
 */
export function artifactObstacle(error: unknown, path: string, isOfParticipant: boolean): string {
  if (isUnknownGroup(error))
    return `${path} cannot be written: a directory between the home and the workspace is of a group that the sandbox does not know; give it to your own group with \`chgrp "$(id -g)" DIRECTORY\`, then answer \`retry\` or \`unblock\``
  if (faultCode(error) !== 'diff.unsupported' || !isOfParticipant) throw error
  return `it left something in the place of its artifact: ${path} cannot be written`
}

/** The kernel refuses to copy a directory for a change if it has a group that the sandbox does not know. */
function isUnknownGroup(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EOVERFLOW'
}

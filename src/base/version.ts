/** The version of this program; a test holds it equal to package.json's. */
export const VERSION = '0.1.0'

/** The trust level of this release: writ runs as the same user as the agent. */
export const LEVEL = 'seatbelt'

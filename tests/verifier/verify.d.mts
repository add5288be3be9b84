/** What the tests need to know of the independent verifier. */
export interface BundleReport {
  ok: boolean
  anchored: boolean
  size: number
  root: string
  problems: string[]
}

export function verifyBundle(
  directory: string,
  options: { readonly keys: readonly string[]; readonly anchor?: string | null },
): BundleReport

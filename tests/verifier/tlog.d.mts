/** What the tests need to know of the independent checks. */
export interface CheckedCheckpoint {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  /** In seconds, in the order of the witnesses. */
  readonly times: readonly number[]
}

export function checkCosigned(
  note: string,
  logKey: string,
  witnessKeys: readonly string[],
): CheckedCheckpoint

export function checkTlogProof(
  proof: string,
  fact: unknown,
  logKey: string,
  witnessKeys: readonly string[],
): CheckedCheckpoint & { readonly index: number }

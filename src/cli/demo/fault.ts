/** Whether what was thrown is a failure with this code; told by form, as the command line does. */
export function isFault(thrown: unknown, code: string): boolean {
  const { fault } = (thrown ?? {}) as { readonly fault?: { readonly code?: unknown } }
  return fault?.code === code
}

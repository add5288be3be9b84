/** What the person pressed before the console was whole; it is done as soon as the console is. */
let kept: string | null = null

export function keepPress(press: string): void {
  kept = press
}

/** Returns the kept press if it is one of these, once. */
export function takePress<Press extends string>(presses: readonly Press[]): Press | null {
  const found = presses.find((press) => press === kept) ?? null
  if (found !== null) kept = null
  return found
}

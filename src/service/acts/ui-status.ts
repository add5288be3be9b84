/** How the program that drives a browser ends when it does not succeed. */
export const UI_STATUS = { browser: 80, step: 81 } as const

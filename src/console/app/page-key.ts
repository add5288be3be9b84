/** What the page shows besides its cookie: the service answers who has both. */
const NAME = 'writ.page_key'

export function pageKey(): string | null {
  return localStorage.getItem(NAME)
}

export function keepPageKey(key: string | null): void {
  if (key === null) localStorage.removeItem(NAME)
  else localStorage.setItem(NAME, key)
}

/** A link to a page of the console, for parts that are drawn before its addresses are known. */
import { createContext, type ReactNode, useContext } from 'react'

/** How to go to a page without loading the console again. */
export const GoContext = createContext<((to: string) => void) | null>(null)

export function PlaceLink({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  const go = useContext(GoContext)
  return (
    <a
      href={to}
      onClick={(event) => {
        if (go === null || event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

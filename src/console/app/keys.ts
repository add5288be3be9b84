/** Keys of the keyboard: one letter each, never while the person types or a dialog is open. */
import { useEffect, useRef } from 'react'

type KeyTable = Readonly<Record<string, () => void>>

function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"],[role="alertdialog"]') !== null) return true
  const element = target instanceof HTMLElement ? target : null
  if (element === null) return false
  return element.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(element.tagName)
}

export function useKeys(table: KeyTable): void {
  const kept = useRef(table)
  useEffect(() => {
    kept.current = table
  })
  useEffect(() => {
    const take = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return
      const act = kept.current[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', take)
    return () => window.removeEventListener('keydown', take)
  }, [])
}

/** Two texts and their difference, with CodeMirror. Unseen characters are written out in both. */
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { visibleLines } from '../parts/text.tsx'
import { DIFF_COLOURS } from './diff-colours.ts'

interface DiffProps {
  readonly before: string
  readonly after: string
  readonly label: string
  /** Both sides next to each other. */
  readonly isBeside: boolean
}

/** A file that is new, or gone, is one text; there is nothing to compare. */
function comparison(before: string, after: string) {
  if (before === '' || after === '') {
    return [EditorView.editorAttributes.of({ class: before === '' ? 'is-new' : 'is-gone' })]
  }
  const original = visibleLines(before)
  const collapseUnchanged = { margin: 3, minSize: 6 }
  return [unifiedMergeView({ original, mergeControls: false, gutter: true, collapseUnchanged })]
}

function reading(label: string): readonly Extension[] {
  return [
    lineNumbers(),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    DIFF_COLOURS,
  ]
}

/** Both without the break that ends their last line: no line follows it. */
function withoutLastBreak(before: string, after: string): readonly [string, string] {
  const isEnded = [before, after].every((text) => text === '' || /[^\n]\n$/.test(text))
  return isEnded ? [before.replace(/\n$/, ''), after.replace(/\n$/, '')] : [before, after]
}

export function DiffText({ label, isBeside, ...sides }: DiffProps) {
  const [before, after] = withoutLastBreak(sides.before, sides.after)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = place.current
    if (host === null) return
    // In a shadow root CodeMirror adopts style sheets, which the rules of the page allow.
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    if (isBeside) {
      const [a, b] = [before, after].map((text) => ({
        doc: visibleLines(text),
        extensions: reading(label),
      }))
      const collapseUnchanged = { margin: 3, minSize: 6 }
      const both = new MergeView({ a: a ?? {}, b: b ?? {}, root, parent: root, collapseUnchanged })
      return () => both.destroy()
    }
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: visibleLines(after === '' ? before : after),
        extensions: [...reading(label), ...comparison(before, after)],
      }),
    })
    return () => view.destroy()
  }, [before, after, label, isBeside])
  return <div ref={place} className="diff" data-beside={isBeside} />
}

/** The colours of a difference; the page's own, which reach into shadow roots as custom properties. */
import { EditorView } from '@codemirror/view'

export const DIFF_COLOURS = EditorView.theme({
  '&': {
    backgroundColor: 'transparent',
    color: 'var(--text)',
    fontSize: '13px',
    maxHeight: '60vh',
  },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--quiet)', border: 'none' },
  '&.cm-merge-b .cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--added-line)' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--deleted-line)' },
  '&.cm-merge-a .cm-changedText': { background: 'var(--deleted-text)' },
  '&.cm-merge-b .cm-changedText': { background: 'var(--added-text)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--deleted-line)' },
  '.cm-deletedChunk .cm-deletedText': { background: 'var(--deleted-text)' },
  '.cm-collapsedLines': {
    backgroundColor: 'var(--sunk)',
    color: 'var(--quiet)',
    backgroundImage: 'none',
  },
  '&.is-new .cm-line': { backgroundColor: 'var(--added-line)' },
  '&.is-gone .cm-line': { backgroundColor: 'var(--deleted-line)' },
  '.cm-deletedLine, .cm-deletedLine del, .cm-deletedText': { textDecoration: 'none' },
})

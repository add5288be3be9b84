/** What a query found, or why there is nothing to show. */
import { AlertTriangle } from 'lucide-react'
import type { ReactNode } from 'react'
import { ProblemError } from '../../api/index.ts'
import { useSay } from '../app/settings.tsx'
import type { MessageKey } from '../words/en.ts'
import { Loading } from './basics.tsx'
import { Said } from './text.tsx'

const NAMES: Readonly<Record<string, MessageKey>> = {
  NotAllowedError: 'problem.passkey_cancelled',
  SyntaxError: 'problem.not_json',
  TypeError: 'problem.unreachable',
}

/** What went wrong, what to do next, and the code last. */
export function Problem({ error }: { readonly error: unknown }) {
  const say = useSay()
  const problem = error instanceof ProblemError ? error.problem : null
  const name = error instanceof Error ? error.name : ''
  const words = problem?.detail ?? say(NAMES[name] ?? 'problem.unexpected')
  return (
    <div className="problem" role="alert">
      <AlertTriangle aria-hidden="true" />
      <div>
        <p className="problem-words">
          <Said>{words}</Said>
        </p>
        {problem?.hint !== undefined && (
          <p>
            <Said>{problem.hint}</Said>
          </p>
        )}
        {problem?.violations?.slice(0, 10).map(({ path, message }) => (
          <p key={`${path} ${message}`}>
            <code>{path}</code> <Said>{message}</Said>
          </p>
        ))}
        <p className="code">{problem?.code ?? name}</p>
      </div>
    </div>
  )
}

interface Asked {
  readonly isPending: boolean
  readonly error: unknown
  readonly data?: unknown
}

/** Shows what a query found, or that it is under way, or why it failed. */
export function Found<T>({
  query,
  children,
}: {
  readonly query: Asked & { readonly data: T | undefined }
  readonly children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error !== null) return <Problem error={query.error} />
  return <Loading />
}

/**
 * The question of the address, drawn by React alone while the rest of the console loads, so that a person
 * can read and press at once. A press is kept and done as soon as the console takes over.
 */
import { keepPress } from './app/first-press.ts'
import { useKeys } from './app/keys.ts'
import { SettingsProvider, useSay } from './app/settings.tsx'
import { AnswerButtons } from './question/answer-buttons.tsx'
import { Changes } from './question/changes.tsx'
import type { WholeQuestion } from './question/question.ts'
import { QuestionHead } from './question/question-head.tsx'
import { Frame } from './shell/frame.tsx'

const NONE: ReadonlySet<string> = new Set()

export function FirstLook({ question }: { readonly question: WholeQuestion }) {
  return (
    <SettingsProvider>
      <FirstPage question={question} />
    </SettingsProvider>
  )
}

/** The rest of the console could not be loaded. */
export function NoConsole() {
  return (
    <SettingsProvider>
      <Told />
    </SettingsProvider>
  )
}

function Told() {
  const say = useSay()
  return (
    <main className="login">
      <p className="problem" role="alert">
        {say('problem.unexpected')}
      </p>
    </main>
  )
}

function FirstPage({ question }: { readonly question: WholeQuestion }) {
  const halt = (): void => keepPress('halt')
  useKeys({ a: () => keepPress('approve'), d: () => keepPress('deny'), h: halt })
  return (
    <Frame live="off" onHalt={halt}>
      <div className="page question">
        <QuestionHead question={question} />
        <div className="question-columns">
          <div className="question-main">
            <Changes question={question} chosen={NONE} onChosen={() => undefined} />
          </div>
          <aside className="question-side" />
        </div>
        <AnswerButtons question={question} chosen={0} onAnswer={keepPress} />
      </div>
    </Frame>
  )
}

/**
 * The steps of a UI_AUTOMATION: a small closed vocabulary, distinguished by `action`. `content` holds
 * the text to type into a page; no message and no fact shows it. Deliberately absent: scripts in the
 * page, waiting for a time, anything that depends on what an earlier step returned.
 */
import * as Type from 'typebox'
import { AbsolutePath, closed } from './shapes.ts'

const Selector = Type.String({ minLength: 1 })

function actionOf<const A extends string>(action: A) {
  return Type.Literal(action, { 'x-code': 'step' })
}

export const StepSchema = Type.Union(
  [
    Type.Object({ action: actionOf('goto'), url: Type.String() }, closed),
    Type.Object({ action: actionOf('click'), selector: Selector }, closed),
    Type.Object({ action: actionOf('fill'), selector: Selector, content: Type.String() }, closed),
    Type.Object(
      {
        action: actionOf('press'),
        key: Type.String({ minLength: 1 }),
        selector: Type.Optional(Selector),
      },
      closed,
    ),
    Type.Object({ action: actionOf('select'), selector: Selector, option: Type.String() }, closed),
    Type.Object(
      {
        action: actionOf('wait_for'),
        selector: Selector,
        timeout_ms: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      closed,
    ),
    Type.Object(
      {
        action: actionOf('expect_text'),
        text: Type.String({ minLength: 1 }),
        selector: Type.Optional(Selector),
      },
      closed,
    ),
    Type.Object({ action: actionOf('screenshot'), save_to: AbsolutePath }, closed),
  ],
  { 'x-choose': 'action', 'x-code': { enum: 'step' } },
)

export type UiStep = Type.Static<typeof StepSchema>

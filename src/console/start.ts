/** The first script of the page, kept small: it asks for what the page waits for, and loads the console. */
import { isQuestion } from './app/first-answer.ts'
import './styles/base.css'
import './styles/parts.css'
import './styles/question.css'

const place = document.getElementById('root')
if (place === null) throw new Error('the page has no place for the console')
void import('./main.tsx').then(({ openConsole }) => openConsole(place))
// Otherwise found only once the console runs.
if (isQuestion) void import('./pages/question.tsx')

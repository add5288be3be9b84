/**
 * The first script of the page: it draws the question of the address as soon as that is known, and loads
 * the console, which takes over.
 */
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { firstAnswer } from './app/first-answer.ts'
import { FirstLook, NoConsole } from './first-look.tsx'
import type { WholeQuestion } from './question/question.ts'
import './styles/base.css'
import './styles/parts.css'
import './styles/question.css'
import './styles/pages.css'

const place = document.getElementById('root')
if (place === null) throw new Error('the page has no place for the console')
const root = createRoot(place)

async function begin(): Promise<void> {
  const answer = await firstAnswer()
  if (answer !== null) {
    // It was asked for at the address of a question.
    root.render(createElement(FirstLook, { question: answer as WholeQuestion }))
    // The console loads after the question is on the screen.
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
  }
  const loaded = import('./main.tsx')
  // Otherwise found only once the console runs.
  if (answer !== null) void import('./pages/question.tsx').catch(() => null)
  await (await loaded).openConsole(root, answer !== null)
}

// Buttons that do nothing must not stay.
begin().catch(() => root.render(createElement(NoConsole)))

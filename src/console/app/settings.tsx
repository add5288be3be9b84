/** Language and colours: those of the browser unless the person chose others, which are kept here. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { en, type MessageKey } from '../words/en.ts'
import { fill, type WordValues } from '../words/fill.ts'

type Language = 'en' | 'zh'
type Theme = 'system' | 'light' | 'dark'

interface Settings {
  readonly language: Language
  readonly theme: Theme
  /** Of the language, as the web writes it. */
  readonly tag: string
  readonly say: SayWords
  readonly setLanguage: (language: Language) => void
  readonly setTheme: (theme: Theme) => void
}

const TAGS = { en: 'en-US', zh: 'zh-CN' }
type Catalogue = Readonly<Record<MessageKey, string>>
export type SayWords = (key: MessageKey, values?: WordValues) => string

/** Loaded once, when first used. */
const catalogues: Partial<Record<Language, Catalogue>> = { en }

const SettingsContext = createContext<Settings | null>(null)

export function useSettings(): Settings {
  const settings = useContext(SettingsContext)
  if (settings === null) throw new Error('no settings around')
  return settings
}

function firstLanguage(): Language {
  const kept = localStorage.getItem('writ.language')
  if (kept === 'en' || kept === 'zh') return kept
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

function firstTheme(): Theme {
  const kept = localStorage.getItem('writ.theme')
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function SettingsProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage)
  const [theme, setTheme] = useState(firstTheme)
  const [messages, setMessages] = useState<Catalogue | null>(catalogues[language] ?? null)
  useEffect(() => {
    localStorage.setItem('writ.language', language)
    document.documentElement.lang = TAGS[language]
    if (catalogues[language] !== undefined) return setMessages(catalogues[language])
    void import('../words/zh.ts').then(({ zh }) => {
      catalogues.zh = zh
      setMessages(zh)
    })
  }, [language])
  useEffect(() => {
    localStorage.setItem('writ.theme', theme)
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  const settings = useMemo((): Settings | null => {
    if (messages === null) return null
    const tag = TAGS[language]
    const say: SayWords = (key, values = {}) => fill(messages[key], values, tag)
    return { language, theme, tag, say, setLanguage, setTheme }
  }, [language, theme, messages])
  return settings === null ? null : <SettingsContext value={settings}>{children}</SettingsContext>
}

/** Returns what says a message in the person's language. */
export function useSay(): SayWords {
  return useSettings().say
}

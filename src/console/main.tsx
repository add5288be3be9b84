/** The console in the page. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { LiveProvider } from './app/live.tsx'
import { queries } from './app/queries.ts'
import { SettingsProvider } from './app/settings.tsx'
import { router } from './shell/router.tsx'

export function openConsole(place: HTMLElement): void {
  createRoot(place).render(
    <StrictMode>
      <SettingsProvider>
        <QueryClientProvider client={queries}>
          <LiveProvider>
            <RouterProvider router={router} />
          </LiveProvider>
        </QueryClientProvider>
      </SettingsProvider>
    </StrictMode>,
  )
}

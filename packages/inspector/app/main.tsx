// First, before any schema is created.
import './data/no-code-from-text.js'

import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { signInAfter } from './data/sign-in.js'
import { router } from './router.js'
import { startTheme } from './shell/theme.js'
import './styles/base.css'
import './styles/parts.css'
import './styles/screens.css'
import './styles/compactions.css'
import './styles/search.css'

startTheme()
const queries = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => signInAfter(queries, error) }),
  // The client repeats requests itself where that is safe, and events refresh what has changed.
  defaultOptions: { queries: { retry: false, staleTime: 10_000, refetchOnWindowFocus: false } },
})
const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}

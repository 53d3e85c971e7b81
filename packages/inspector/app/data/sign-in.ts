import { HeddleError } from '@heddle/contracts'
import type { QueryClient } from '@tanstack/react-query'

/** After a refusal of the key, or of requests without one, the page asks for a key. */
export function signInAfter(queries: QueryClient, error: unknown): void {
  if (error instanceof HeddleError && error.code === 'UNAUTHORIZED')
    void queries.resetQueries({ queryKey: ['session'] })
}

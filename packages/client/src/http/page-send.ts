import type { Send } from './send.js'

/** A page has `fetch` alone. */
export const platformSend: Send | undefined = undefined

import type { Send } from './send.js'

/** A page only has `fetch`. */
export const platformSend: Send | undefined = undefined

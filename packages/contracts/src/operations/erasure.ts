import { erasedSchema } from '../http/threads.js'

/** Shared by the operations that erase something with a name. */
export const erasureDescription =
  'With all that was derived from it. From the first moment on it is not shown any more, and what is sent to it is refused. An erasure that outlasts the request goes on by itself. The name is refused from then on; with `reuse=true`, also given later, it is free again once nothing is left.'

export const erasureHeaders = {
  Prefer: '`respond-async`: answer once it is hidden, and remove it afterwards.',
} as const

export const erasureAnswers = {
  200: { description: 'The removed rows.', schema: erasedSchema },
  202: { description: 'It is hidden, and is being removed.', schema: erasedSchema },
} as const

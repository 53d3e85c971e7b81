import type { UncompactOptions, UncompactResult } from '@heddle/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../data/client.js'
import { counted } from '../data/text.js'

/** One message, a range or the whole thread, to undo or to redo. */
export type Selection = Omit<UncompactOptions, 'thread' | 'agent'>

/** The messages behind a summary are those of its id, which another summary does not have. */
const CHANGED = ['thread', 'summaries', 'archive', 'messages']

export function useUncompact(thread: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (selection: Selection) => client.contexts.uncompact({ thread, ...selection }),
    onSuccess: () => {
      for (const noun of CHANGED) void queries.invalidateQueries({ queryKey: [noun, thread] })
    },
  })
}

/** The effect of a change in sentences for the reader. */
export function outcomeOf({ action, messages, compactions }: UncompactResult): string {
  if (messages === 0)
    return action === 'undone'
      ? 'Nothing was undone: no compaction has changed these messages.'
      : 'Nothing to redo: no compaction of these messages was undone.'
  const effect =
    action === 'undone'
      ? `Undone: contexts show ${counted(messages, 'message')} verbatim again if they fit.`
      : `Redone: ${counted(messages, 'message')} may be compacted again.`
  return compactions === 0 ? effect : `${effect} ${counted(compactions, 'compaction')} will be repeated.`
}

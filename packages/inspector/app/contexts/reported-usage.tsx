import type { ContextResult } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { messagesOfReplyQuery } from '../data/queries.js'
import { figure, visible } from '../data/text.js'
import { reportedTokens } from './usage.js'

/** The provider's count of the context beside Heddle's, from the reply that names it. */
export function ReportedUsage({ context: { id, thread, tokensUsed } }: { context: ContextResult }) {
  const { data } = useQuery(messagesOfReplyQuery(thread))
  const reply = data?.items.find(({ contextId, usage }) => contextId === id && usage !== undefined)
  const reported = reply?.usage === undefined ? null : reportedTokens(reply.usage)
  if (reported === null) return null
  const percent = (100 * (reported - tokensUsed)) / Math.max(tokensUsed, 1)
  return (
    <p>
      The provider counted {figure(reported)} tokens, {percent < 0 ? '−' : '+'}
      {Math.abs(percent).toFixed(1)} % to the {figure(tokensUsed)} counted here
      {reply?.model === undefined ? '' : `; model ${visible(reply.model)}`}.
    </p>
  )
}

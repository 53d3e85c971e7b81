import type { ContextResult } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { contextsQuery, messagesOfReplyQuery } from '../data/queries.js'
import { counted, figure, visible } from '../data/text.js'
import { calibrationsOf, reportedTokens } from './usage.js'

/** The provider's count of the context beside Heddle's, from the reply that names it, and the same over other replies. */
export function ReportedUsage({ context: { id, thread, tokensUsed, receipt } }: { context: ContextResult }) {
  const { data } = useQuery(messagesOfReplyQuery(thread))
  const { data: contexts } = useQuery(contextsQuery(thread))
  const replies = data?.items ?? []
  const reply = replies.find(({ contextId, usage }) => contextId === id && usage !== undefined)
  const reported = reply?.usage === undefined ? null : reportedTokens(reply.usage)
  // The median of one reply says no more than the line above.
  const calibrations = calibrationsOf(replies, contexts?.items ?? []).filter(
    (each) => reported === null || each.replies > 1,
  )
  if (reported === null && calibrations.length === 0) return null
  return (
    <section aria-label="Reported usage" className="reported">
      {reported === null ? null : (
        <p>
          The provider counted <strong>{figure(reported)}</strong> tokens
          {reply?.model === undefined ? '' : ` (${visible(reply.model)})`}, {times(reported / Math.max(tokensUsed, 1))}{' '}
          the {figure(tokensUsed)} counted here by {receipt.counter}.
        </p>
      )}
      {calibrations.map(({ model, replies: number, ratio }) => (
        <p key={model} className="quiet">
          Calibration{model === '' ? '' : ` of ${visible(model)}`}: {times(ratio)} what is counted here, the median of{' '}
          {counted(number, 'reply', 'replies')}.
        </p>
      ))}
    </section>
  )
}

const times = (ratio: number) => `${ratio.toFixed(2)} times`

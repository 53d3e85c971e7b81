import type { ContextSummary } from '@heddle/contracts'
import { Link } from '@tanstack/react-router'
import { figure, timeText } from '../data/text.js'

export function ContextRow({
  context: { id, thread, status, tokensUsed, budget, requestedAt },
}: {
  context: ContextSummary
}) {
  return (
    <article className="context-row">
      <Link to="/threads/$thread/contexts/$context" params={{ thread, context: id }}>
        Context {status}
        {tokensUsed === null
          ? ''
          : `: ${figure(tokensUsed)} of ${budget === null ? 'no budget' : figure(budget)} tokens`}
      </Link>{' '}
      <time className="quiet" dateTime={requestedAt}>
        {timeText(requestedAt)}
      </time>
    </article>
  )
}

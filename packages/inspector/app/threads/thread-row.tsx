import type { ThreadSummary } from '@heddle/contracts'
import { Link } from '@tanstack/react-router'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Stages } from '../parts/stages.js'

export function ThreadRow({ thread }: { thread: ThreadSummary }) {
  const { name, title, agent, messages, tokensEstimate, lastContext, lastError, lastMessageAt } = thread
  return (
    <article className="thread-row">
      <div className="thread-name">
        <Link to="/threads/$thread" params={{ thread: name }}>
          <bdi>{visible(name)}</bdi>
        </Link>
        {title ? <bdi className="quiet"> {visible(title)}</bdi> : null}
        <p className="quiet">
          <bdi>{visible(agent)}</bdi> · {counted(messages, 'message')} · {timeText(lastMessageAt)}
        </p>
      </div>
      <dl className="tokens">
        <div>
          <dt>stored</dt>
          <dd>{figure(tokensEstimate)}</dd>
        </div>
        <div>
          <dt>last context</dt>
          <dd>{lastContext === null ? 'none' : figure(lastContext.tokensUsed)}</dd>
        </div>
      </dl>
      <Stages {...thread} />
      {lastError === null ? null : (
        <p className="error thread-error">
          <strong>Error:</strong> {visible(lastError)} <Link to="/pipeline">See the pipeline</Link>
        </p>
      )}
    </article>
  )
}

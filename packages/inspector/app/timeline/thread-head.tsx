import type { ThreadOverview } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { threadQuery } from '../data/queries.js'
import { counted, figure, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Stages } from '../parts/stages.js'

interface ThreadHeadProps {
  thread: string
  /** Whether its figures wait for something that is read first. */
  isLater?: boolean
}

export function ThreadHead({ thread, isLater = false }: ThreadHeadProps) {
  const { data, error } = useQuery({ ...threadQuery(thread), enabled: !isLater })
  return (
    <section className="thread-head">
      <nav aria-label="Path">
        <Link to="/threads">Threads</Link> ›{' '}
      </nav>
      <h1>
        <bdi>{visible(thread)}</bdi>
      </h1>
      <nav aria-label="Views of the thread" className="tabs">
        <Link to="/threads/$thread" params={{ thread }} activeOptions={{ exact: true, includeSearch: false }}>
          Timeline
        </Link>
        <Link to="/threads/$thread/contexts" params={{ thread }}>
          Contexts
        </Link>
        <Link to="/threads/$thread/find" params={{ thread }} activeOptions={{ includeSearch: false }}>
          Did it see this?
        </Link>
        <Link to="/threads/$thread/compactions" params={{ thread }}>
          Compactions
        </Link>
        <Link to="/threads/$thread/tools" params={{ thread }}>
          Tokens
        </Link>
        <Link to="/threads/$thread/requests" params={{ thread }}>
          Requests
        </Link>
        <Link to="/search" search={{ place: 'archive', thread }}>
          Archive
        </Link>
      </nav>
      {error ? <Failure error={error} /> : null}
      <div className="overview">{data ? <Overview thread={data} /> : null}</div>
    </section>
  )
}

function Overview({ thread }: { thread: ThreadOverview }) {
  const { agent, messages, eligible, tokens, prunings, warnings, lastError, title, goal } = thread
  return (
    <>
      {title ? <p>{visible(title)}</p> : null}
      {goal ? <p className="quiet">Goal: {visible(goal)}</p> : null}
      <p className="facts">
        <span>
          agent <bdi>{visible(agent)}</bdi>
        </span>{' '}
        <span>{counted(messages, 'message')}</span> <span>{figure(eligible)} of them eligible</span>{' '}
        <span>{figure(tokens)} tokens</span> <span>{figure(prunings.tokensFreed)} freed by pruning</span>
      </p>
      <Stages {...thread} />
      {warnings.map((warning) => (
        <p key={warning} className="warning">
          {visible(warning)}
        </p>
      ))}
      {lastError ? (
        <p className="error">
          Error: {visible(lastError)} <Link to="/pipeline">See the pipeline</Link>
        </p>
      ) : null}
    </>
  )
}

import type { ContextResult, ContextSummary, ReceiptEntry } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { curlOf } from '../data/client.js'
import { isPartOfMessage, isShown } from '../data/join-receipt.js'
import { contextQuery, contextsQuery } from '../data/queries.js'
import { figure, timeText, visible } from '../data/text.js'
import { CopyButton } from '../parts/copy-button.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'
import { Delivered } from './delivered.js'
import { Difference } from './difference.js'
import { FindInContext } from './find-in-context.js'
import { LeftOut } from './left-out.js'
import { ReportedUsage } from './reported-usage.js'
import { SectionBar } from './section-bar.js'
import { WhatIf } from './what-if.js'

export function ContextScreen() {
  const { thread, context: id } = useParams({ from: '/threads/$thread/contexts/$context' })
  useTitle(`Context of ${thread}`)
  const { data: context, error, isPending } = useQuery(contextQuery(id))
  const { data: contexts } = useQuery(contextsQuery(thread))
  const built = contexts?.items.filter(({ status }) => status === 'built') ?? []
  const place = built.findIndex((each) => each.id === id)
  const before = place === -1 ? undefined : built[place + 1]
  return (
    <div className="screen">
      <nav aria-label="Path">
        <Link to="/threads">Threads</Link> ›{' '}
        <Link to="/threads/$thread" params={{ thread }}>
          <bdi>{visible(thread)}</bdi>
        </Link>{' '}
        ›{' '}
        <Link to="/threads/$thread/contexts" params={{ thread }}>
          Contexts
        </Link>
      </nav>
      <h1>Context{place === -1 ? '' : ` of ${timeText(built[place]?.requestedAt)}`}</h1>
      <Moments thread={thread} before={before} after={place > 0 ? built[place - 1] : undefined} />
      {isPending ? <Loading what="the context" /> : null}
      {error ? <Failure error={error} /> : null}
      {context ? <Built context={context} before={before?.id} requestedAt={built[place]?.requestedAt} /> : null}
    </div>
  )
}

/** From one moment of the thread to the next. */
function Moments({ thread, before, after }: { thread: string; before?: ContextSummary; after?: ContextSummary }) {
  return (
    <nav aria-label="Moments" className="moments">
      {before ? (
        <Link to="/threads/$thread/contexts/$context" params={{ thread, context: before.id }}>
          ← Context before, {timeText(before.requestedAt)}
        </Link>
      ) : null}
      {after ? (
        <Link to="/threads/$thread/contexts/$context" params={{ thread, context: after.id }}>
          Context after, {timeText(after.requestedAt)} →
        </Link>
      ) : null}
    </nav>
  )
}

interface BuiltProps {
  context: ContextResult
  before: string | undefined
  /** Undefined if it is not among the newest ones. */
  requestedAt: string | undefined
}

function Built({ context, before, requestedAt }: BuiltProps) {
  const { id, thread, agent, format, strategy, budget, tokensUsed, receipt } = context
  const { view } = useSearch({ from: '/threads/$thread/contexts/$context' })
  const unshown = receipt.entries.filter((entry) => !isShown(entry) && !isPartOfMessage(entry))
  return (
    <>
      <p className="facts">
        <span>
          {figure(tokensUsed)} of {figure(budget)} tokens
        </span>{' '}
        <span>{figure(receipt.tokensRaw)} without Heddle</span> <span>format {format}</span>{' '}
        <span>strategy {visible(strategy)}</span> <span>counter {receipt.counter}</span>{' '}
        <span>
          agent <bdi>{visible(agent)}</bdi> version {receipt.agentVersion}
        </span>
        {receipt.summarizer ? <span> summary from {visible(receipt.summarizer)}</span> : null}
      </p>
      <ReportedUsage context={context} />
      <SectionBar sections={receipt.sections} budget={budget} />
      {receipt.notes.map((note) => (
        <p key={note} className="warning">
          {visible(note)}
        </p>
      ))}
      <div className="bar">
        <CopyButton label="Copy as JSON" text={() => JSON.stringify(context, null, 2)} />
        <CopyButton label="Copy as curl" text={() => curlOf(`v1/contexts/${id}`)} />
      </div>
      <nav aria-label="Views of the context" className="tabs">
        {views(unshownCount(unshown, receipt.ineligible)).map(([each, label]) => (
          <Link
            key={label}
            to="/threads/$thread/contexts/$context"
            params={{ thread, context: id }}
            search={each === undefined ? {} : { view: each }}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={view === each ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {view === undefined ? <Delivered context={context} before={before} /> : null}
      {view === 'left-out' ? <LeftOut entries={unshown} ineligible={receipt.ineligible} thread={thread} /> : null}
      {view === 'find' ? <FindInContext context={context} requestedAt={requestedAt} /> : null}
      {view === 'what-if' ? <WhatIf context={context} /> : null}
      {view === 'difference' ? <Difference before={before} after={id} /> : null}
    </>
  )
}

/** Messages, and parts such as items, that this context does not show. */
function unshownCount(entries: readonly ReceiptEntry[], ineligible: Readonly<Record<string, number>>): number {
  const hidden = Object.values(ineligible).reduce((sum, count) => sum + count, 0)
  return entries.reduce((sum, { count }) => sum + Math.max(1, count), hidden)
}

const views = (unshown: number) =>
  [
    [undefined, 'As delivered'],
    ['left-out', `${figure(unshown)} not shown`],
    ['find', 'Did it see this?'],
    ['difference', 'Difference to the context before'],
    ['what-if', 'What if'],
  ] as const

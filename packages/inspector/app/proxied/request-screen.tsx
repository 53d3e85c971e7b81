import type { ProxiedRequestView } from '@heddle/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { proxiedRequestQuery } from '../data/queries.js'
import { counted, figure, timeText, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { LoadMore } from '../parts/load-more.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'
import { ThreadHead } from '../timeline/thread-head.js'
import { dollars, passedText, savingText } from './costs.js'
import { EntryRow } from './entry-row.js'

/** A request as it was received and as it was sent, side by side. */
export function RequestScreen() {
  const { thread, request } = useParams({ from: '/threads/$thread/requests/$request' })
  useTitle(`A request of ${thread}`)
  const pages = useInfiniteQuery(proxiedRequestQuery(request))
  const { data, error, isPending } = pages
  const [first] = data?.pages ?? []
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <div className="bar">
        <h2>Received and sent</h2>
        <Link to="/threads/$thread/requests" params={{ thread }}>
          All requests
        </Link>
      </div>
      {isPending ? <Loading what="the request" /> : null}
      {error ? <Failure error={error} /> : null}
      {first === undefined ? null : (
        <>
          <Facts view={first} />
          {first.isRecorded ? (
            <>
              <Head view={first} />
              <ol className="exchange" aria-label="Entries as received and as sent">
                {data?.pages.flatMap(({ items }) =>
                  items.map((entry) => (
                    <li key={entry.index}>
                      <EntryRow entry={entry} cover={first.cover} thread={thread} />
                    </li>
                  )),
                )}
              </ol>
            </>
          ) : (
            <p className="quiet">Its entries were not recorded.</p>
          )}
        </>
      )}
      <LoadMore pages={pages} />
    </div>
  )
}

function Facts({ view: { request, received, sent } }: { view: ProxiedRequestView }) {
  const { at, mode, modeSource, isControl, model, reasons, tokens, epoch } = request
  const { costUsd, directCostUsd, recalls, recallCostUsd } = request
  const passed = passedText(request)
  const isUnchanged = received !== null && received.sha256 === sent?.sha256
  return (
    <section aria-label="Figures of the request">
      <p className="facts">
        <time dateTime={at}>{timeText(at)}</time> <bdi>{visible(model)}</bdi>{' '}
        <span>
          mode {mode}, by {modeSource === 'configuration' ? 'the configuration' : `the ${modeSource}`}
        </span>{' '}
        {isControl ? <span className="mark">control</span> : null} <span>epoch {figure(epoch)}</span>{' '}
        <span>{visible(reasons.join(', '))}</span>
        {passed === '' ? null : <span>passed: {visible(passed)}</span>}
      </p>
      <p>
        {figure(tokens.received)} tokens received, {figure(tokens.sent)} sent, of which the provider’s cache had{' '}
        {figure(tokens.cached)} (estimated).{' '}
        {costUsd === null || directCostUsd === null
          ? 'Its cost is not known.'
          : `${dollars(costUsd)}, about ${dollars(directCostUsd)} unchanged: ${savingText({ costUsd, directCostUsd })}.`}
        {recalls === 0
          ? ''
          : ` The model recalled ${counted(recalls, 'text')}${recallCostUsd === null ? '' : ` for ${dollars(recallCostUsd)} of it`}.`}
      </p>
      {received === null || sent === null ? null : (
        <p className="quiet">
          {isUnchanged
            ? `Sent as it came: ${counted(received.bytes, 'byte')}.`
            : `${counted(received.bytes, 'byte')} received, ${counted(sent.bytes, 'byte')} sent.`}{' '}
          Bodies are not stored: the entries are put together from stored messages.
        </p>
      )}
    </section>
  )
}

function Head({ view: { head, cover, hasRecallTool } }: { view: ProxiedRequestView }) {
  return (
    <>
      {head === null ? null : (
        <details>
          <summary>
            Instructions, tools and parameters: {figure(head.tokens)} tokens
            {hasRecallTool ? ', sent with the tool heddle_recall' : ''}
          </summary>
          {head.fields.map(({ name, bytes, text }) => (
            <section key={name} aria-label={visible(name)}>
              <h3>
                {visible(name)} <span className="quiet">{counted(bytes, 'byte')}</span>
              </h3>
              {text === null ? <p className="quiet">Not kept.</p> : <Folded text={text} name={name} />}
            </section>
          ))}
          {head.omitted === 0 ? null : (
            <p className="quiet">{counted(head.omitted, 'field')} may hold credentials, and were not kept.</p>
          )}
        </details>
      )}
      {cover === null ? null : (
        <section className="cover" aria-label="Summary that was sent">
          <h3>
            <span className="mark" data-mark="covered">
              summary
            </span>{' '}
            Sent in place of entries {figure(cover.from + 1)} to {figure(cover.to)}: {figure(cover.tokensAfter)} tokens
            instead of {figure(cover.tokensBefore)}
          </h3>
          {cover.text === null ? (
            <p className="quiet">It was erased.</p>
          ) : (
            <Folded text={cover.text} name="the summary" />
          )}
        </section>
      )}
    </>
  )
}

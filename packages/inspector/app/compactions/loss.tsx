import type { LossReport, SummaryNode, ThreadOverview } from '@heddle/contracts'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useMay } from '../data/permissions.js'
import { lossQuery, summariesQuery } from '../data/queries.js'
import { counted, figure, visible } from '../data/text.js'
import { BringBack } from '../find/bring-back.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'
import { ResultLink } from '../search/result-link.js'
import { loadedSummaries, nameOf } from './tree.js'

interface Summarized {
  /** The id of the compaction. */
  readonly id: string
  readonly name: string
}

/** The details that a summary lost, requested when it is opened: finding them reads all that it covers. */
export function Loss({ thread, states }: { thread: string; states: ThreadOverview['states'] }) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState<Summarized>()
  const pages = useInfiniteQuery(summariesQuery(thread))
  const current = summarized(states, loadedSummaries(pages.data?.pages.flatMap(({ items }) => items) ?? []).wholes)
  // A context that is built meanwhile may end the chosen summary or have a newer one, which must not replace what is read.
  const isEnded = chosen !== undefined && current.every(({ id }) => id !== chosen.id)
  const choices = isEnded ? [chosen, ...current] : current
  const compaction = chosen ?? choices[0]
  const { data, error, isFetching } = useQuery({
    ...lossQuery(thread, compaction?.id ?? ''),
    enabled: isOpen && compaction !== undefined,
  })
  if (compaction === undefined) return null
  const toggle = () => {
    // Once its details are closed, a summary that has ended cannot be read again.
    setChosen(isOpen && isEnded ? undefined : compaction)
    setOpen(!isOpen)
  }
  return (
    <section aria-label="Details" className="part">
      <div className="bar">
        <button type="button" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? 'Close the lost details' : `Show what ${compaction.name} lost`}
        </button>
        {choices.length < 2 ? null : (
          <>
            <label htmlFor={id}>Summary</label>
            <select
              id={id}
              value={compaction.id}
              onChange={({ target }) => setChosen(choices.find((choice) => choice.id === target.value))}
            >
              {choices.map((choice) => (
                <option key={choice.id} value={choice.id}>
                  {choice.name}
                </option>
              ))}
            </select>
          </>
        )}
      </div>
      {isOpen && isFetching ? <Loading what="the details" /> : null}
      {isOpen && error ? <Failure error={error} /> : null}
      {isOpen && data ? <Report report={data} thread={thread} /> : null}
    </section>
  )
}

/** Compactions with a summary: those of the thread's own settings, the latest first, then those that requests asked for. */
function summarized(states: ThreadOverview['states'], wholes: readonly SummaryNode[]): Summarized[] {
  const own = states
    .filter(({ summary }) => summary !== null)
    .map((state) => ({ id: state.id, name: `compaction ${figure(state.generation)}` }))
    .reverse()
  const others = wholes.filter((whole) => own.every((state) => state.id !== whole.id))
  return [...own, ...others.map((whole) => ({ id: whole.id, name: `the ${nameOf(whole).toLowerCase()}` }))]
}

function Report({ report, thread }: { report: LossReport; thread: string }) {
  const { kinds, lost, totals, messagesRead, isComplete } = report
  return (
    <>
      <p>
        {counted(totals.total, 'detail')} of {counted(messagesRead, 'message')}: {figure(totals.lost)} lost
        {isComplete ? '' : '; more messages are covered than were read'}. A detail is kept if the summary has it, or a
        message beside it: one that is pinned, or shown raw. The ledger lists details behind one reference; a recall
        reads the message of one.
      </p>
      <WideTable
        name="Details of the covered messages"
        isCaptioned
        columns={[
          'Kind',
          { figures: 'In all' },
          { figures: 'In the summary' },
          { figures: 'Pinned' },
          { figures: 'Raw' },
          { figures: 'In the ledger' },
          { figures: 'One recall away' },
          { figures: 'Lost' },
        ]}
      >
        {kinds.map(({ kind, total, summary, pinned, raw, ledger, recall, lost: missing }) => (
          <tr key={kind}>
            <th scope="row">{kind}</th>
            {Object.entries({ total, summary, pinned, raw, ledger, recall, missing }).map(([column, count]) => (
              <td key={column} className="number">
                {figure(count)}
              </td>
            ))}
          </tr>
        ))}
      </WideTable>
      <LostDetails lost={lost} total={totals.lost} thread={thread} />
    </>
  )
}

interface LostProps {
  readonly lost: LossReport['lost']
  /** Of all kinds; the list has the most important ones. */
  readonly total: number
  readonly thread: string
}

/** Each lost detail with its message, which can be read in full and brought back. */
function LostDetails({ lost, total, thread }: LostProps) {
  const mayPin = useMay('produce')
  if (lost.length === 0) return <p>Nothing was lost: each detail is in the summary, or one recall away.</p>
  return (
    <>
      <p>
        {lost.length < total ? `The ${figure(lost.length)} most important lost details.` : 'The lost details.'} Contexts
        with this summary do not show them, and no reference leads to them.
        {mayPin
          ? ' "Bring it back" pins the message of one: the contexts that follow show it verbatim, if the budget allows.'
          : ''}
      </p>
      <WideTable
        name="Lost details"
        isCaptioned
        columns={['Kind', 'Detail', 'Message', ...(mayPin ? ['Bring it back'] : [])]}
        isShort
      >
        {lost.map(({ kind, text, references }) => (
          <tr key={`${kind} ${text}`}>
            <td>{kind}</td>
            <td>
              <bdi>{visible(text)}</bdi>
            </td>
            <td>
              {references[0] === undefined ? (
                '–'
              ) : (
                <ResultLink reference={references[0]} thread={thread} query={text} />
              )}
            </td>
            {mayPin ? (
              <td>
                {references[0] === undefined ? null : (
                  <BringBack thread={thread} reference={references[0]} isCovered isBrief />
                )}
              </td>
            ) : null}
          </tr>
        ))}
      </WideTable>
    </>
  )
}

import type { LossReport, ThreadOverview } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { lossQuery } from '../data/queries.js'
import { counted, figure, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { WideTable } from '../parts/wide-table.js'

/** The details that the latest summary lost, requested when it is opened: finding them reads all that it covers. */
export function Loss({ overview: { name, states } }: { overview: ThreadOverview }) {
  const [isOpen, setOpen] = useState(false)
  const latest = states.findLast(({ summary }) => summary !== null)
  const { data, error, isFetching } = useQuery({
    ...lossQuery(name, latest?.id ?? ''),
    enabled: isOpen && latest !== undefined,
  })
  if (latest === undefined) return null
  return (
    <section aria-label="Details">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close the lost details' : `Show what compaction ${figure(latest.generation)} lost`}
      </button>
      {isOpen && isFetching ? <Loading what="the details" /> : null}
      {isOpen && error ? <Failure error={error} /> : null}
      {isOpen && data ? <Report report={data} /> : null}
    </section>
  )
}

function Report({ report: { kinds, lost, totals, messagesRead, isComplete } }: { report: LossReport }) {
  return (
    <>
      <p>
        {counted(totals.total, 'detail')} of {counted(messagesRead, 'message')}: {figure(totals.lost)} lost
        {isComplete ? '' : '; more messages are covered than were read'}.
      </p>
      <WideTable
        name="Details of the covered messages"
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
      {lost.length === 0 ? null : (
        <WideTable name="Lost details" columns={['Kind', 'Detail', 'Message']} isShort>
          {lost.map(({ kind, text, references }) => (
            <tr key={`${kind} ${text}`}>
              <td>{kind}</td>
              <td>
                <bdi>{visible(text)}</bdi>
              </td>
              <td>
                <code>{references[0] ?? '–'}</code>
              </td>
            </tr>
          ))}
        </WideTable>
      )}
    </>
  )
}

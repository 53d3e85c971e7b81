import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'

import { useMay } from '../data/permissions.js'
import { threadQuery } from '../data/queries.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'
import { ThreadHead } from '../timeline/thread-head.js'
import { BeforeAfter } from './before-after.js'
import { Loss } from './loss.js'
import { NextCompaction } from './next-compaction.js'
import { SummaryTree } from './summary-tree.js'
import { outcomeOf, useUncompact } from './uncompact.js'
import { UndoForm } from './undo-form.js'

export function CompactionsScreen() {
  const { thread } = useParams({ from: '/threads/$thread/compactions' })
  useTitle(`Compactions of ${thread}`)
  const { data, error, isPending } = useQuery(threadQuery(thread))
  const mayUndo = useMay('produce')
  const undo = useUncompact(thread)
  return (
    <div className="screen">
      <ThreadHead thread={thread} />
      <h2>Compactions</h2>
      {isPending ? <Loading what="compactions" /> : null}
      {error ? <Failure error={error} /> : null}
      {data ? <BeforeAfter overview={data} /> : null}
      {data ? <Loss thread={thread} states={data.states} /> : null}
      <NextCompaction thread={thread} />
      {mayUndo ? <UndoForm onChange={undo.mutate} isPending={undo.isPending} /> : null}
      <div className="bar">
        <p role="status" className="outcome">
          {undo.isPending ? 'Changing …' : undo.data ? outcomeOf(undo.data) : ''}
        </p>
        {undo.data?.action === 'undone' && undo.data.messages > 0 && undo.variables !== undefined ? (
          <button
            type="button"
            disabled={undo.isPending}
            onClick={() => undo.mutate({ ...undo.variables, redo: true })}
          >
            Take this undo back
          </button>
        ) : null}
      </div>
      {undo.error ? <Failure error={undo.error} /> : null}
      <h2>Summaries</h2>
      <SummaryTree thread={thread} onUndo={mayUndo ? undo.mutate : undefined} />
    </div>
  )
}

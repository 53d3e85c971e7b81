import type { Snapshot } from '@heddle/contracts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { snapshotsQuery } from '../data/agents.js'
import { client } from '../data/client.js'
import { useMay } from '../data/permissions.js'
import { counted, timeText, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { SnapshotPreview } from './snapshot-preview.js'

interface SnapshotsProps {
  readonly agent: string
  readonly opened: string | undefined
  onOpen(id: string | undefined): void
}

/** Saved windows of an agent: saved now, looked into, and restored. */
export function Snapshots({ agent, opened, onOpen }: SnapshotsProps) {
  const mayChange = useMay('produce')
  const { data, error, isPending } = useQuery(snapshotsQuery(agent))
  return (
    <>
      {mayChange ? <Save agent={agent} /> : null}
      {isPending ? <Loading what="snapshots" /> : null}
      {error ? <Failure error={error} /> : null}
      {data?.items.length === 0 ? (
        <p className="quiet">
          No window of this agent was saved. Save one before a clear, and it can be restored later.
        </p>
      ) : null}
      <ul className="findings" aria-label="Snapshots, newest first">
        {data?.items.map((snapshot) => (
          <Row
            key={snapshot.id}
            snapshot={snapshot}
            isOpen={snapshot.id === opened}
            onOpen={() => onOpen(snapshot.id === opened ? undefined : snapshot.id)}
            mayChange={mayChange}
          />
        ))}
      </ul>
      {data?.nextCursor ? <p className="quiet">The newest {data.items.length}</p> : null}
    </>
  )
}

function Save({ agent }: { agent: string }) {
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: () => client.snapshots.save({ agent, description: 'saved in the inspector' }),
    onSettled: () => queries.invalidateQueries({ queryKey: snapshotsQuery(agent).queryKey }),
  })
  return (
    <div>
      <button type="button" disabled={save.isPending} onClick={() => save.mutate()}>
        Save the window now
      </button>{' '}
      <span role="status">
        {save.isPending ? 'Saving …' : save.data ? `Saved with ${counted(save.data.messageCount, 'message')}` : ''}
      </span>
      {save.error ? <Failure error={save.error} /> : null}
    </div>
  )
}

interface RowProps {
  readonly snapshot: Snapshot
  readonly isOpen: boolean
  readonly mayChange: boolean
  onOpen(): void
}

function Row({ snapshot, isOpen, mayChange, onOpen }: RowProps) {
  const { id, timestamp, description, summary, summaryError, messageCount, threadCount } = snapshot
  const when = timeText(timestamp)
  return (
    <li>
      <strong>
        <time dateTime={timestamp}>{when}</time>
      </strong>
      {description === null ? null : <p>{visible(description)}</p>}
      <p className="quiet">
        {counted(messageCount, 'message')} of {counted(threadCount, 'thread')}
      </p>
      <p>{visible(summary)}</p>
      {summaryError === null ? null : <p className="warning">No summary: {visible(summaryError)}</p>}
      <p>
        <button type="button" aria-expanded={isOpen} onClick={onOpen}>
          {isOpen ? 'Close' : 'Look into it'}
          <span className="unseen"> of {when}</span>
        </button>
      </p>
      {isOpen ? <SnapshotPreview id={id} mayChange={mayChange} /> : null}
    </li>
  )
}

import { useMutation, useQuery } from '@tanstack/react-query'
import { snapshotQuery } from '../data/agents.js'
import { client } from '../data/client.js'
import { counted, timeText, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { Loading } from '../parts/loading.js'

const MESSAGES_SHOWN = 30

/** The messages that a restore would show again, and the restore. */
export function SnapshotPreview({ id, mayChange }: { id: string; mayChange: boolean }) {
  const { data, error, isPending } = useQuery(snapshotQuery(id))
  const restore = useMutation({ mutationFn: () => client.snapshots.restore(id) })
  if (isPending) return <Loading what="the snapshot" />
  if (error) return <Failure error={error} />
  const { messages } = data
  return (
    <div className="part">
      {mayChange ? (
        <div>
          <p>A restore shows again what the windows of its threads do not show now; messages are stored once.</p>
          <button type="button" disabled={restore.isPending} onClick={() => restore.mutate()}>
            Restore {counted(messages.length, 'message')}
          </button>{' '}
          <span role="status">
            {restore.isPending ? 'Restoring …' : ''}
            {restore.data
              ? `${restore.data.restored} restored, ${restore.data.present} were shown already, ${restore.data.erased} were erased since`
              : ''}
          </span>
          {restore.error ? <Failure error={restore.error} /> : null}
        </div>
      ) : null}
      {messages.length > MESSAGES_SHOWN ? (
        <p className="quiet">
          The newest {MESSAGES_SHOWN} of {counted(messages.length, 'message')}
        </p>
      ) : null}
      <ol>
        {messages.slice(-MESSAGES_SHOWN).map(({ id: messageId, role, content, timestamp, tool_calls: calls = [] }) => (
          <li key={messageId} className="message" data-role={role}>
            <header>
              <strong>{role}</strong> <time dateTime={timestamp}>{timeText(timestamp)}</time>
            </header>
            {content === '' ? null : <Folded text={content} name={`the ${role} message`} />}
            {calls.map((call) => (
              <p key={call.id} className="quiet">
                calls {visible(call.name)}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </div>
  )
}

import type { DeadLetterEntry } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../data/permissions.js'
import { deadLetterQuery, deadLettersQuery } from '../data/queries.js'
import { counted, timeText, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { Loading } from '../parts/loading.js'
import { REDRIVEN_MAX, Redrive } from './redrive.js'

/** Jobs of the project that failed permanently: nothing is lost with them, and each can be sent again. */
export function DeadLetters() {
  const mayAdminister = useMay('admin')
  const { data, error, isPending } = useQuery({ ...deadLettersQuery, enabled: mayAdminister })
  if (!mayAdminister) return null
  return (
    <section className="part" aria-labelledby="dead-letters">
      <h2 id="dead-letters">Dead letters</h2>
      {isPending ? <Loading what="the dead letters" /> : null}
      {error ? <Failure error={error} /> : null}
      {data?.length === 0 ? <p className="quiet">No job of this project failed permanently.</p> : null}
      {data !== undefined && data.length > 0 ? (
        <>
          <Redrive label={`Send ${counted(Math.min(data.length, REDRIVEN_MAX), 'job')} again`} />
          <ul className="findings">
            {data.map((letter) => (
              <Letter key={letter.id} letter={letter} />
            ))}
          </ul>
        </>
      ) : null}
    </section>
  )
}

function Letter({ letter: { id, stage, jobId, error, attempts, failedAt } }: { letter: DeadLetterEntry }) {
  const [isOpen, setOpen] = useState(false)
  const details = useQuery({ ...deadLetterQuery(id), enabled: isOpen })
  return (
    <li data-status="fail">
      <strong>{stage}</strong> <bdi className="quiet">{visible(jobId)}</bdi>
      <p className="error">
        {error.code}: {visible(error.detail)}
      </p>
      <p className="quiet">
        {counted(attempts, 'attempt')}, failed at <time dateTime={failedAt}>{timeText(failedAt)}</time>
      </p>
      <p className="bar">
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Close the payload' : 'Show the payload'}
          <span className="unseen"> of {jobId}</span>
        </button>
      </p>
      <Redrive id={id} label="Send it again" />
      {isOpen && details.isPending ? <Loading what="the payload" /> : null}
      {isOpen && details.error ? <Failure error={details.error} /> : null}
      {isOpen && details.data ? <Folded text={details.data.payload} name="the payload" /> : null}
      {isOpen && details.data && details.data.payloadCharacters > details.data.payload.length ? (
        <p className="quiet">The beginning of {counted(details.data.payloadCharacters, 'character')}</p>
      ) : null}
    </li>
  )
}

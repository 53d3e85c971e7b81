import { useQuery } from '@tanstack/react-query'
import { useMay } from '../data/permissions.js'
import { findingsQuery } from '../data/queries.js'
import { visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'

const ORDER = { fail: 0, warn: 1, skip: 2, ok: 3 }
const words = { fail: 'failed', warn: 'warning', skip: 'not checked', ok: 'ok' }

/** The checks of `heddle doctor` where the gateway runs, the worst first. */
export function Findings() {
  const mayOperate = useMay('operate')
  const { data, error, isFetching, refetch } = useQuery({ ...findingsQuery, enabled: mayOperate })
  if (!mayOperate) return null
  const checks = data?.items.toSorted((one, other) => ORDER[one.status] - ORDER[other.status]) ?? []
  return (
    <section className="part" aria-labelledby="checks">
      <h2 id="checks">Checks</h2>
      <p>
        <button type="button" disabled={isFetching} onClick={() => void refetch()}>
          Check again
        </button>
      </p>
      {isFetching && data === undefined ? <Loading what="the checks" /> : null}
      {error ? <Failure error={error} /> : null}
      <ul className="findings">
        {checks.map(({ name, status, detail, hint }) => (
          <li key={name} data-status={status}>
            <strong>{name}</strong>{' '}
            <span className="mark" data-mark={status === 'fail' ? 'error' : status}>
              {words[status]}
            </span>
            <p>{visible(detail)}</p>
            {hint ? <p className="quiet">{visible(hint)}</p> : null}
          </li>
        ))}
      </ul>
    </section>
  )
}

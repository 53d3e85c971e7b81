import { HeddleError } from '@heddle/contracts'
import { visible } from '../data/text.js'

/** An error in the words of the interface: what failed, and what to do. */
export function Failure({ error }: { error: unknown }) {
  const detail = error instanceof Error ? error.message : String(error)
  const hint = error instanceof HeddleError ? error.hint : undefined
  return (
    <section className="failure" role="alert">
      <h2>{error instanceof HeddleError ? error.code : 'That did not work'}</h2>
      <p>{visible(detail)}</p>
      {hint ? <p className="quiet">{visible(hint)}</p> : null}
    </section>
  )
}

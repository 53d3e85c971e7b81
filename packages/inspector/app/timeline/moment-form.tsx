import { useEffect, useId, useState } from 'react'

interface MomentFormProps {
  /** The number of the newest message. */
  readonly newest: number
  /** Where the list begins; undefined for its beginning. */
  readonly at: number | undefined
  onMove(at: number): void
}

const SETTLED_MS = 250
/** Steps of the slider by one press of a key. */
const STEPS = 500

/** Moves through a thread of any length: a slider over its messages, and the number of one. */
export function MomentForm({ newest, at, onMove }: MomentFormProps) {
  const id = useId()
  const [chosen, setChosen] = useState<number | undefined>(at)
  useEffect(() => setChosen(at), [at])
  useEffect(() => {
    if (chosen === undefined || chosen === at) return
    // While it moves, nothing is loaded.
    const timer = setTimeout(() => onMove(chosen), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [chosen, at, onMove])
  const shown = Math.min(chosen ?? newest, newest)
  return (
    <span className="moment">
      <label htmlFor={`${id}-slider`}>Moment</label>
      <input
        id={`${id}-slider`}
        type="range"
        min={1}
        max={newest}
        step={Math.max(1, Math.round(newest / STEPS))}
        value={shown}
        aria-valuetext={`message ${shown} of ${newest}`}
        onChange={({ target }) => setChosen(Number(target.value))}
      />
      <label htmlFor={`${id}-number`}>Message #</label>
      <input
        id={`${id}-number`}
        type="number"
        min={1}
        max={newest}
        value={chosen ?? ''}
        placeholder={String(newest)}
        onChange={({ target }) => {
          const number = Number(target.value)
          if (Number.isInteger(number) && number >= 1 && number <= newest) setChosen(number)
        }}
      />
    </span>
  )
}

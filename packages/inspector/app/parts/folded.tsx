import { useId, useState } from 'react'
import { counted, visible } from '../data/text.js'

/** What is shown of a long text before it is opened. */
const LINES_FOLDED = 8
const CHARACTERS_FOLDED = 900
/** A longer text is shown in steps: one line of megabytes blocks the layout of a browser. */
const CHARACTERS_SHOWN = 60_000

/** A text of a message, as text: long ones are folded. */
export function Folded({ text, name }: { text: string; name: string }) {
  const id = useId()
  const [shown, setShown] = useState(0)
  const head = headOf(text)
  const isLong = head.length < text.length
  const part = shown === 0 ? head : text.slice(0, shown)
  return (
    <div className="folded">
      <pre id={id} dir="auto">
        {visible(part)}
        {part.length < text.length ? ' …' : ''}
      </pre>
      {isLong ? (
        <p className="fold-buttons">
          {part.length < text.length ? (
            <button
              type="button"
              aria-controls={id}
              aria-expanded={shown > 0}
              onClick={() => setShown(shown + CHARACTERS_SHOWN)}
            >
              Show {shown === 0 && text.length <= CHARACTERS_SHOWN ? 'all of' : 'more of'}{' '}
              {counted(text.length, 'character')}
              <span className="unseen"> of {name}</span>
            </button>
          ) : null}
          {shown > 0 ? (
            <button type="button" aria-controls={id} aria-expanded="true" onClick={() => setShown(0)}>
              Fold<span className="unseen"> {name}</span>
            </button>
          ) : null}
        </p>
      ) : null}
    </div>
  )
}

function headOf(text: string): string {
  const head = text.slice(0, CHARACTERS_FOLDED)
  const lines = head.split('\n')
  return lines.length > LINES_FOLDED ? lines.slice(0, LINES_FOLDED).join('\n') : head
}

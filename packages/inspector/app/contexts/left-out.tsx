import type { ReceiptEntry } from '@heddle/contracts'
import { counted } from '../data/text.js'
import { Empty } from '../parts/empty.js'
import { ReceiptLine } from './receipt-line.js'

interface LeftOutProps {
  entries: readonly ReceiptEntry[]
  ineligible: Readonly<Record<string, number>>
  thread: string
}

export function LeftOut({ entries, ineligible, thread }: LeftOutProps) {
  const reasons = Object.entries(ineligible).filter(([, count]) => count > 0)
  if (entries.length === 0 && reasons.length === 0)
    return (
      <Empty title="Nothing was left out">
        <p>Every eligible message is in this context.</p>
      </Empty>
    )
  return (
    <section aria-label="Not shown">
      {reasons.map(([reason, count]) => (
        <p key={reason}>
          {counted(count, 'message')}: {meanings[reason] ?? `no context shows them, as ${reason}`}
        </p>
      ))}
      <ul className="receipt">
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stored receipt never changes, and its lines have no id.
          <li key={index}>
            <ReceiptLine entry={entry} thread={thread} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const meanings: Readonly<Record<string, string>> = {
  'outside-window': 'older than the rolling window',
  'before-clear': 'from before the last clear of the window',
}

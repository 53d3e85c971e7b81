import type { ContextResult } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useMemo, useRef } from 'react'
import { isShown, type Joined, joinReceipt, sharedUpTo } from '../data/join-receipt.js'
import { contextQuery } from '../data/queries.js'
import { counted } from '../data/text.js'
import { Folded } from '../parts/folded.js'
import { ReceiptLine } from './receipt-line.js'

type Piece = Joined<ContextResult['receipt']['entries'][number]>

const ROW_HEIGHT = 200

/** The messages exactly as the provider gets them, each beside its lines of the receipt. */
export function Delivered({ context, before }: { context: ContextResult; before: string | undefined }) {
  const { receipt, messages, thread } = context
  const { data: previous } = useQuery({ ...contextQuery(before ?? ''), enabled: before !== undefined })
  const joined = useMemo(() => joinReceipt(context, context.receipt.entries), [context])
  const pieces: readonly Piece[] =
    joined ?? messages.map((message, index) => ({ index, message, lines: [] as Piece['lines'] }))
  const shared = previous === undefined ? null : sharedUpTo(previous, context)
  const frame = useRef<HTMLElement>(null)
  const list = useVirtualizer({
    count: pieces.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
  })
  return (
    <>
      <p className="quiet" role="status">
        {counted(messages.length, 'message')}
        {previous === undefined
          ? ''
          : `; the first ${shared ?? 0} are those of the context before, as a provider's cache compares them`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a list only if it can have the focus. */}
      <section className="frame" ref={frame} tabIndex={0} aria-label="Messages as delivered">
        <ol className="virtual" ref={(element) => element?.style.setProperty('height', `${list.getTotalSize()}px`)}>
          {list.getVirtualItems().map(({ index, key, start }) => {
            const piece = pieces[index]
            return piece === undefined ? null : (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                aria-setsize={pieces.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <PieceRow piece={piece} thread={thread} isShared={shared !== null && piece.index < shared} />
              </li>
            )
          })}
        </ol>
      </section>
      {joined === null ? (
        <section aria-label="Receipt">
          <h2>Receipt</h2>
          <p className="quiet">The format merges messages, so the lines are listed apart from them.</p>
          <ul className="receipt">
            {receipt.entries.filter(isShown).map((entry, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a stored receipt never changes, and its lines have no id.
              <li key={index}>
                <ReceiptLine entry={entry} thread={thread} />
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  )
}

/** Remembered, since a list renders all of its rows again on each step of a scroll. */
const PieceRow = memo(function PieceRow({
  piece: { index, message, lines },
  thread,
  isShared,
}: {
  piece: Piece
  thread: string
  isShared: boolean
}) {
  const name = index === -2 ? 'Tools' : index === -1 ? 'System prompt' : `Message ${index + 1}`
  return (
    <article className="piece" data-shared={isShared}>
      <div>
        <h2>
          {name} {isShared ? <span className="mark">shared prefix</span> : null}
        </h2>
        <Folded text={JSON.stringify(message, null, 1)} name={name} />
      </div>
      <div className="lines">
        {lines.map((entry, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stored receipt never changes, and its lines have no id.
          <ReceiptLine key={place} entry={entry} thread={thread} />
        ))}
      </div>
    </article>
  )
})

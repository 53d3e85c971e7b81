import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { counted, figure } from '../data/text.js'
import { matcherOf } from './highlight.js'
import { Highlighted } from './highlighted.js'
import { PAGE_LINES, rowsOf } from './lines.js'

const ROW_HEIGHT = 22

interface ContentProps {
  content: string
  terms: readonly string[]
  name: string
}

/** All lines of a content with their numbers, the terms marked; only the visible ones are in the page. */
export function Content({ content, terms, name }: ContentProps) {
  const lines = useMemo(() => content.split('\n'), [content])
  const [page, setPage] = useState(0)
  const rows = useMemo(() => rowsOf(lines, page), [lines, page])
  const matcher = useMemo(() => matcherOf(terms), [terms])
  const matches = useMemo(
    () => (matcher === null ? [] : rows.flatMap(({ text }, index) => (text.search(matcher) === -1 ? [] : [index]))),
    [rows, matcher],
  )
  const [match, setMatch] = useState(matches.length > 0 ? 0 : -1)
  const frame = useRef<HTMLElement>(null)
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
  })
  const goTo = (place: number) => {
    const index = matches[place]
    if (index === undefined) return
    setMatch(place)
    list.scrollToIndex(index, { align: 'center' })
  }
  const goToPage = (next: number) => {
    setPage(next)
    setMatch(-1)
    list.scrollToIndex(0)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens at its first term; then the reader moves.
  useEffect(() => {
    if (match === 0) goTo(0)
  }, [])
  const pages = Math.ceil(lines.length / PAGE_LINES)
  return (
    <>
      <div className="bar">
        {matcher === null ? null : (
          <>
            <span role="status">
              {match === -1 ? '' : `${figure(match + 1)} of `}
              {counted(matches.length, 'line with a term', 'lines with a term')}
            </span>
            <button type="button" disabled={match <= 0} onClick={() => goTo(match - 1)}>
              Previous
            </button>
            <button type="button" disabled={match >= matches.length - 1} onClick={() => goTo(match + 1)}>
              Next
            </button>
          </>
        )}
        {pages > 1 ? (
          <>
            <span>
              Page {figure(page + 1)} of {figure(pages)}
            </span>
            <button type="button" disabled={page === 0} onClick={() => goToPage(page - 1)}>
              Earlier lines
            </button>
            <button type="button" disabled={page + 1 >= pages} onClick={() => goToPage(page + 1)}>
              Later lines
            </button>
          </>
        ) : null}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a list only if it can have the focus. */}
      <section className="frame lines-frame" ref={frame} tabIndex={0} aria-label={`Lines of ${name}`}>
        <ol className="virtual" ref={(element) => element?.style.setProperty('height', `${list.getTotalSize()}px`)}>
          {list.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index]
            return row === undefined ? null : (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                data-current={index === matches[match]}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
                className="line"
              >
                <span className="line-number">{row.from === 0 ? row.line : ''}</span>
                <code dir="auto">
                  <Highlighted text={row.text} matcher={matcher} />
                </code>
              </li>
            )
          })}
        </ol>
      </section>
    </>
  )
}

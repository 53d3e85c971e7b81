import type { ReceiptEntry } from '@heddle/contracts'
import { Link } from '@tanstack/react-router'
import { counted, figure, visible } from '../data/text.js'
import { Recalled } from '../parts/recalled.js'

/** Why a piece is in the context, in which form, and at what cost. */
export function ReceiptLine({ entry, thread }: { entry: ReceiptEntry; thread: string }) {
  const {
    section,
    mode,
    count,
    tokens,
    tokensRaw,
    fromSeq,
    toSeq,
    reference,
    reason,
    item,
    memory,
    ledger,
    fact,
    role,
  } = entry
  const isShort = tokensRaw !== undefined && mode !== 'raw' && count === 1
  return (
    <div className="receipt-line">
      <p className="facts">
        <span className="mode" data-mode={mode}>
          {mode}
        </span>{' '}
        <span>
          {isShort ? `${figure(tokens)} tokens, condensed from ${figure(tokensRaw)}` : `${figure(tokens)} tokens`}
        </span>
        {!isShort && tokensRaw !== undefined && tokens === 0 ? <span>{figure(tokensRaw)} verbatim</span> : null}
        {fromSeq === undefined ? null : (
          <Link
            to="/threads/$thread"
            params={{ thread: entry.thread ?? thread }}
            search={{ order: 'asc', at: fromSeq }}
            title="In the timeline"
          >
            {fromSeq === toSeq ? `#${fromSeq}` : `#${fromSeq} to #${toSeq}`}
          </Link>
        )}
        {count > 1 ? <span>{counted(count, 'message')}</span> : null}
        {reference === undefined ? null : <code>{reference}</code>}
        <span>{section}</span>
        {role === undefined ? null : <span>{role.replace('_', ' ')}</span>}
      </p>
      <p>
        {visible(reason)}
        {item ? (
          <>
            {' '}
            · {item.type} <bdi>{visible(item.name)}</bdi> version {item.version}, {item.includeMode}
            {item.similarityScore === undefined ? '' : `, score ${item.similarityScore.toFixed(2)}`}
          </>
        ) : null}
        {ledger ? (
          <>
            {' '}
            · {ledger.line} {ledger.state ?? ledger.kind} <bdi>{visible(ledger.name)}</bdi>
          </>
        ) : null}
        {fact ? (
          <>
            {' '}
            · <bdi>{visible(fact.subject)}</bdi> {visible(fact.predicate)} {fact.references.join(', ')}
          </>
        ) : null}
        {memory ? ` · from thread ${visible(memory.thread)}, score ${memory.score.toFixed(2)}` : ''}
      </p>
      {reference !== undefined && mode !== 'raw' ? (
        <Recalled
          reference={memory?.reference ?? reference}
          thread={entry.thread ?? thread}
          label={`Show the full text${tokensRaw === undefined ? '' : `, ${figure(tokensRaw)} tokens`}`}
        />
      ) : null}
    </div>
  )
}

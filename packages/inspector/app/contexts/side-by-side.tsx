import type { ContextResult, ReceiptEntry } from '@heddle/contracts'
import { isShown } from '../data/join-receipt.js'
import { counted, figure, visible } from '../data/text.js'
import { SectionBar } from './section-bar.js'

interface SideBySideProps {
  delivered: ContextResult
  preview: ContextResult
}

/** Two contexts in figures and by section, and the messages that only one of them shows. */
export function SideBySide({ delivered, preview }: SideBySideProps) {
  return (
    <div className="side-by-side">
      <Side title="As delivered" context={delivered} other={preview} />
      <Side title="Preview" context={preview} other={delivered} />
    </div>
  )
}

function Side({ title, context, other }: { title: string; context: ContextResult; other: ContextResult }) {
  const { tokensUsed, budget, strategy, format, messages, receipt, summaryUsed } = context
  const shown = receipt.entries.filter(isShown)
  const ofOther = new Set(other.receipt.entries.filter(isShown).map(keyOf))
  const only = shown.filter((entry) => entry.messageId !== undefined && !ofOther.has(keyOf(entry)))
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <p className="facts">
        <span>
          {figure(tokensUsed)} of {figure(budget)} tokens
        </span>{' '}
        <span>{counted(messages.length, 'message')}</span> <span>{visible(strategy)}</span> <span>{format}</span>{' '}
        <span>{summaryUsed ? 'with a summary' : 'without a summary'}</span>
      </p>
      <SectionBar sections={receipt.sections} budget={budget} name={`Tokens by section: ${title}`} />
      <p>
        {modes(shown)}; {counted(receipt.entries.length - shown.length, 'line not shown', 'lines not shown')}
      </p>
      {receipt.notes.map((note) => (
        <p key={note} className="warning">
          {visible(note)}
        </p>
      ))}
      <details>
        <summary>{counted(only.length, 'message')} only here, or in another form</summary>
        <ul className="receipt">
          {only.slice(0, ONLY_MAX).map((entry) => (
            <li key={keyOf(entry)}>
              <span className="mode" data-mode={entry.mode}>
                {entry.mode}
              </span>{' '}
              #{entry.fromSeq} <code>{entry.reference}</code> {entry.role?.replace('_', ' ')}, {figure(entry.tokens)}{' '}
              tokens: {visible(entry.reason)}
            </li>
          ))}
        </ul>
        {only.length > ONLY_MAX ? <p className="quiet">and {figure(only.length - ONLY_MAX)} more</p> : null}
      </details>
    </section>
  )
}

const ONLY_MAX = 200

const keyOf = ({ messageId, mode }: ReceiptEntry) => `${messageId} ${mode}`

function modes(entries: readonly ReceiptEntry[]): string {
  const counts = new Map<string, number>()
  for (const { mode, count } of entries) if (count > 0) counts.set(mode, (counts.get(mode) ?? 0) + count)
  return [...counts].map(([mode, count]) => `${figure(count)} ${mode}`).join(', ') || 'no messages'
}

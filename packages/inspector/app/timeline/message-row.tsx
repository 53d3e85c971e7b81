import type { ArchiveHit, MessageEntry } from '@heddle/contracts'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { figure, timeText, visible } from '../data/text.js'
import { Folded } from '../parts/folded.js'
import { Recalled } from '../parts/recalled.js'
import type { Row } from './rows.js'

interface MessageRowProps {
  row: Extract<Row, { kind: 'message' }>
  condensed: ReadonlyMap<string, ArchiveHit>
  onViewContext(context: string): void
}

/** Remembered, since a list renders all of its rows again on each step of a scroll. */
export const MessageRow = memo(function MessageRow({ row, condensed, onViewContext }: MessageRowProps) {
  const { message, results } = row
  const { role, contextId, toolCalls = [], thinking = [], parts = [] } = message
  return (
    <article className="message" data-role={role}>
      <header>
        <h3>{role.replace('_', ' ')}</h3>
        <Facts message={message} />
        {role === 'assistant' && contextId !== undefined ? (
          <button type="button" onClick={() => onViewContext(contextId)}>
            View Context
          </button>
        ) : null}
      </header>
      <Content message={message} hit={condensed.get(message.id)} />
      {thinking.length > 0 ? <p className="quiet">{thinking.length} blocks of reasoning</p> : null}
      {parts.map(({ reference, type }) => (
        <p key={reference} className="quiet">
          {type}, recalled as <code>{reference}</code>
        </p>
      ))}
      {toolCalls.map(({ id, name, arguments: given }) => {
        const result = results.get(id)
        return (
          <div key={id} className="call">
            <h4>
              <bdi>{visible(name)}</bdi>
            </h4>
            <Folded text={JSON.stringify(given, null, 1)} name={`the arguments of ${name}`} />
            {result === undefined ? (
              <p className="quiet">no result is loaded</p>
            ) : (
              <div className="result" data-failed={result.isError === true}>
                <Facts message={result} />
                <Content message={result} hit={condensed.get(result.id)} />
              </div>
            )}
          </div>
        )
      })}
    </article>
  )
})

function Content({ message, hit }: { message: MessageEntry; hit: ArchiveHit | undefined }) {
  if (hit !== undefined)
    return (
      <>
        <Folded text={hit.text} name={`${message.reference}, condensed`} />
        <Recalled
          reference={message.reference}
          thread={message.thread}
          label={`Show the full text, ${figure(hit.tokenCount)} tokens`}
        />
      </>
    )
  return message.content === '' ? null : <Folded text={message.content} name={message.reference} />
}

function Facts({ message }: { message: MessageEntry }) {
  const { thread, seq, reference, orderedAt, tokens, model, isError, inWindow, pinned, keptAside, restored } = message
  const marks = [
    isError && 'error',
    pinned && 'pinned',
    keptAside !== undefined && `kept aside: ${keptAside}`,
    restored !== undefined && 'restored',
    !inWindow && 'not in the window',
  ].filter((mark) => typeof mark === 'string')
  return (
    <p className="facts">
      <span>#{seq}</span> <code>{reference}</code> <time dateTime={orderedAt}>{timeText(orderedAt)}</time>{' '}
      <span>{figure(tokens)} tokens</span> {model === undefined ? null : <bdi>{visible(model)}</bdi>}{' '}
      <Link to="/threads/$thread/find" params={{ thread }} search={{ message: seq }}>
        Did it see this?<span className="unseen"> {reference}</span>
      </Link>
      {marks.map((mark) => (
        <span key={mark} className="mark" data-mark={mark}>
          {mark}
        </span>
      ))}
    </p>
  )
}

import type { ProxiedRequestView, ViewedEntry } from '@heddle/contracts'
import { memo } from 'react'
import { figure, visible } from '../data/text.js'
import { Folded } from '../parts/folded.js'
import { Recalled } from '../parts/recalled.js'

interface EntryRowProps {
  readonly entry: ViewedEntry
  readonly cover: ProxiedRequestView['cover']
  readonly thread: string
}

/** An entry as it was received, at the left, and what was sent in its place. */
export const EntryRow = memo(function EntryRow({ entry, cover, thread }: EntryRowProps) {
  const { index, kind, sentAs, tokens, messages, stubs, recalls } = entry
  return (
    <article className="side-by-side" data-sent={sentAs} aria-label={`Entry ${index + 1}`}>
      <section aria-label={`Entry ${index + 1} as received`}>
        <h3>
          {figure(index + 1)} {kind} <span className="quiet">{figure(tokens.received)} tokens</span>
        </h3>
        {messages.length === 0 ? <p className="quiet">It was not stored.</p> : null}
        {messages.map((message) => (
          <Received key={message.id} message={message} thread={thread} />
        ))}
      </section>
      <section aria-label={`Entry ${index + 1} as sent`}>
        <h3>
          {sentAs === 'itself' ? (
            <span className="quiet">sent itself</span>
          ) : (
            <span className="mark" data-mark={sentAs}>
              {sentAs}
            </span>
          )}{' '}
          <span className="quiet">{figure(tokens.sent)} tokens</span>
        </h3>
        {sentAs === 'covered' && cover !== null ? (
          <p className="quiet">
            Part of the summary of entries {figure(cover.from + 1)} to {figure(cover.to)}.
          </p>
        ) : null}
        {stubs.map(({ messageId, reference, text, tokensBefore, tokensAfter }) => (
          <div key={messageId}>
            <p className="facts">
              <code>{reference}</code>{' '}
              <span>
                {figure(tokensAfter)} tokens instead of {figure(tokensBefore)}
              </span>
            </p>
            {text === null ? (
              <p className="quiet">It was erased.</p>
            ) : (
              <Folded text={text} name={`stub ${reference}`} />
            )}
          </div>
        ))}
        {recalls.length === 0 ? null : (
          <p>
            Sent with what the model recalled: <code>{visible(recalls.join(', '))}</code>
          </p>
        )}
      </section>
    </article>
  )
})

function Received({ message, thread }: { message: ViewedEntry['messages'][number]; thread: string }) {
  const { state, reference, content, toolName, toolCalls = [], isError, isCut } = message
  if (state !== 'stored') {
    return (
      <p className="quiet">
        <code>{reference}</code> {state === 'erased' ? 'was erased.' : 'is not stored.'}
      </p>
    )
  }
  return (
    <div>
      <p className="facts">
        <code>{reference}</code> {toolName === undefined ? null : <bdi>{visible(toolName)}</bdi>}
        {isError ? (
          <span className="mark" data-mark="error">
            error
          </span>
        ) : null}
      </p>
      {content === '' ? null : <Folded text={content} name={reference} />}
      {toolCalls.map((call) => (
        <Folded key={call.id} text={`${call.name} ${JSON.stringify(call.arguments)}`} name={`call ${call.id}`} />
      ))}
      {isCut ? <Recalled reference={reference} thread={thread} label="Show the full text" /> : null}
    </div>
  )
}

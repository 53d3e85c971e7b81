import { useId, useState } from 'react'
import type { Selection } from './uncompact.js'

interface UndoFormProps {
  onChange(selection: Selection): void
  isPending: boolean
}

type Scope = 'message' | 'range' | 'all'

/** Undoes or redoes the compactions of one message, a range, or the whole thread. */
export function UndoForm({ onChange, isPending }: UndoFormProps) {
  const id = useId()
  const [scope, setScope] = useState<Scope>('message')
  const [message, setMessage] = useState('')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const selected = (): Selection => {
    if (scope === 'all') return { all: true }
    return scope === 'message' ? { messageId: message.trim() } : { fromSeq: Number(from), toSeq: Number(to) }
  }
  return (
    <form
      className="filters"
      aria-label="Undo compactions"
      onSubmit={(event) => {
        event.preventDefault()
        const { submitter } = event.nativeEvent as SubmitEvent
        const isRedo = submitter?.getAttribute('value') === 'redo'
        onChange({ ...selected(), ...(isRedo && { redo: true }) })
      }}
    >
      <label htmlFor={`${id}-scope`}>Undo for</label>
      <select id={`${id}-scope`} value={scope} onChange={({ target }) => setScope(target.value as Scope)}>
        <option value="message">one message</option>
        <option value="range">a range of messages</option>
        <option value="all">the whole thread</option>
      </select>
      {scope === 'message' ? (
        <>
          <label htmlFor={`${id}-message`}>Reference</label>
          <input
            id={`${id}-message`}
            required
            placeholder="msg-1a2b3c4d"
            value={message}
            onChange={({ target }) => setMessage(target.value)}
          />
        </>
      ) : null}
      {scope === 'range' ? (
        <>
          <label htmlFor={`${id}-from`}>From #</label>
          <input
            id={`${id}-from`}
            type="number"
            min={1}
            required
            value={from}
            onChange={({ target }) => setFrom(target.value)}
          />
          <label htmlFor={`${id}-to`}>to #</label>
          <input
            id={`${id}-to`}
            type="number"
            min={Number(from) || 1}
            required
            value={to}
            onChange={({ target }) => setTo(target.value)}
          />
        </>
      ) : null}
      <button type="submit" disabled={isPending}>
        Undo
      </button>
      <button type="submit" value="redo" disabled={isPending}>
        Redo
      </button>
    </form>
  )
}

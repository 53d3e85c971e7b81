import { type ContextRequest, type ContextResult, formats, limits } from '@heddle/contracts'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { client } from '../data/client.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { SideBySide } from './side-by-side.js'

const strategies = ['sandwich', 'sliding-window', 'full-history', 'tree', 'iterations'] as const

/** Builds the same request under other settings, of which nothing is stored, and compares it with what was delivered. */
export function WhatIf({ context }: { context: ContextResult }) {
  const { thread, budget, strategy, format, receipt } = context
  const id = useId()
  const preview = useMutation({
    mutationFn: (request: Partial<ContextRequest>) => client.contexts.build({ ...request, thread, store: false }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const text = (name: string) => String(fields.get(name) ?? '').trim()
    const window = text('window')
    preview.mutate({
      budget: Number(text('budget')),
      strategy: text('strategy'),
      format: text('format') as ContextResult['format'],
      fill: (text('fill') || undefined) as ContextRequest['fill'],
      counter: receipt.counter,
      ...(window !== '' && { rollingWindow: Number(window) }),
      ...(text('score') !== '' && { memories: { minScore: Number(text('score')) } }),
      ...(text('message') !== '' && { message: text('message') }),
    })
  }
  return (
    <section aria-label="What if">
      <form className="search-form" onSubmit={submit} aria-label="Other settings">
        <span className="field">
          <label htmlFor={`${id}-budget`}>Budget in tokens</label>
          <input
            id={`${id}-budget`}
            name="budget"
            type="number"
            required
            min={1}
            max={limits.budgetTokensMax}
            defaultValue={budget}
          />
        </span>
        <span className="field">
          <label htmlFor={`${id}-strategy`}>Strategy</label>
          <select id={`${id}-strategy`} name="strategy" defaultValue={strategy}>
            {[...new Set<string>([strategy, ...strategies])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </span>
        <span className="field">
          <label htmlFor={`${id}-format`}>Format</label>
          <select id={`${id}-format`} name="format" defaultValue={format}>
            {formats.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </span>
        <span className="field">
          <label htmlFor={`${id}-fill`}>Filled</label>
          <select id={`${id}-fill`} name="fill" defaultValue="">
            <option value="">as the thread is</option>
            <option value="cache">compacted, for a provider's cache</option>
            <option value="budget">with as much history as fits</option>
          </select>
        </span>
        <span className="field">
          <label htmlFor={`${id}-window`}>Window in seconds</label>
          <input id={`${id}-window`} name="window" type="number" min={1} placeholder="as it is" />
        </span>
        <span className="field">
          <label htmlFor={`${id}-score`}>Earlier messages from score</label>
          <input id={`${id}-score`} name="score" type="number" min={0} max={1} step={0.05} placeholder="as it is" />
        </span>
        <span className="field wide">
          <label htmlFor={`${id}-message`}>New message</label>
          <input id={`${id}-message`} name="message" maxLength={limits.searchCharactersMax} />
        </span>
        <button type="submit" disabled={preview.isPending}>
          Build without storing
        </button>
      </form>
      <p className="quiet">It is built from the thread as it is now. Nothing of it is stored.</p>
      {preview.isPending ? <Loading what="the preview" /> : null}
      {preview.error ? <Failure error={preview.error} /> : null}
      {preview.data ? <SideBySide delivered={context} preview={preview.data} /> : null}
    </section>
  )
}

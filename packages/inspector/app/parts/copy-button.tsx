import { useState } from 'react'

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  const copy = () =>
    navigator.clipboard.writeText(text()).then(
      () => setState('copied'),
      () => setState('refused'),
    )
  return (
    <>
      <button type="button" onClick={copy}>
        {label}
      </button>
      <span role="status" className="quiet">
        {state === 'copied' ? 'Copied' : state === 'refused' ? 'The browser refused' : ''}
      </span>
    </>
  )
}

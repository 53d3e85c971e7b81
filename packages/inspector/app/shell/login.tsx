import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { logIn, SessionRefused } from '../data/client.js'
import { sessionQuery } from '../data/queries.js'

interface LoginProps {
  /** To another project, whose key replaces the one before. */
  readonly isSwitch?: boolean
  onDone?(): void
}

export function Login({ isSwitch = false, onDone }: LoginProps) {
  const id = useId()
  const [key, setKey] = useState('')
  const queries = useQueryClient()
  const login = useMutation({
    mutationFn: logIn,
    onSuccess: (session) => {
      // Nothing of the former project stays on the screen.
      const isOfProject = ({ queryKey: [noun] }: { readonly queryKey: readonly unknown[] }) => noun !== 'session'
      if (isSwitch) queries.removeQueries({ predicate: isOfProject })
      queries.setQueryData(sessionQuery.queryKey, session)
      onDone?.()
    },
  })
  return (
    <form
      className="login"
      onSubmit={(event) => {
        event.preventDefault()
        login.mutate(key.trim())
      }}
    >
      <h1>{isSwitch ? 'Another project' : 'Sign in'}</h1>
      <p>
        {isSwitch ? 'Each key belongs to one project.' : 'This gateway requires a key.'} The role <code>read</code> is
        enough: <code>heddle keys create --name inspector --role read{isSwitch ? ' --project NAME' : ''}</code>
      </p>
      <label htmlFor={id}>Key</label>
      <input
        id={id}
        type="password"
        autoComplete="current-password"
        required
        value={key}
        onChange={({ target }) => setKey(target.value)}
        aria-invalid={login.isError}
        aria-describedby={`${id}-error`}
      />
      <p id={`${id}-error`} role="alert" className="error">
        {login.error instanceof SessionRefused ? login.error.message : (login.error?.message ?? '')}
      </p>
      <p className="bar">
        <button type="submit" disabled={login.isPending}>
          {isSwitch ? 'Switch' : 'Sign in'}
        </button>
        {isSwitch ? (
          <button type="button" onClick={onDone}>
            Stay here
          </button>
        ) : null}
      </p>
    </form>
  )
}

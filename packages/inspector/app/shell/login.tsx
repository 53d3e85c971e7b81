import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { logIn, SessionRefused } from '../data/client.js'
import { sessionQuery } from '../data/queries.js'

export function Login() {
  const id = useId()
  const [key, setKey] = useState('')
  const queries = useQueryClient()
  const login = useMutation({
    mutationFn: logIn,
    onSuccess: (session) => queries.setQueryData(sessionQuery.queryKey, session),
  })
  return (
    <form
      className="login"
      onSubmit={(event) => {
        event.preventDefault()
        login.mutate(key.trim())
      }}
    >
      <h1>Sign in</h1>
      <p>
        This gateway requires a key. The role <code>read</code> is enough:{' '}
        <code>heddle keys create --name inspector --role read</code>
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
      <button type="submit" disabled={login.isPending}>
        Sign in
      </button>
    </form>
  )
}

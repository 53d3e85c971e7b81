import { PermanentError } from '@heddle/contracts'

/** Converts Node's error about a port that cannot be opened to one with advice; returns any other error unchanged. */
export function portError(host: string, port: number, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const details = { field: 'port', received: String(port), cause: error }
  if (code === 'EADDRINUSE') {
    return new PermanentError('CONFLICT', `port ${port} on ${host} is in use by another program`, {
      ...details,
      hint: `Choose another with --port, such as --port ${port + 1 <= 65_535 ? port + 1 : 4680}, or 0 for any free port.`,
    })
  }
  if (code === 'EACCES') {
    return new PermanentError('FORBIDDEN', `port ${port} on ${host} may not be opened by this user`, {
      ...details,
      hint: 'Choose a port above 1023 with --port.',
    })
  }
  return error
}

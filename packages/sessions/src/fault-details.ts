import type { ErrorDetails, PermanentError } from '@heddle/contracts'

/** The details of an error besides its code and its sentence, for a new error about another place. */
export function detailsOf(error: PermanentError): ErrorDetails {
  const { code: _code, detail: _detail, ...details } = error.toJSON()
  return { ...details, cause: error }
}

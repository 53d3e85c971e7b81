import type { ErrorDetails, PermanentError } from '@heddle/contracts'

/** What an error tells besides its code and its sentence, for one that says the same of a place. */
export function detailsOf(error: PermanentError): ErrorDetails {
  const { code: _code, detail: _detail, ...details } = error.toJSON()
  return { ...details, cause: error }
}

import { errorFromData, HeddleError } from '@heddle/contracts'

const names: Readonly<Record<string, string>> = { messages: 'append', format: 'appendFormat' }

/** Renames the fields of an append in an error to those of a context request with `append`. */
export function asTurn(error: unknown): unknown {
  if (!(error instanceof HeddleError) || error.field === undefined) return error
  const field = error.field.replace(/^\w+/, (name) => names[name] ?? name)
  if (field === error.field) return error
  return errorFromData({ ...error.toJSON(), field, detail: error.message.replace(error.field, field) })
}

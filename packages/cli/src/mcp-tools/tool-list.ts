import { jsonObjectSchema, limits, nameSchema, PermanentError, type ServerTool } from '@heddle/contracts'
import { toolListLimits } from './limits.js'

/** The fields of a tool of the protocol that are stored. */
export interface ListedTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly annotations?: { readonly title?: string | undefined } | undefined
  readonly inputSchema: object
}

export interface ToolList {
  readonly tools: readonly ServerTool[]
  /** One sentence for each shortened or omitted tool. */
  readonly notes: readonly string[]
}

/**
 * Collects the tools of a server, page by page, within limits. A list with too many tools, duplicate names or a schema that is
 * too large is refused as a whole, so that no part of it is stored. Long descriptions are cut, and tools with an invalid
 * name are omitted; each with a note.
 */
export class ToolListing {
  readonly #tools = new Map<string, ServerTool>()
  readonly #notes: string[] = []
  #seen = 0
  #characters = 0

  /** @throws PermanentError `PAYLOAD_TOO_LARGE`, `VALIDATION_ERROR` */
  add(tool: ListedTool): void {
    this.#seen++
    if (this.#seen > limits.toolsPerServerMax) throw tooLarge(`more than ${limits.toolsPerServerMax} tools`)
    const name = nameSchema.safeParse(tool.name)
    if (!name.success) {
      const rule = name.error.issues[0]?.message ?? 'is not valid'
      this.#notes.push(`tool ${this.#seen} of the list was left out: its name ${rule}`)
      return
    }
    if (this.#tools.has(name.data)) throw twice(name.data)
    const { json, inputSchema } = schemaOf(tool)
    const description = this.#descriptionOf(tool)
    this.#characters += json.length + (description?.length ?? 0)
    if (this.#characters > toolListLimits.listCharactersMax)
      throw tooLarge(`tools of more than ${toolListLimits.listCharactersMax} characters`)
    this.#tools.set(name.data, { name: name.data, description, inputSchema })
  }

  list(): ToolList {
    return { tools: [...this.#tools.values()], notes: this.#notes }
  }

  #descriptionOf({ name, title, description, annotations }: ListedTool): string | null {
    const given = description || title || annotations?.title
    if (!given) return null
    // Postgres can store neither NUL nor lone surrogates.
    const text = given.replaceAll('\0', '').toWellFormed()
    const charactersMax = toolListLimits.descriptionCharactersMax
    if (text.length <= charactersMax) return text
    this.#notes.push(`the description of "${name}" was cut to ${charactersMax} of its ${text.length} characters`)
    return `${text.slice(0, charactersMax - 1).toWellFormed()}…`
  }
}

function schemaOf({ name, inputSchema }: ListedTool) {
  const schema = jsonObjectSchema.safeParse(inputSchema)
  const field = `tools.${name}.inputSchema`
  if (!schema.success) {
    const rule = schema.error.issues[0]?.message ?? 'is not valid'
    throw new PermanentError('VALIDATION_ERROR', `${field}: ${rule}`, { field, hint: ASK_THE_MAKER })
  }
  const json = JSON.stringify(schema.data, refuseUnstorable)
  if (json.length > toolListLimits.schemaCharactersMax) {
    const detail = `${field}: has ${json.length} characters; at most ${toolListLimits.schemaCharactersMax} are allowed`
    throw new PermanentError('PAYLOAD_TOO_LARGE', detail, { field, hint: ASK_THE_MAKER })
  }
  return { json, inputSchema: schema.data }

  function refuseUnstorable(key: string, value: unknown): unknown {
    for (const text of [key, value])
      if (typeof text === 'string' && (text.includes('\0') || !text.isWellFormed()))
        throw new PermanentError('VALIDATION_ERROR', `${field}: must not contain NUL characters or lone surrogates`, {
          field,
          hint: ASK_THE_MAKER,
        })
    return value
  }
}

const ASK_THE_MAKER = 'Nothing was stored. The server must be corrected, or configured to list fewer tools.'

function tooLarge(what: string): PermanentError {
  return new PermanentError('PAYLOAD_TOO_LARGE', `the MCP server lists ${what}`, {
    field: 'tools',
    hint: ASK_THE_MAKER,
  })
}

function twice(name: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `the MCP server lists two tools with the name "${name}"`, {
    field: 'tools',
    received: name,
    hint: ASK_THE_MAKER,
  })
}

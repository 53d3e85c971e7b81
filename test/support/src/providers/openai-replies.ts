import { type Fields, isFilled, listOf } from './fields.js'

/** The replies of an OpenAI model, remembered by the ids of their items: an item comes again with the reasoning before it. */
export class OpenAiReplies {
  readonly #reasoning = new Map<string, string>()

  /** Remembers the output items of a reply. */
  issue(output: readonly Fields[]): void {
    for (const [index, { id }] of output.entries()) {
      const before = output[index - 1]
      if (isFilled(id) && before?.['type'] === 'reasoning') this.#reasoning.set(id, String(before['id']))
    }
  }

  faults(body: Fields): string[] {
    const items = listOf(body['input'])
    return items.flatMap(({ type, id }, index) => {
      const wanted = isFilled(id) ? this.#reasoning.get(id) : undefined
      return wanted === undefined || items[index - 1]?.['id'] === wanted
        ? []
        : [`item '${id}' of type '${String(type)}' was provided without its required 'reasoning' item: '${wanted}'`]
    })
  }
}

/** The parts of an item that its vector is made from. */
export interface DescribedItem {
  readonly type: 'rule' | 'reference' | 'tool'
  readonly name: string
  readonly description: string | null
  /** The text of a rule or a reference; a tool has only a description. */
  readonly text: string
}

/**
 * The text whose vector represents an item (docs/embedding.md): `name: description`, or only the name; for rules and
 * references followed by an empty line and their text.
 */
export function itemText({ type, name, description, text }: DescribedItem): string {
  const heading = description ? `${name}: ${description}` : name
  return type === 'tool' ? heading : `${heading}\n\n${text}`
}

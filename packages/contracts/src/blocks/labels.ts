import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { nameSchema } from '../primitives/names.js'

const LABEL = /^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u

/** The name of a block among those of its owner. Contexts show it within a tag, so it has no signs that end one. */
export const blockLabelSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(limits.blockLabelCharactersMax, `must have at most ${limits.blockLabelCharactersMax} characters`)
  .regex(LABEL, 'must begin with a letter or a digit, and have letters, digits and _ . - only')

/** The label of a block for its owner, or for an agent that another one shares it with. */
export interface BlockName {
  /** The agent that shares it; null for a block of the owner's own. */
  readonly sharedBy: string | null
  readonly label: string
}

/** The name `coder/human` of a block for the agents that it is shared with. No label has a slash, so it is never that of an own one. */
export function sharedBlockName(sharedBy: string, label: string): string {
  return `${sharedBy}/${label}`
}

/** The last slash is the one between them: names of agents may have slashes, and no label has one. */
export function readBlockName(name: string): BlockName {
  const at = name.lastIndexOf('/')
  return at === -1 ? { sharedBy: null, label: name } : { sharedBy: name.slice(0, at), label: name.slice(at + 1) }
}

/** A label, or `coder/human` for the block `human` that the agent `coder` shares. */
export const blockNameSchema = z
  .string()
  .max(limits.nameCharactersMax + 1 + limits.blockLabelCharactersMax)
  .superRefine((name, context) => {
    const { sharedBy, label } = readBlockName(name)
    const results = [blockLabelSchema.safeParse(label), sharedBy === null ? null : nameSchema.safeParse(sharedBy)]
    for (const result of results)
      for (const { message } of result?.error?.issues ?? []) context.addIssue({ code: 'custom', message })
  })

import { z } from 'zod'
import { artifactKinds, artifactStates } from '../primitives/artifacts.js'

/** A line of the ledger in a context. */
export const ledgerEntrySchema = z.object({
  /** Its number: `recall` of the ledger's reference finds it by this. */
  line: z.int().min(1),
  kind: z.enum(artifactKinds),
  /** The path, the command or the address. */
  name: z.string(),
  state: z.enum(artifactStates).nullable(),
  /** The message of the last call. */
  reference: z.string().nullable(),
})
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>

/** A fact in a context. */
export const factEntrySchema = z.object({
  id: z.string(),
  /** Its thread; null for a fact of the agent. */
  thread: z.string().nullable(),
  subject: z.string(),
  predicate: z.string(),
  /** The messages that say so. */
  references: z.array(z.string()),
  /** Facts that deny it, or state another value since the same moment. */
  conflictsWith: z.array(z.string()),
})
export type FactEntry = z.infer<typeof factEntrySchema>

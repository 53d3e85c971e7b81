import { z } from 'zod'
import { accessRoleSchema } from '../access.js'
import { errorDataSchema } from '../contexts/contexts.js'
import { stageNames } from '../jobs/stages.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { proxyModeSchema } from '../proxy/modes.js'
import { isoTimeSchema, limitQuerySchema, named, pageSchema } from './common.js'

export const keyParamsSchema = z.strictObject({ key: idSchema })
export const keyBodySchema = named(
  'KeyBody',
  z.strictObject({
    /** The user of the key. */
    name: nameSchema,
    role: accessRoleSchema,
    /** The mode of the proxy for requests with the key; null, the default, leaves it to the agent and the configuration. */
    proxyMode: proxyModeSchema.nullable().optional(),
  }),
)
export type KeyBody = OutputOf<typeof keyBodySchema>
export const keyChangeSchema = named('KeyChange', keyBodySchema.pick({ proxyMode: true }).required())
export type KeyChange = OutputOf<typeof keyChangeSchema>
export const keySchema = named(
  'Key',
  z.object({
    id: idSchema,
    name: z.string(),
    role: accessRoleSchema,
    proxyMode: proxyModeSchema.nullable(),
    createdAt: isoTimeSchema,
    lastUsedAt: isoTimeSchema.nullable(),
    revokedAt: isoTimeSchema.nullable(),
  }),
)
export type ApiKey = OutputOf<typeof keySchema>
export const newKeySchema = named(
  'NewKey',
  keySchema.extend({
    /** The key itself, which is not stored and never shown again. */
    key: z.string(),
  }),
)
export type NewApiKey = OutputOf<typeof newKeySchema>
export const keyPageSchema = named('KeyPage', pageSchema(keySchema))

export const grantParamsSchema = z.strictObject({
  project: nameSchema,
})
export const grantChangedSchema = named(
  'GrantChanged',
  z.object({ project: z.string(), status: z.enum(['offered', 'accepted', 'revoked']) }),
)
export const grantSchema = named(
  'Grant',
  z.object({
    /** The id of the project that may read, derived from its name. */
    toProjectId: idSchema,
    createdAt: isoTimeSchema,
    /** Null until an admin of that project accepts it. */
    acceptedAt: isoTimeSchema.nullable(),
    revokedAt: isoTimeSchema.nullable(),
  }),
)
export type OfferedGrant = OutputOf<typeof grantSchema>
export const grantPageSchema = named('GrantPage', pageSchema(grantSchema))

const stageSchema = z.enum(stageNames, { error: `must be one of ${stageNames.join(', ')}` })

export const deadLettersQuerySchema = z.strictObject({
  /** Only this stage. */
  stage: stageSchema.optional(),
  limit: limitQuerySchema,
})
export const deadLetterSchema = named(
  'DeadLetter',
  z.object({
    id: idSchema,
    stage: z.string(),
    jobId: z.string(),
    threadId: idSchema.nullable(),
    error: errorDataSchema,
    attempts: z.int(),
    failedAt: isoTimeSchema,
  }),
)
/** A job that failed permanently, without its payload, which may be as large as the largest job. */
export type DeadLetterEntry = OutputOf<typeof deadLetterSchema>
export const deadLetterParamsSchema = z.strictObject({ letter: idSchema })
export const deadLetterDetailsSchema = named(
  'DeadLetterDetails',
  deadLetterSchema.extend({
    /** The beginning of the job's payload as JSON, at most 20,000 characters. */
    payload: z.string(),
    payloadCharacters: z.int(),
  }),
)
/** A job that failed permanently, with the beginning of its payload. */
export type DeadLetterDetails = OutputOf<typeof deadLetterDetailsSchema>
export const deadLetterPageSchema = named('DeadLetterPage', pageSchema(deadLetterSchema))

export const redriveBodySchema = named(
  'RedriveBody',
  z.strictObject({
    /** Only this stage. */
    stage: stageSchema.optional(),
    /** Only this dead letter. */
    id: idSchema.optional(),
    /** Maximum number of jobs to send again. Default 100. */
    limit: z.int().min(1).max(limits.pageItemsMax).optional(),
  }),
)
export const redrivenSchema = named(
  'Redriven',
  z.object({
    redriven: z.int(),
    refused: z.array(z.object({ jobId: z.string(), reason: z.string() })),
  }),
)
export type RedriveResult = OutputOf<typeof redrivenSchema>

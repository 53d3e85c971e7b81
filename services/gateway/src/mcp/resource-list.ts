import type { RemoteClient } from '@heddle/client/http'
import { validationError } from '@heddle/contracts'
import { z } from 'zod'
import { addressOf } from './resources.js'

/*
 * Lists all resources, one kind after the other: snapshots by agent, contexts by thread, then the archive. No state is kept
 * between pages: the cursor says where the next page starts.
 */

interface Resource {
  readonly uri: string
  readonly name: string
  readonly description?: string
  readonly mimeType: string
}

const placeSchema = z.strictObject({
  kind: z.enum(['snapshots', 'contexts', 'archive']),
  /** The agent or thread whose resources are listed, and the cursor of the next agent or thread. */
  owner: z.string().optional(),
  ownersCursor: z.string().optional(),
  /** Cursor in the list of that owner. */
  cursor: z.string().optional(),
})
type Place = z.infer<typeof placeSchema>

interface Listed {
  readonly resources: readonly Resource[]
  /** Null on the last page. */
  readonly next: Place | null
}

const PAGE = 50
/** Agents and threads without resources are skipped, up to this number in one call. */
const STEPS_MAX = 20

/**
 * A page of the resources of a project.
 *
 * @throws PermanentError `VALIDATION_ERROR` for an invalid cursor
 */
export async function listResources(
  client: RemoteClient,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  let place: Place | null = cursor === undefined ? { kind: 'snapshots' } : readPlace(cursor)
  const resources: Resource[] = []
  for (let step = 0; step < STEPS_MAX && place !== null && resources.length < PAGE; step++) {
    const listed: Listed = await listFrom(client, place)
    resources.push(...listed.resources)
    place = listed.next
  }
  return place === null ? { resources } : { resources, nextCursor: written(place) }
}

async function listFrom(client: RemoteClient, place: Place): Promise<Listed> {
  if (place.kind === 'archive') return await listArchive(client, place)
  const { kind } = place
  const { owner, ownersCursor } = place.owner === undefined ? await nextOwner(client, place) : place
  const nextKind: Place = { kind: kind === 'snapshots' ? 'contexts' : 'archive' }
  if (owner === undefined) return { resources: [], next: nextKind }
  const page = { limit: PAGE, cursor: place.cursor }
  const { resources, nextCursor } = await (kind === 'snapshots' ? snapshotsOf : contextsOf)(client, owner, page)
  if (nextCursor !== null) return { resources, next: { kind, owner, ownersCursor, cursor: nextCursor } }
  return { resources, next: ownersCursor === undefined ? nextKind : { kind, ownersCursor } }
}

/** The next agent or thread to list, and the place after it. */
async function nextOwner(client: RemoteClient, { kind, ownersCursor }: Place): Promise<Partial<Place>> {
  const owners = kind === 'snapshots' ? client.agents : client.threads
  const { items, nextCursor } = await owners.list({ limit: 1, cursor: ownersCursor })
  return { owner: items[0]?.name, ownersCursor: nextCursor ?? undefined }
}

interface PageOf {
  readonly limit: number
  readonly cursor: string | undefined
}

async function snapshotsOf({ snapshots }: RemoteClient, agent: string, page: PageOf) {
  const { items, nextCursor } = await snapshots.history(agent, page)
  const resources = items.map(({ id, timestamp, description, messageCount }) => ({
    uri: addressOf('snapshot', id),
    name: `snapshot of ${agent}, ${timestamp}`,
    description: `${description ?? 'without a description'}; ${messageCount} messages`,
    mimeType: 'application/json',
  }))
  return { resources, nextCursor }
}

async function contextsOf({ contexts }: RemoteClient, thread: string, page: PageOf) {
  const { items, nextCursor } = await contexts.list({ thread, ...page })
  const resources = items
    .filter(({ status }) => status === 'built')
    .map(({ id, builtAt, tokensUsed, budget }) => ({
      uri: addressOf('context', id),
      name: `context of ${thread}, ${builtAt}`,
      description: `${tokensUsed} of ${budget} tokens`,
      mimeType: 'application/json',
    }))
  return { resources, nextCursor }
}

async function listArchive({ archive }: RemoteClient, { cursor }: Place): Promise<Listed> {
  const { items, nextCursor } = await archive.list({ limit: PAGE, cursor })
  const resources = items.map(({ ref, kind, thread, text }) => ({
    uri: addressOf('recall', ref),
    name: `${kind} of ${thread}`,
    description: text,
    mimeType: 'text/plain',
  }))
  return { resources, next: nextCursor === null ? null : { kind: 'archive', cursor: nextCursor } }
}

function written(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

function readPlace(cursor: string): Place {
  try {
    return placeSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
  } catch {
    throw validationError('cursor', 'must be the nextCursor of the previous page', cursor.slice(0, 80))
  }
}

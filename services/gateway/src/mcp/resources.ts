import { limits, notFound } from '@heddle/contracts'
import { recallIn } from './session.js'
import type { ToolDeps } from './tool-deps.js'

/*
 * Addresses are parsed by hand, because matching URI templates against input of callers has hung servers before
 * (CVE-2026-0621).
 */
const CONTEXT = 'heddle://contexts/'
const SNAPSHOT = 'heddle://snapshots/'
const RECALL = 'heddle://recall/'
const REQUEST_CONTEXT = 'heddle://request-contexts/'
const RUN = 'heddle://runs/'
const LEDGER = 'heddle://ledgers/'

export const resourceTemplates = [
  {
    uriTemplate: `${CONTEXT}{id}`,
    name: 'context',
    title: 'A context as it was built, with its receipt',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${SNAPSHOT}{id}`,
    name: 'snapshot',
    title: 'A saved window with its messages',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${REQUEST_CONTEXT}{thread}/{message}`,
    name: 'request context',
    title: 'The items that the context of a reply showed, and the sizes of its sections',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${RUN}{thread}`,
    name: 'run',
    title: 'The state of a run: its goal, its newest iterations, and the summary of the older ones',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${LEDGER}{thread}`,
    name: 'ledger',
    title: 'The files, commands, errors and other details of a thread, with their last states',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${RECALL}{ref}`,
    name: 'archive entry',
    title: 'The full text behind a whole reference, percent-encoded',
    mimeType: 'text/plain',
  },
]

/** @param id of a context or a snapshot, or a whole reference */
export function addressOf(kind: 'context' | 'snapshot' | 'recall', id: string): string {
  return `${{ context: CONTEXT, snapshot: SNAPSHOT, recall: RECALL }[kind]}${encodeURIComponent(id)}`
}

/** @throws PermanentError `NOT_FOUND` for an unknown form of address, or a resource of another project */
export async function readResource(
  uri: string,
  { client, session }: Pick<ToolDeps, 'client' | 'session'>,
): Promise<{ uri: string; mimeType: string; text: string }> {
  if (uri.startsWith(CONTEXT)) {
    const context = await client.contexts.get(uri.slice(CONTEXT.length))
    return { uri, mimeType: 'application/json', text: JSON.stringify(context) }
  }
  if (uri.startsWith(SNAPSHOT)) {
    const snapshot = await client.snapshots.get(uri.slice(SNAPSHOT.length))
    return { uri, mimeType: 'application/json', text: JSON.stringify(snapshot) }
  }
  if (uri.startsWith(REQUEST_CONTEXT)) {
    const [thread = '', message = ''] = uri.slice(REQUEST_CONTEXT.length).split('/').map(decoded)
    const record = await client.messages.requestContext({ thread, message })
    return { uri, mimeType: 'application/json', text: JSON.stringify(record) }
  }
  if (uri.startsWith(RUN)) {
    const state = await client.iterations.loop(decoded(uri.slice(RUN.length)))
    return { uri, mimeType: 'application/json', text: JSON.stringify(state) }
  }
  if (uri.startsWith(LEDGER)) {
    const ledger = await client.threads.ledger(decoded(uri.slice(LEDGER.length)), { limit: limits.pageItemsMax })
    return { uri, mimeType: 'application/json', text: JSON.stringify(ledger) }
  }
  if (uri.startsWith(RECALL)) {
    const { content } = await recallIn(session, { ref: decoded(uri.slice(RECALL.length)) }, client)
    return { uri, mimeType: 'text/plain', text: content }
  }
  throw notFound('resource', uri.slice(0, 80), 'see resources/templates/list')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

import type { projectOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

/** A key belongs to one project, so each side of a grant is changed by an admin of that side. */
export const projectHandlers: Handlers<typeof projectOperations> = {
  createKey: ({ client, body }) => client.keys.create(body),
  listKeys: ({ client }) => client.keys.list(),
  updateKey: ({ client, params, body }) => client.keys.update(params.key, body),
  revokeKey: ({ client, params }) => client.keys.revoke(params.key),
  listGrants: ({ client }) => client.grants.list(),
  async offerGrant({ client, params: { project } }) {
    await client.grants.offer(project)
    return { project, status: 'offered' }
  },
  async acceptGrant({ client, params: { project } }) {
    await client.grants.accept(project)
    return { project, status: 'accepted' }
  },
  async revokeOfferedGrant({ client, params: { project } }) {
    await client.grants.revoke({ to: project })
    return { project, status: 'revoked' }
  },
  async revokeAcceptedGrant({ client, params: { project } }) {
    await client.grants.revoke({ from: project })
    return { project, status: 'revoked' }
  },
  async listDeadLetters({ client, query }) {
    return { items: await client.deadLetters.list({ ...query, ownOnly: true }), nextCursor: null }
  },
  getDeadLetter: ({ client, params }) => client.deadLetters.get(params.letter),
  redriveDeadLetters: ({ client, body }) => client.deadLetters.redrive({ ...body, ownOnly: true }),
}

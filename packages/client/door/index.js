/*
 * `connect`, and besides what the optional packages export: `createClient` over the queue of @heddle/engine and the readers
 * of @heddle/sessions. Where one is not installed, its functions say so when they are called. Over HTTP alone, and in a page,
 * `@heddle/client/http` needs neither.
 */
import { PermanentError } from '@heddle/client/connect'

export * from '@heddle/client/connect'

const engine = await partOf('@heddle/engine', () => import('@heddle/engine'))
const sessions = await partOf('@heddle/sessions', () => import('@heddle/sessions'))

export const {
  answerChatCommand,
  changeSettings,
  continuationIdOf,
  continueGrown,
  continueGrownIn,
  createClient,
  DirectAppends,
  finishErasure,
  hasKeys,
  KnownContexts,
  loadStrategyModules,
  openClient,
  ownersOf,
  readKey,
  refuseChanged,
} = engine

export const { parseSession, readSession, sessionFormats } = sessions

/** The module, or functions that say how to get it. */
async function partOf(name, load) {
  try {
    return await load()
  } catch (cause) {
    if (cause?.code !== 'ERR_MODULE_NOT_FOUND' || !cause.message.includes(`'${name}'`)) throw cause
    const missing = () => {
      throw new PermanentError('NOT_FOUND', `this needs ${name}, which is not installed`, {
        hint: `npm install ${name}`,
        cause,
      })
    }
    // Not for `then`: what an async function returns is asked for it.
    return new Proxy({}, { get: (_, property) => (property === 'then' ? undefined : missing) })
  }
}

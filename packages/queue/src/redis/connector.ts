import { within } from '@heddle/runtime'
import { StandaloneConnector } from 'ioredis/built/connectors/index.js'
import { bounds } from '../base/bounds.js'

/**
 * Gives up a connection on which Redis says nothing at first. ioredis bounds the time until a socket is open, but where
 * something accepts it and never answers, as a proxy does whose server is gone, it would wait for ever, and every command
 * with it.
 */
export class ImpatientConnector extends StandaloneConnector {
  // ioredis says that it gives any options; those of an address it gives to this one.
  constructor(options: unknown) {
    super(options as ConstructorParameters<typeof StandaloneConnector>[0])
  }

  override async connect(...parameters: Parameters<StandaloneConnector['connect']>) {
    const stream = await super.connect(...parameters)
    const answered = new Promise<void>((resolve) => {
      // Redis never speaks first, so nothing is read before ioredis listens.
      stream.once('data', () => resolve()).once('close', () => resolve())
    })
    const late = () => void stream.destroy(new Error('Redis does not answer'))
    void within(answered, { timeoutMs: bounds.firstAnswerMs, late })
    return stream
  }
}

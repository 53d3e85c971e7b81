import { Socket } from 'node:net'
import { within } from '@heddle/runtime'
import type { Redis } from 'ioredis'
import { SentinelConnector, StandaloneConnector } from 'ioredis/built/connectors/index.js'
import { bounds } from '../base/bounds.js'
import { dropWhenSilent } from './silence.js'

/**
 * Drops a connection on which Redis does not answer. ioredis limits the time until a socket is open; but if the other side
 * accepts it and never answers, like a proxy whose server is gone, ioredis and every command would wait for ever.
 */
export class ImpatientConnector extends StandaloneConnector {
  // ioredis declares any options, but passes those of an address to this class.
  constructor(options: unknown) {
    super(options as ConstructorParameters<typeof StandaloneConnector>[0])
  }

  override async connect(...parameters: Parameters<StandaloneConnector['connect']>) {
    const stream = await super.connect(...parameters)
    const answered = new Promise<void>((resolve) => {
      // Redis never sends data first, so nothing is read before ioredis listens.
      stream.once('data', () => resolve()).once('close', () => resolve())
    })
    const late = () => void stream.destroy(new Error('Redis does not answer'))
    void within(answered, { timeoutMs: bounds.firstAnswerMs, late })
    dropWhenSilent(stream)
    return stream
  }
}

/**
 * Finds the primary through sentinels. ioredis has no listener for errors of the connections on which they report a failover, and
 * so writes them to the console: one sentinel that is away among several is no fault.
 */
export class QuietSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as ConstructorParameters<typeof SentinelConnector>[0])
    const connector = this as unknown as { connectToSentinel(...given: unknown[]): Redis }
    const connect = connector.connectToSentinel.bind(this)
    connector.connectToSentinel = (...given) => connect(...given).on('error', () => {})
  }

  /**
   * A failover that is reported while the connector looks for the new primary interrupts it, since ioredis has one method for
   * this and for the end. An error would end the connection for good; a stream that is closed already is opened again, except by
   * a connection that was ended.
   */
  override async connect(...parameters: Parameters<SentinelConnector['connect']>) {
    try {
      const stream = await super.connect(...parameters)
      dropWhenSilent(stream)
      return stream
    } catch (error) {
      if (this.connecting) throw error
      // That of an earlier connect, which ioredis would report again.
      this.firstError = undefined
      return new Socket().destroy()
    }
  }
}

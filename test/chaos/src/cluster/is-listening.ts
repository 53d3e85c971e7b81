import { once } from 'node:events'
import { connect } from 'node:net'

const CONNECT_MS_MAX = 1_000

/** Whether a server accepts connections. */
export async function isListening(address: string, port: number): Promise<boolean> {
  const socket = connect({ host: address, port, timeout: CONNECT_MS_MAX })
  try {
    const opened = once(socket, 'connect').then(() => true)
    const late = once(socket, 'timeout').then(() => false)
    return await Promise.race([opened, late])
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

import { once } from 'node:events'
import { connect as connectSocket, type Socket } from 'node:net'
import { type Connections, connect, type ServerAddress, type Tx } from '../../connection/connection.js'
import { type Opening, watchOpening } from '../../connection/opening.js'
import { connectionLost, endsConnection } from '../../connection/postgres-errors.js'

/** Rows that a policy hides are an error, values are compared as texts, and a copy takes as long as it takes. */
const SETTINGS = `
  set local row_security = off; set local bytea_output = 'hex';
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;`

/**
 * Connections to one server for the statements of a move, which may take hours. As in the pool of a store, each is a driver
 * instance of its own, on which nothing is sent after its socket closed.
 */
export class MoveServer {
  readonly #url: string
  readonly #idle: Session[] = []
  readonly #busy = new Set<Session>()
  #isClosed = false

  constructor(url: string) {
    this.#url = url
  }

  /** Runs work on a connection that nothing else uses meanwhile. @throws RetryableError as soon as the connection breaks */
  async run<T>(work: (sql: Tx) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw connectionLost()
    const session = this.#idle.pop() ?? new Session(this.#url)
    this.#busy.add(session)
    try {
      return await session.use(work)
    } catch (error) {
      if (endsConnection(error)) session.isLost = true
      throw error
    } finally {
      this.#busy.delete(session)
      if (session.isLost) session.end()
      else this.#idle.push(session)
    }
  }

  /** Runs work in one transaction. */
  async begin<T>(work: (tx: Tx) => Promise<T>, { mode = 'read committed', settings = '' } = {}): Promise<T> {
    return await this.run(async (sql) => {
      try {
        await sql.unsafe(`begin isolation level ${mode}; ${SETTINGS} ${settings}`)
        const value = await work(sql)
        await sql`commit`
        return value
      } catch (error) {
        await sql`rollback`.catch(() => undefined)
        throw error
      }
    })
  }

  /** All statements see the database as of the first one. */
  async inSnapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return await this.begin(work, { mode: 'repeatable read read only' })
  }

  /** Runs work in a transaction whose writes the triggers of moves neither note nor refuse. */
  async asMove<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return await this.begin(work, { settings: "set local heddle.move = 'on'" })
  }

  /** Also ends work that is under way: that of a move whose lock was lost. */
  close(): void {
    this.#isClosed = true
    for (const session of [...this.#idle.splice(0), ...this.#busy]) session.end()
  }
}

class Session {
  isLost = false
  readonly #sql: Connections
  readonly #opening: Opening = watchOpening()
  #reserved: Promise<Connections> | undefined
  #onLost = () => {}

  constructor(url: string) {
    this.#sql = connect({
      url,
      applicationName: 'heddle move',
      socket: connectAtOnce,
      onOpen: this.#opening.opened,
      onClose: () => {
        this.isLost = true
        this.#onLost()
      },
    })
  }

  async use<T>(work: (sql: Tx) => Promise<T>): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      this.#onLost = () => reject(connectionLost())
      const working = this.#reserve().then((sql) => work(this.#guarded(sql)))
      this.#opening.within(working, () => (this.isLost = true)).then(resolve, reject)
    })
  }

  end(): void {
    this.isLost = true
    this.#onLost()
    void this.#sql.end({ timeout: 0 })
  }

  /** A connection must be open before it can be reserved. */
  #reserve(): Promise<Connections> {
    this.#reserved ??= this.#sql`select 1`.then(() => this.#sql.reserve())
    return this.#reserved
  }

  #guarded(sql: Connections): Tx {
    const check = () => {
      if (this.isLost) throw connectionLost()
    }
    return new Proxy(sql, {
      apply: (target, self, given) => {
        check()
        return Reflect.apply(target, self, given)
      },
      get: (target, key) => {
        if (key === 'unsafe') check()
        return Reflect.get(target, key)
      },
    })
  }
}

/**
 * The end of a COPY is a message of its own, right behind its rows: with Nagle's algorithm it would wait for their delayed
 * acknowledgement, 40 ms for each table of a round.
 */
async function connectAtOnce({ host, port, path }: ServerAddress): Promise<Socket> {
  if (path !== false) return await connected(connectSocket(path))
  let failure: unknown
  for (const [place, name] of host.entries()) {
    try {
      return await connected(connectSocket({ host: name, port: port[place] ?? port[0] ?? 5_432, noDelay: true }))
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

async function connected(socket: Socket): Promise<Socket> {
  await once(socket, 'connect')
  return socket
}

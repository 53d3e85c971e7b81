/** A request as the transport makes it. */
export interface Outgoing {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** What the transport needs of an answer. */
export interface Incoming {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

export type Send = (url: URL, outgoing: Outgoing) => Promise<Incoming>

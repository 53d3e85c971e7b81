import type { ProxiedRequest, ProxiedRequestView, ProxyStats } from '@heddle/contracts'
import type { Page, PageOptions } from './pages.js'

export interface ListProxiedRequestsOptions extends PageOptions {
  /** Only those of this thread. */
  readonly thread?: string | undefined
}

export interface GetProxiedRequestOptions extends PageOptions {
  /** Of the request. */
  readonly id: string
}

/** Requests to providers that the proxy relayed (docs/proxy.md). */
export interface ProxyClient {
  /** Newest first. */
  requests(options?: ListProxiedRequestsOptions): Promise<Page<ProxiedRequest>>
  /** One of them as it was received and as it was sent, a page of its entries at a time. */
  request(options: GetProxiedRequestOptions): Promise<ProxiedRequestView>
  /** Sums by mode and model, the most expensive first, in one page; and modes compared with unchanged conversations. */
  stats(): Promise<ProxyStats>
}

import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { logOut, type Session, SessionRefused } from '../data/client.js'
import { useLiveEvents } from '../data/live.js'
import { sessionQuery } from '../data/queries.js'
import { Empty } from '../parts/empty.js'
import { Failure } from '../parts/failure.js'
import { Loading } from '../parts/loading.js'
import { Login } from './login.js'
import { setTheme, type Theme, themes, useTheme } from './theme.js'

/** Asks for a key where the gateway requires one, and else shows the screen of the address. */
export function Shell() {
  const { data: session, error, isPending } = useQuery(sessionQuery)
  return (
    <>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      {session === undefined ? (
        <>
          <Header />
          <main id="main" tabIndex={-1}>
            {isPending ? <Loading what="the inspector" /> : null}
            {error instanceof SessionRefused && error.status === 401 ? <Login /> : null}
            {error && !(error instanceof SessionRefused && error.status === 401) ? <Failure error={error} /> : null}
          </main>
        </>
      ) : (
        <Signed session={session} />
      )}
    </>
  )
}

function Signed({ session }: { session: Session }) {
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new screen gets the focus, so that readers begin there.
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [pathname])
  const mayRead = session.permissions.includes('read')
  const [isSwitching, setSwitching] = useState(false)
  const navigate = useNavigate()
  // First to a screen that every project has: another project has no thread of this name.
  const stopSwitching = () => void navigate({ to: '/threads' }).then(() => setSwitching(false))
  return (
    <>
      <Header session={session} onSwitch={() => setSwitching(true)} />
      <main id="main" tabIndex={-1} ref={main}>
        {isSwitching ? (
          <Login isSwitch onDone={stopSwitching} />
        ) : mayRead ? (
          <Outlet />
        ) : (
          <Empty title="This key may not read">
            <p>
              A key of the role {session.role} only appends. Sign in with a key that can read; an admin creates one with{' '}
              <code>heddle keys create --name inspector --role read</code>
            </p>
          </Empty>
        )}
      </main>
    </>
  )
}

function Header({ session, onSwitch }: { session?: Session; onSwitch?: () => void }) {
  return (
    <header className="top">
      <Link to="/threads" className="brand">
        Heddle
      </Link>
      {session ? (
        <>
          <nav aria-label="Screens">
            <Link to="/threads" activeProps={{ 'aria-current': 'page' }}>
              Threads
            </Link>
            <Link to="/search" activeProps={{ 'aria-current': 'page' }}>
              Search
            </Link>
            <Link to="/agents" activeProps={{ 'aria-current': 'page' }}>
              Agents
            </Link>
            <Link to="/proxy" activeProps={{ 'aria-current': 'page' }}>
              Proxy
            </Link>
            <Link to="/pipeline" activeProps={{ 'aria-current': 'page' }}>
              Pipeline
            </Link>
          </nav>
          <p className="project">
            <span className="quiet">project</span> <bdi>{session.project}</bdi> <span className="quiet">as</span>{' '}
            {session.role}
          </p>
          {session.permissions.includes('read') ? <Live key={session.project} /> : null}
        </>
      ) : null}
      <ThemeChoice />
      {session?.isLoggedIn ? (
        <>
          <button type="button" onClick={onSwitch}>
            Switch project
          </button>
          <SignOut />
        </>
      ) : null}
    </header>
  )
}

function Live() {
  const isLive = useLiveEvents()
  return (
    <p className="live" data-live={isLive} role="status">
      {isLive ? 'Live' : 'Not live'}
    </p>
  )
}

function ThemeChoice() {
  const theme = useTheme()
  return (
    <label className="theme">
      <span>Theme</span>
      <select value={theme} onChange={({ target }) => setTheme(target.value as Theme)}>
        {themes.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  )
}

function SignOut() {
  return (
    <button
      type="button"
      onClick={async () => {
        await logOut()
        // Nothing of the former reader stays in memory.
        location.reload()
      }}
    >
      Sign out
    </button>
  )
}

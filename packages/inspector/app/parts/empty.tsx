import type { ReactNode } from 'react'

/** A screen without data says what to do next. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

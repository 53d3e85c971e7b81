import { Empty } from '../parts/empty.js'

/** How to ask. */
export function NotAsked() {
  return (
    <Empty title="Did the model see it?">
      <p>
        Give the words of a statement, such as <em>port of the test database</em>, or a figure or name in it. Each
        message of the thread with them is shown with its place in the context: verbatim, shorter, behind a summary, or
        not in it, and why.
      </p>
    </Empty>
  )
}

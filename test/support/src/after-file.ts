/** What is to be done when a test file has ended. */
type Task = () => Promise<void> | void

const tasks = new Set<Task>()

/**
 * Has a task done at the end of every test file. Files share their modules: a hook at the top of a module would be one of the
 * file alone that loads it first.
 */
export function afterEachFile(task: Task): void {
  tasks.add(task)
}

/** For the setup of tests. */
export async function endFile(): Promise<void> {
  await Promise.all([...tasks].map((task) => task()))
}
